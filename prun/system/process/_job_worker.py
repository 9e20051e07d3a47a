"""A started Windows worker and the job its tree is in, until its end."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform == "win32"

import os
from contextlib import suppress
from ntpath import basename
from typing import TYPE_CHECKING

from prun.core.outcome import TreeState
from prun.core.values import dataclass
from prun.system.process import _winapi
from prun.system.process._contract import KILL_S, SETTLE_S, UNIT_VARIABLE, Ended, TreeEnd, label
from prun.system.process._winapi import kernel32

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prun.core.identity import Identity
    from prun.system.clock import Clock
    from prun.system.process._job import Job

_KILL_ROUNDS = 25
_DEATH_S = 1.0
_PAUSE_S = 0.02
_CONSOLE_HOST = "conhost.exe"  # the system's own, in the job too; it goes with its last client


@dataclass(frozen=True, slots=True)
class _Member:
    """A process of the tree other than the worker; *handle* is ``None`` where access is denied."""

    pid: int
    handle: int | None
    name: str

    def gone(self, timeout_s: float) -> bool:
        return self.handle is not None and _winapi.over(self.handle, timeout_s)

    def end(self) -> None:
        if self.handle is not None:
            kernel32.TerminateProcess(self.handle, _winapi.KILLED)

    def close(self) -> None:
        if self.handle is not None:
            _winapi.close(self.handle)


class WindowsWorker:
    """A started worker and the job its tree is in; an adopted one may have lost either."""

    def __init__(self, identity: Identity, job: Job | None, process: int | None, token: str) -> None:
        self._identity = identity
        self._job = job
        self._process = process
        self._token = token
        self._end: TreeEnd | None = None
        self._ended = Ended() if process is None else None

    @property
    def identity(self) -> Identity:
        """Who the worker is."""
        return self._identity

    def wait(self, timeout_s: float) -> Ended | None:
        """Return how the worker ended, or ``None`` after *timeout_s*."""
        if self._ended is None and self._process is not None and _winapi.over(self._process, timeout_s):
            self._ended = Ended(code=_winapi.exit_code(self._process))
        return self._ended

    def collect(self) -> None:
        """Do nothing: the job knows its members."""

    def end(self, grace_s: float, clock: Clock) -> TreeEnd:
        """End the whole tree and prove it gone; nothing here can be asked to end, so no grace passes."""
        del grace_s
        if self._end is not None:
            return self._end
        first = self.wait(0.0)
        left = self._settled() if first is not None else ()
        survivors = self._kill(clock) if first is None or left else ()
        clean = TreeState.LEFTOVERS if left else TreeState.GONE
        state = TreeState.NOT_PROVED if survivors else clean
        return self._finish(TreeEnd(self.wait(0.0), state, survivors, left))

    def leave(self) -> TreeEnd:
        """Let go of a worker that has exited by itself; what it left behind is named."""
        if self._end is not None:
            return self._end
        ended = self.wait(0.0)
        if ended is None:
            return TreeEnd(None, TreeState.NOT_PROVED, survivors=(label("worker", self._identity.pid),))
        left = self._settled()
        return self._finish(TreeEnd(ended, TreeState.LEFTOVERS if left else TreeState.GONE, leftovers=left))

    def _finish(self, end: TreeEnd) -> TreeEnd:
        self._end = end
        if self._job is not None:
            self._job.close()
        if self._process is not None:
            _winapi.close(self._process)
        return end

    def _members(self) -> list[_Member]:
        """Return the living members other than the worker, each held by a handle."""
        pids = self._job.pids() if self._job is not None else _carriers(self._token)
        members = [_member(pid) for pid in pids if pid != self._identity.pid]
        return [member for member in members if member is not None]

    def _settled(self) -> tuple[str, ...]:
        """Return what outlives the worker, less what was only a moment behind it."""
        rest_s = SETTLE_S
        left = []
        for member in self._members():
            if member.name != _CONSOLE_HOST and not member.gone(rest_s):
                left.append(label(member.name, member.pid))
                rest_s = 0.0
            member.close()
        return tuple(left)

    def _kill(self, clock: Clock) -> tuple[str, ...]:
        """End everything until nothing is left; return what can't be proved gone."""
        deadline_s = clock.monotonic() + KILL_S
        for _ in range(_KILL_ROUNDS):
            members = self._members()
            self._terminate(members)
            over = self.wait(_DEATH_S) is not None
            for member in members:
                over = member.gone(_DEATH_S if over else 0.0) and over
                member.close()
            if over and self._is_empty():
                return ()
            if clock.monotonic() >= deadline_s:
                break
            clock.sleep(_PAUSE_S)
        members = self._members()
        left = tuple(label(member.name, member.pid) for member in members)
        for member in members:
            member.close()
        return left if self.wait(0.0) is not None else (label("worker", self._identity.pid), *left)

    def _terminate(self, members: list[_Member]) -> None:
        if self._job is not None:
            self._job.terminate()
            return
        if self._process is not None:
            kernel32.TerminateProcess(self._process, _winapi.KILLED)
        for member in members:
            member.end()

    def _is_empty(self) -> bool:
        return self._job.is_empty() if self._job is not None else not any(_carriers(self._token))


def _member(pid: int) -> _Member | None:
    """Return a living process by its pid, ``None`` where it has gone."""
    try:
        handle = _winapi.open_process(pid, _winapi.PROCESS_TERMINATE)
    except OSError as error:
        gone = error.winerror == _winapi.ERROR_INVALID_PARAMETER
        return None if gone else _Member(pid, None, "")
    if _winapi.over(handle, 0.0):
        _winapi.close(handle)
        return None
    return _Member(pid, handle, basename(_winapi.image(handle)))


def _carriers(token: str) -> Iterator[int]:
    """Yield the pids whose environment carries *token*: all that is left to go by without the job."""
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(UNIT_VARIABLE) == token:
                yield process.pid
