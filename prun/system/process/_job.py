"""A named Windows job: what a worker's whole tree is in, for ever."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform == "win32"

import ctypes
import os
import re
from contextlib import suppress
from ctypes import byref, c_size_t, sizeof
from ctypes.wintypes import BOOL, DWORD

from prun.system.process import _winapi
from prun.system.process._winapi import checked, kernel32

_NAME = re.compile(r"prun-[0-9a-f]{32}")
_FIRST_ROOM = 64


def is_job_name(name: str | None) -> bool:
    """Return whether *name* is one that this module gives."""
    return name is not None and _NAME.fullmatch(name) is not None


class Job:
    """A job by its handle; its name lasts while somebody has a handle, so the worker is given one too."""

    def __init__(self, name: str, handle: int) -> None:
        self.name = name
        self._handle = handle

    @classmethod
    def create(cls) -> Job:
        """Return a new, empty job that ends with this process, until ``outlive``."""
        name = f"prun-{os.urandom(16).hex()}"
        job = cls(name, checked(kernel32.CreateJobObjectW(None, name)))
        job._end_with_us(_winapi.JOB_KILL_ON_CLOSE)
        return job

    @classmethod
    def open(cls, name: str) -> Job | None:
        """Return the job of that name, ``None`` where there is none any more."""
        with suppress(OSError):
            return cls(name, checked(kernel32.OpenJobObjectW(_winapi.JOB_QUERY_AND_TERMINATE, 0, name)))
        return None

    def add(self, process: int) -> None:
        """Put a process, and so all it will start, into the job."""
        checked(kernel32.AssignProcessToJobObject(self._handle, process))

    def outlive(self, process: int) -> None:
        """Let the job outlive this process, and give its member *process* a handle, which keeps the name."""
        self._end_with_us(0)
        here = kernel32.GetCurrentProcess()
        kernel32.DuplicateHandle(
            here, self._handle, process, byref(ctypes.c_void_p()), 0, 0, _winapi.DUPLICATE_SAME_ACCESS
        )

    def has_this_process(self) -> bool:
        """Return whether the calling process is in the job."""
        inside = BOOL()
        checked(kernel32.IsProcessInJob(kernel32.GetCurrentProcess(), self._handle, byref(inside)))
        return bool(inside.value)

    def pids(self) -> list[int]:
        """Return the pids of the living members."""
        room = _FIRST_ROOM
        while True:
            listing = (c_size_t * (room + 2))()  # two DWORDs, then pointer-sized pids
            size = sizeof(DWORD) * 2 + sizeof(c_size_t) * room
            told = kernel32.QueryInformationJobObject(
                self._handle, _winapi.JOB_PIDS, byref(listing), size, None
            )
            assigned, listed = (DWORD * 2).from_buffer(listing)
            if told and listed >= assigned:
                first = sizeof(DWORD) * 2
                return list((c_size_t * listed).from_buffer(listing, first))
            if room > max(assigned, _FIRST_ROOM) * 4:
                raise ctypes.WinError(ctypes.get_last_error())
            room *= 2

    def is_empty(self) -> bool:
        """Return whether the system counts no living member."""
        accounting = _winapi.JobAccounting()
        checked(
            kernel32.QueryInformationJobObject(
                self._handle, _winapi.JOB_ACCOUNTING, byref(accounting), sizeof(accounting), None
            )
        )
        return bool(accounting.active == 0)

    def terminate(self) -> None:
        """End every member at once."""
        kernel32.TerminateJobObject(self._handle, _winapi.KILLED)

    def close(self) -> None:
        """Give up the handle."""
        _winapi.close(self._handle)

    def _end_with_us(self, flags: int) -> None:
        limits = _winapi.JobLimits(flags=flags)
        checked(
            kernel32.SetInformationJobObject(self._handle, _winapi.JOB_LIMITS, byref(limits), sizeof(limits))
        )
