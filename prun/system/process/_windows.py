"""Processes on Windows: handles for facts and waiting, a named job to hold a tree."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform == "win32"

import ctypes
import os
from functools import cache
from typing import TYPE_CHECKING

from prun.core.errors import LaunchError
from prun.core.identity import Hold, HoldKind, Identity, Life, Machine, Presence, Sighting, life
from prun.system.process import _winapi
from prun.system.process._contract import KILL_S, UNIT_VARIABLE, TargetError, cannot_run
from prun.system.process._job import Job, is_job_name
from prun.system.process._job_worker import WindowsWorker
from prun.system.process._suspended import create
from prun.system.process._winapi import kernel32

if TYPE_CHECKING:
    from prun.system.process._contract import Launch

_SYSTEM = 4  # the kernel's own pid; 0 is nobody's
_LARGEST_PID = 2**31 - 1
_NOT_RESUMED = 0xFFFF_FFFF


@cache
def this_machine() -> Machine:
    """Return the host; a start token here is a moment of all time, so no boot needs to be told apart."""
    return Machine(_winapi.computer_name(), None, None)


def sight(pid: int) -> Sighting:
    """Return a look at *pid*: start token the creation FILETIME; never raises, never signals."""
    machine = this_machine()
    if not 0 < pid <= _LARGEST_PID:
        return Sighting(machine, Presence.UNREADABLE)
    try:
        handle = _winapi.open_process(pid)
    except OSError as error:
        gone = error.winerror == _winapi.ERROR_INVALID_PARAMETER
        return Sighting(machine, Presence.ABSENT if gone else Presence.UNREADABLE)
    try:
        presence = Presence.ZOMBIE if _winapi.over(handle, 0.0) else Presence.RUNNING
        return Sighting(machine, presence, _winapi.created(handle))
    except OSError:
        return Sighting(machine, Presence.UNREADABLE)
    finally:
        _winapi.close(handle)


def become_subreaper() -> bool:
    """Return False: a job needs none."""
    return False


def launch(what: Launch) -> WindowsHeld:
    """Return the suspended process that will run *what*, in its job; raise ``LaunchError``."""
    try:
        job = Job.create()
    except OSError as error:
        raise cannot_run(what.argv[0], f"no job can be made: {error.strerror}") from None
    try:
        process, thread, pid = create(what)
    except LaunchError:
        job.close()
        raise
    except OSError as error:
        job.close()
        raise cannot_run(what.argv[0], error.strerror) from None
    try:
        job.add(process)
        identity = Identity(this_machine(), pid, _winapi.created(process))
    except OSError as error:
        kernel32.TerminateProcess(process, _winapi.KILLED)
        for handle in (process, thread):
            _winapi.close(handle)
        job.close()
        raise cannot_run(what.argv[0], f"it can't be put into a job: {error.strerror}") from None
    return WindowsHeld(what, identity, job, process, thread)


def adopt(identity: Identity, held: Hold, token: str) -> WindowsWorker:
    """Return a recorded worker whose dispatcher is dead; raise ``TargetError`` where it must be let be."""
    pid = identity.pid
    if pid <= _SYSTEM or held.kind is not HoldKind.JOB or not is_job_name(held.name) or not token:
        raise TargetError(
            f"cannot end pid {pid}, held as {held.kind} {held.name}: that is no worker's record"
        )
    if pid == os.getpid() or os.environ.get(UNIT_VARIABLE) == token:
        raise TargetError(f"cannot end pid {pid}: this process is, or is part of, what it names")
    alive = life(identity, sight(pid))
    if alive is Life.UNKNOWN or identity.start is None:
        raise TargetError(f"cannot end pid {pid}: nothing tells whether it is the recorded worker")
    job = Job.open(held.name or "")
    if job is not None and job.has_this_process():
        job.close()
        raise TargetError(f"cannot end pid {pid}: this process is part of its tree")
    process = _grasped(identity) if alive is Life.ALIVE else None
    return WindowsWorker(identity, job, process, token)


class WindowsHeld:
    """A suspended process in its job; both end with this process until it is started."""

    def __init__(self, what: Launch, identity: Identity, job: Job, process: int, thread: int) -> None:
        self._launch = what
        self._identity = identity
        self._job = job
        self._process = process
        self._thread = thread

    @property
    def identity(self) -> Identity:
        """Who the worker will be."""
        return self._identity

    @property
    def held(self) -> Hold:
        """The job's name."""
        return Hold(HoldKind.JOB, name=self._job.name)

    def start(self) -> WindowsWorker:
        """Let the program run, and outlive this process from now on."""
        try:
            if kernel32.ResumeThread(self._thread) == _NOT_RESUMED:
                raise ctypes.WinError(ctypes.get_last_error())
            self._job.outlive(self._process)
        except OSError as error:
            self.abandon()
            raise cannot_run(self._launch.argv[0], error.strerror) from None
        _winapi.close(self._thread)
        return WindowsWorker(self._identity, self._job, self._process, self._launch.token)

    def abandon(self) -> None:
        """End the process; its program never runs."""
        self._job.terminate()
        _winapi.over(self._process, KILL_S)
        self._job.close()
        _winapi.close(self._thread)
        _winapi.close(self._process)


def _grasped(identity: Identity) -> int | None:
    """Return a handle to the very process *identity*, ``None`` where it has gone."""
    try:
        handle = _winapi.open_process(identity.pid, _winapi.PROCESS_TERMINATE)
    except OSError as error:
        if error.winerror == _winapi.ERROR_INVALID_PARAMETER:
            return None
        raise TargetError(f"cannot end pid {identity.pid}: {error.strerror}") from None
    if _winapi.created(handle) == identity.start:
        return handle
    _winapi.close(handle)
    return None
