"""Processes on macOS: sysctl for facts, kqueue for waiting."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform == "darwin"

import ctypes
import errno
import os
import select
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from prun.core.identity import Hold, Identity, Machine, Presence, Sighting
from prun.system.process import _posix
from prun.system.process._census import Census, census
from prun.system.process._contract import UNIT_VARIABLE, Ended, Launch
from prun.system.process._kin import Process, Root, carries, is_same, kin
from prun.system.process._kinfo import parse_arguments, parse_kinfo, parse_wait_status
from prun.system.process._watch import LookingWatch

if TYPE_CHECKING:
    from collections.abc import Iterator

_CTL_KERN, _KERN_PROC, _KERN_PROCARGS2 = 1, 14, 49
_KERN_PROC_ALL, _KERN_PROC_PID = 0, 1
_NOTE_EXITSTATUS = 0x04000000  # sys/event.h; the select module has no name for it
_ARGUMENTS_BYTES = 1 << 20
_SLACK_BYTES = 1 << 16
_LARGEST_PID = 2**31 - 1
_LONGEST_WAIT_S = 2_000_000.0
_libc = ctypes.CDLL(None, use_errno=True)


@cache
def this_machine() -> Machine:
    """Return the host and the boot session's UUID; macOS has no pid namespaces."""
    size = ctypes.c_size_t(64)
    buffer = ctypes.create_string_buffer(size.value)
    failed = _libc.sysctlbyname(b"kern.bootsessionuuid", buffer, ctypes.byref(size), None, ctypes.c_size_t(0))
    return Machine(os.uname().nodename, None if failed else buffer.value.decode("ascii"), None)


def sight(pid: int) -> Sighting:
    """Return a look at *pid*: start token in seconds and microseconds; never raises, never signals."""
    machine = this_machine()
    if not 0 < pid <= _LARGEST_PID:
        return Sighting(machine, Presence.UNREADABLE)
    row = _row(pid)
    if row is not None:
        return Sighting(machine, Presence.ZOMBIE if row.zombie else Presence.RUNNING, row.start)
    return Sighting(machine, Presence.UNREADABLE if _exists(pid) else Presence.ABSENT)


def launch(what: Launch) -> _posix.PosixHeld:
    """Return the child that will run *what*, its identity known, its program not started."""
    return _posix.hold(_MacOS(), what)


def adopt(identity: Identity, held: Hold, token: str) -> _posix.PosixWorker:
    """Return a recorded worker whose dispatcher is dead."""
    return _posix.adopt(_MacOS(), identity, held, token)


def become_subreaper() -> bool:
    """Return False: macOS gives every orphan to launchd."""
    return False


class _MacOS:
    """macOS's own means, as the shared code asks for them."""

    def sight(self, pid: int) -> Sighting:
        return sight(pid)

    def parent(self, pid: int) -> int:
        row = _row(pid)
        return row.parent if row is not None else 0

    def watch_child(self, pid: int) -> _posix.Watch:
        try:
            return _KqueueWatch(pid, own=True)
        except ProcessLookupError:
            return LookingWatch(lambda: True)

    def watch_other(self, process: Process) -> _posix.Watch:
        try:
            watch = _KqueueWatch(process.pid, own=False)
        except ProcessLookupError:
            return LookingWatch(lambda: True)
        except OSError:
            return LookingWatch(lambda: not _is_there(process))
        if _is_there(process):
            return watch
        watch.close()
        return LookingWatch(lambda: True)

    def relatives(self, root: Root, token: str) -> _Relatives:
        barred = {os.getpid(), *_posix.ancestors(self, os.getpid())} - {root.pid}
        return _Relatives(root, token, frozenset(barred))


class _KqueueWatch:
    """The end of one process, noted by the kernel from the moment this is made."""

    def __init__(self, pid: int, *, own: bool) -> None:
        self._own = own
        self._queue = select.kqueue()
        event = select.kevent(
            pid,
            filter=select.KQ_FILTER_PROC,
            flags=select.KQ_EV_ADD | select.KQ_EV_ONESHOT,
            fflags=select.KQ_NOTE_EXIT | (_NOTE_EXITSTATUS if own else 0),
        )
        try:
            self._queue.control([event], 0)
        except OSError:
            self._queue.close()
            raise

    def wait(self, timeout_s: float) -> Ended | None:
        events = self._queue.control(None, 1, max(0.0, min(timeout_s, _LONGEST_WAIT_S)))
        if not events:
            return None
        return parse_wait_status(events[0].data) if self._own else Ended()

    def close(self) -> None:
        self._queue.close()


class _Relatives:
    """The members of one tree on this system."""

    def __init__(self, root: Root, token: str, barred: frozenset[int]) -> None:
        self._root = root
        self._token = token
        self._barred = barred

    def look(self, known: list[Process], *, thorough: bool) -> list[Process]:
        seen = census(self) if thorough else Census(list(_all_rows()), set())
        return kin(seen.rows, self._root, known, seen.carriers, self._barred)

    def send(self, member: Process, number: int) -> None:
        if member.pid not in self._barred and member.pid > 1 and _is_there(member):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, number)

    def gone(self, member: Process, timeout_s: float) -> bool:
        watch = _MacOS().watch_other(member)
        try:
            return watch.wait(timeout_s) is not None
        finally:
            watch.close()

    def doubtful(self) -> list[Process]:
        return []

    def part(self) -> bool:
        return False

    def bury(self, member: Process) -> None:
        """No orphan becomes this process's child."""

    def pids(self) -> list[int]:
        return [row.pid for row in _all_rows()]

    def row(self, pid: int) -> Process | None:
        return _row(pid)

    def concerns(self, process: Process) -> bool:
        return process.pid not in self._barred

    def carries(self, pid: int) -> bool:
        environ = parse_arguments(_sysctl(_CTL_KERN, _KERN_PROCARGS2, pid, room=_ARGUMENTS_BYTES))
        return carries(environ, UNIT_VARIABLE, self._token)


def _sysctl(*name: int, room: int | None = None) -> bytes:
    """Return the kernel's answer, empty where it has none; *room* is found out where it is not given."""
    mib = (ctypes.c_int * len(name))(*name)
    size = ctypes.c_size_t(0)
    while True:
        if room is None:
            if _libc.sysctl(mib, len(name), None, ctypes.byref(size), None, ctypes.c_size_t(0)):
                return b""
            size.value += _SLACK_BYTES
        else:
            size.value = room
        buffer = ctypes.create_string_buffer(size.value)
        if not _libc.sysctl(mib, len(name), buffer, ctypes.byref(size), None, ctypes.c_size_t(0)):
            return buffer.raw[: size.value]
        if room is not None or ctypes.get_errno() != errno.ENOMEM:
            return b""


def _all_rows() -> Iterator[Process]:
    return parse_kinfo(_sysctl(_CTL_KERN, _KERN_PROC, _KERN_PROC_ALL), _session)


def _row(pid: int) -> Process | None:
    rows = parse_kinfo(_sysctl(_CTL_KERN, _KERN_PROC, _KERN_PROC_PID, pid), _session)
    return next((row for row in rows if row.pid == pid), None)


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _exists(pid: int) -> bool:
    """Return whether the kernel knows *pid*; signal 0 is a question, no signal."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_there(process: Process) -> bool:
    row = _row(process.pid)
    return row is not None and not row.zombie and is_same(row, process.pid, process.start)
