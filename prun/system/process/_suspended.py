"""Creating a Windows process that does not run yet and inherits its three streams and nothing else."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform == "win32"

import ctypes
import os
from contextlib import ExitStack
from ctypes import byref, c_size_t, sizeof
from ctypes.wintypes import HANDLE
from typing import TYPE_CHECKING

from prun.system.process import _winapi
from prun.system.process._cmdline import command_line, environment_block
from prun.system.process._contract import UNIT_VARIABLE, cannot_run
from prun.system.process._winapi import checked, kernel32

if TYPE_CHECKING:
    from prun.system.process._contract import Launch

_FLAGS = (
    _winapi.CREATE_SUSPENDED
    | _winapi.CREATE_UNICODE_ENVIRONMENT
    | _winapi.CREATE_NO_WINDOW
    | _winapi.EXTENDED_STARTUPINFO_PRESENT
)


def create(launch: Launch) -> tuple[int, int, int]:
    """Return the handles of a suspended process and its thread, and its pid; raise ``LaunchError``."""
    program = launch.argv[0]
    if not os.path.isabs(program) or not os.path.splitdrive(program)[0]:
        raise cannot_run(program, "the program's path must be absolute")
    application, line = command_line(launch.argv, _winapi.command_interpreter())
    block = environment_block(launch.env | {UNIT_VARIABLE: launch.token})
    if not os.path.isfile(program):
        raise cannot_run(program, "there is no such file")
    if not os.path.isdir(launch.cwd):
        raise cannot_run(program, f"its directory {launch.cwd} can't be entered: there is no such directory")
    made = _winapi.ProcessInformation()
    with ExitStack() as stack:
        startup = _startup(launch, stack)
        created = kernel32.CreateProcessW(
            application,
            ctypes.create_unicode_buffer(line),
            None,
            None,
            1,
            _FLAGS,
            ctypes.create_unicode_buffer(block),  # sized by ctypes: a character can take two places
            launch.cwd,
            byref(startup),
            byref(made),
        )
        number = ctypes.get_last_error()
    if not created:
        raise cannot_run(program, ctypes.FormatError(number).strip())
    return made.process, made.thread, made.pid


def _startup(launch: Launch, stack: ExitStack) -> _winapi.StartupInfoEx:
    """Return how the process starts: with these three streams, and no other handle of ours."""
    stdin = _opened(launch, launch.stdin, _winapi.GENERIC_READ, _winapi.OPEN_EXISTING, stack)
    stdout = _opened(launch, launch.stdout, _winapi.FILE_APPEND_ONLY, _winapi.OPEN_ALWAYS, stack)
    stderr = stdout
    if os.path.normcase(launch.stderr) != os.path.normcase(launch.stdout):
        stderr = _opened(launch, launch.stderr, _winapi.FILE_APPEND_ONLY, _winapi.OPEN_ALWAYS, stack)
    return _winapi.StartupInfoEx(
        size=sizeof(_winapi.StartupInfoEx),
        flags=_winapi.STARTF_USESTDHANDLES,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        attributes=_inheriting(sorted({stdin, stdout, stderr}), stack),
    )


def _opened(launch: Launch, path: str, access: int, disposition: int, stack: ExitStack) -> int:
    """Return an inheritable handle; one file has one handle, since each would have a position of its own."""
    try:
        handle = checked(
            kernel32.CreateFileW(
                path, access, _winapi.FILE_SHARE_ALL, byref(_winapi.inheritable()), disposition, 0, None
            )
        )
    except OSError as error:
        raise cannot_run(launch.argv[0], f"{path} can't be opened: {error.strerror}") from None
    stack.callback(_winapi.close, handle)
    return handle


def _inheriting(handles: list[int], stack: ExitStack) -> int:
    """Return the address of an attribute list that lets a child inherit only *handles*."""
    size = c_size_t()
    kernel32.InitializeProcThreadAttributeList(None, 1, 0, byref(size))
    attributes = ctypes.create_string_buffer(size.value)
    checked(kernel32.InitializeProcThreadAttributeList(attributes, 1, 0, byref(size)))
    stack.callback(kernel32.DeleteProcThreadAttributeList, attributes)
    listed = (HANDLE * len(handles))(*handles)
    stack.callback(lambda: listed)
    which = _winapi.PROC_THREAD_ATTRIBUTE_HANDLE_LIST
    checked(kernel32.UpdateProcThreadAttribute(attributes, 0, which, listed, sizeof(listed), None, None))
    return ctypes.addressof(attributes)
