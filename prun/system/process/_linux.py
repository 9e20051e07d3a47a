"""Processes on Linux: /proc for facts, pidfds for waiting and for signals that can't go astray."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform == "linux"

import errno
import os
import select
import signal
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING

from prun.core.identity import Machine, Presence, Sighting
from prun.system.process import _posix, _procfs
from prun.system.process._census import Census, census
from prun.system.process._contract import UNIT_VARIABLE, Ended
from prun.system.process._household import HOUSEHOLD
from prun.system.process._kin import Process, Root, carries, is_same, kin, relations
from prun.system.process._watch import LookingWatch, ThreadWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from ctypes import CDLL

    from prun.core.identity import Hold, Identity
    from prun.system.process._contract import Launch

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_LARGEST_PID = 2**31 - 1
_LONGEST_POLL_S = 2_000_000.0


@cache
def this_machine() -> Machine:
    """Return the host, the boot's id and the number of this pid namespace."""
    boot = namespace = None
    if _procfs.is_ours():
        with suppress(OSError):
            boot = _procfs.read("/proc/sys/kernel/random/boot_id").decode("ascii").strip()
        with suppress(OSError):
            namespace = os.readlink("/proc/self/ns/pid").removeprefix("pid:").strip("[]")
    return Machine(os.uname().nodename, boot, namespace)


def sight(pid: int) -> Sighting:
    """Return a look at *pid*: start token in clock ticks since boot; never raises, never signals."""
    machine = this_machine()
    if not 0 < pid <= _LARGEST_PID:
        return Sighting(machine, Presence.UNREADABLE)
    row = _procfs.row(pid) if _procfs.is_ours() else None
    if row is not None:
        return Sighting(machine, Presence.ZOMBIE if row.zombie else Presence.RUNNING, row.start)
    return Sighting(machine, Presence.UNREADABLE if _exists(pid) else Presence.ABSENT)


def launch(what: Launch) -> _posix.PosixHeld:
    """Return the child that will run *what*, its identity known, its program not started."""
    return _posix.hold(_Linux(), what)


def adopt(identity: Identity, held: Hold, token: str) -> _posix.PosixWorker:
    """Return a recorded worker whose dispatcher is dead."""
    return _posix.adopt(_Linux(), identity, held, token)


@cache
def _libc() -> CDLL:
    from ctypes import CDLL

    return CDLL(None)


def become_subreaper() -> bool:
    """Make orphans among this process's descendants its children; return whether the kernel agreed."""
    with suppress(OSError, AttributeError):
        return bool(_libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    return False


def _is_subreaper() -> bool:
    """Return whether orphans become this process's children: only then is an unknown child one."""
    import ctypes

    answer = ctypes.c_int(0)
    with suppress(OSError, AttributeError):
        _libc().prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


class _Linux:
    """Linux's own means, as the shared code asks for them."""

    def sight(self, pid: int) -> Sighting:
        return sight(pid)

    def parent(self, pid: int) -> int:
        row = _procfs.row(pid)
        return row.parent if row is not None else 0

    def watch_child(self, pid: int) -> _posix.Watch:
        fd = _pidfd(pid)
        if fd is None:
            return ThreadWatch(lambda: peek(pid, block=True))
        return _PidfdWatch(fd, lambda: peek(pid))

    def watch_other(self, process: Process) -> _posix.Watch:
        try:
            fd = _pidfd(process.pid)
        except ProcessLookupError:
            return LookingWatch(lambda: True)
        if fd is not None and _is_there(process):
            return _PidfdWatch(fd, Ended)
        if fd is not None:
            os.close(fd)
        return LookingWatch(lambda: not _is_there(process))

    def relatives(self, root: Root, token: str) -> _Relatives:
        barred = {os.getpid(), *_posix.ancestors(self, os.getpid())} - {root.pid}
        return _Relatives(root, token, frozenset(barred))


class _PidfdWatch:
    """The end of one process, seen through its pidfd; *learn* then tells how it ended."""

    def __init__(self, fd: int, learn: Callable[[], Ended]) -> None:
        self._fd = fd
        self._learn = learn

    def wait(self, timeout_s: float) -> Ended | None:
        return self._learn() if _readable(self._fd, timeout_s) else None

    def close(self) -> None:
        os.close(self._fd)


class _Relatives:
    """The members of one tree on this system."""

    def __init__(self, root: Root, token: str, barred: frozenset[int]) -> None:
        self._root = root
        self._token = token
        self._barred = barred
        self._branch = HOUSEHOLD.branch(root.pid) if root.owned else None
        self._doubtful: list[Process] = []

    def look(self, known: list[Process], *, thorough: bool) -> list[Process]:
        seen = None if thorough else self._near(known)
        if seen is None:
            seen = self._everybody()
        found = kin(seen.rows, self._root, known, seen.carriers, self._barred)
        if self._branch is not None:
            HOUSEHOLD.note(self._branch, found)
        shown = {row.pid for row in seen.rows}
        return found + [one for one in known if one.pid not in shown and _is_hidden(one.pid)]

    def doubtful(self) -> list[Process]:
        return self._doubtful

    def part(self) -> bool:
        return self._branch is not None and HOUSEHOLD.close(self._branch)

    def send(self, member: Process, number: int) -> None:
        if member.pid in self._barred or member.pid <= 1:
            return
        with suppress(ProcessLookupError, PermissionError), _grasped(member.pid) as fd:
            if not _is_there(member):
                return
            if fd is None:
                os.kill(member.pid, number)
            else:
                signal.pidfd_send_signal(fd, number)

    def gone(self, member: Process, timeout_s: float) -> bool:
        try:
            with _grasped(member.pid) as fd:
                if not _may_live(member):
                    return True
                if fd is not None:
                    return _readable(fd, timeout_s)
                return LookingWatch(lambda: not _may_live(member)).wait(timeout_s) is not None
        except ProcessLookupError:
            return True

    def bury(self, member: Process) -> None:
        HOUSEHOLD.bury(member)

    def pids(self) -> list[int]:
        return _procfs.pids()

    def row(self, pid: int) -> Process | None:
        return _procfs.row(pid)

    def concerns(self, process: Process) -> bool:
        return int(process.start) >= int(self._root.start)

    def carries(self, pid: int) -> bool:
        return carries(_procfs.environ(pid), UNIT_VARIABLE, self._token)

    def _everybody(self) -> Census:
        """Return a census with the orphans in it, and remember who is doubtful."""
        taken = census(self)
        here = os.getpid()
        mine, doubtful = self._orphans(row for row in taken.rows if row.parent == here)
        rows = mine | {row.pid: row for row in taken.rows}  # who was seen to live counts as living
        shared = relations((doubtful | rows).values(), doubtful)
        self._doubtful = [one for one in shared if not one.zombie]
        return Census(list(rows.values()), taken.carriers | set(mine))

    def _near(self, known: list[Process]) -> Census | None:
        """Return the tree as found from parent to child; ``None`` where the kernel lists no children."""
        if _procfs.children(os.getpid()) is None:
            return None
        orphans, _ = self._orphans()
        pending = [self._root.pid, *(one.pid for one in known if one.pid not in orphans), *orphans]
        seen = set(pending)
        rows = []
        while pending:
            pid = pending.pop()
            row = orphans.get(pid) or _procfs.row(pid)
            if row is not None:
                rows.append(row)
                below = [child for child in _procfs.children(pid) or () if child not in seen]
                seen.update(below)
                pending += below
        return Census(rows, set(orphans))

    def _orphans(self, seen: Iterable[Process] = ()) -> tuple[dict[int, Process], dict[int, Process]]:
        """Return this process's orphans, *seen* or listed: this tree's, and those it can't tell whose."""
        if self._branch is None or not _is_subreaper():
            return {}, {}
        return HOUSEHOLD.divide(self._branch, seen)


def peek(pid: int, *, block: bool = False) -> Ended:
    """Return how a child ended, without reaping it; neither code nor signal where it is no child of ours."""
    try:
        info = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | (0 if block else os.WNOHANG))
    except ChildProcessError:
        return Ended()
    if info is None:
        return Ended()
    exited = info.si_code == os.CLD_EXITED
    return Ended(code=info.si_status) if exited else Ended(signal=info.si_status)


def _pidfd(pid: int) -> int | None:
    """Return a pidfd, ``None`` where the system gives none; raise ``ProcessLookupError``."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except (OSError, AttributeError) as error:
        if getattr(error, "errno", None) in (errno.EINVAL, errno.ENOENT):  # a thread's number, no process's
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH)) from None
        return None


def _exists(pid: int) -> bool:
    """Return whether the kernel knows *pid*; signal 0 is a question, no signal."""
    try:
        fd = _pidfd(pid)
        if fd is None:
            os.kill(pid, 0)
        else:
            os.close(fd)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_hidden(pid: int) -> bool:
    """Return whether *pid* exists though /proc does not show it, as ``hidepid`` does with other users'."""
    return _exists(pid) and _procfs.row(pid) is None


def _is_there(process: Process) -> bool:
    """Return whether *process* is seen, alive and the same."""
    row = _procfs.row(process.pid)
    return row is not None and not row.zombie and is_same(row, process.pid, process.start)


def _may_live(process: Process) -> bool:
    """Return whether *process* is not proved dead: not being shown is no proof."""
    return _is_there(process) or _is_hidden(process.pid)


@contextmanager
def _grasped(pid: int) -> Iterator[int | None]:
    """Yield a pidfd, so that *pid* can't come to mean another process; ``None`` where there are none."""
    fd = _pidfd(pid)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _readable(fd: int, timeout_s: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, min(timeout_s, _LONGEST_POLL_S)) * 1000))
