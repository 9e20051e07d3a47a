"""The part of the Windows API that process code needs, declared for ctypes."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform == "win32"

import ctypes
from ctypes import POINTER, Structure, byref, c_int64, c_size_t, c_uint64, c_void_p, sizeof
from ctypes.wintypes import BOOL, BYTE, DWORD, HANDLE, LPCWSTR, LPWSTR, WORD
from typing import Any

ERROR_ACCESS_DENIED = 5
ERROR_INVALID_PARAMETER = 87
PROCESS_TERMINATE = 0x0001
PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
SYNCHRONIZE = 0x0010_0000
JOB_QUERY_AND_TERMINATE = 0xC
CREATE_SUSPENDED = 0x0000_0004
CREATE_UNICODE_ENVIRONMENT = 0x0000_0400
EXTENDED_STARTUPINFO_PRESENT = 0x0008_0000
CREATE_NO_WINDOW = 0x0800_0000
STARTF_USESTDHANDLES = 0x0000_0100
PROC_THREAD_ATTRIBUTE_HANDLE_LIST = 0x0002_0002
GENERIC_READ = 0x8000_0000
FILE_APPEND_ONLY = 0x0012_0194  # FILE_GENERIC_WRITE less FILE_WRITE_DATA, and FILE_READ_ATTRIBUTES
FILE_SHARE_ALL = 0x7
OPEN_EXISTING, OPEN_ALWAYS = 3, 4
INVALID_HANDLE = c_void_p(-1).value
JOB_ACCOUNTING, JOB_PIDS, JOB_LIMITS = 1, 3, 9
JOB_KILL_ON_CLOSE = 0x2000
DUPLICATE_SAME_ACCESS = 0x2
COMPUTER_NAME_DNS_HOSTNAME = 5
KILLED = 1  # the exit code of what prun terminates
_LONGEST_WAIT_MS = 0x7FFF_FFFF
_WAIT_OBJECT_0 = 0
_LONG_PATH = 32_768


class SecurityAttributes(Structure):
    """SECURITY_ATTRIBUTES."""

    _fields_ = (("length", DWORD), ("descriptor", c_void_p), ("inherit", BOOL))


class StartupInfoEx(Structure):
    """STARTUPINFOEXW, its STARTUPINFOW written out."""

    _fields_ = (
        ("size", DWORD),
        ("reserved", LPWSTR),
        ("desktop", LPWSTR),
        ("title", LPWSTR),
        ("window", DWORD * 7),
        ("flags", DWORD),
        ("show_window", WORD),
        ("reserved2_bytes", WORD),
        ("reserved2", POINTER(BYTE)),
        ("stdin", HANDLE),
        ("stdout", HANDLE),
        ("stderr", HANDLE),
        ("attributes", c_void_p),
    )


class ProcessInformation(Structure):
    """PROCESS_INFORMATION."""

    _fields_ = (("process", HANDLE), ("thread", HANDLE), ("pid", DWORD), ("tid", DWORD))


class JobLimits(Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("user_times", c_int64 * 2),
        ("flags", DWORD),
        ("working_set", c_size_t * 2),
        ("active_limit", DWORD),
        ("affinity", c_size_t),
        ("priority", DWORD),
        ("scheduling", DWORD),
        ("io", c_uint64 * 6),
        ("memory", c_size_t * 4),
    )


class JobAccounting(Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION."""

    _fields_ = (
        ("times", c_int64 * 4),
        ("page_faults", DWORD),
        ("total", DWORD),
        ("active", DWORD),
        ("terminated", DWORD),
    )


kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)


def _declare(name: str, result: Any, *arguments: Any) -> None:
    function = getattr(kernel32, name)
    function.restype, function.argtypes = result, arguments


for _name, _result, *_arguments in (
    ("AssignProcessToJobObject", BOOL, HANDLE, HANDLE),
    ("CloseHandle", BOOL, HANDLE),
    ("CreateFileW", HANDLE, LPCWSTR, DWORD, DWORD, c_void_p, DWORD, DWORD, HANDLE),
    ("CreateJobObjectW", HANDLE, c_void_p, LPCWSTR),
    (
        *("CreateProcessW", BOOL, LPCWSTR, LPWSTR, c_void_p, c_void_p, BOOL),
        *(DWORD, c_void_p, LPCWSTR, c_void_p, c_void_p),
    ),
    ("DeleteProcThreadAttributeList", None, c_void_p),
    ("DuplicateHandle", BOOL, HANDLE, HANDLE, HANDLE, c_void_p, DWORD, BOOL, DWORD),
    ("GetComputerNameExW", BOOL, DWORD, LPWSTR, POINTER(DWORD)),
    ("GetCurrentProcess", HANDLE),
    ("GetExitCodeProcess", BOOL, HANDLE, POINTER(DWORD)),
    ("GetProcessId", DWORD, HANDLE),
    ("GetProcessTimes", BOOL, HANDLE, c_void_p, c_void_p, c_void_p, c_void_p),
    ("GetSystemDirectoryW", DWORD, LPWSTR, DWORD),
    ("InitializeProcThreadAttributeList", BOOL, c_void_p, DWORD, DWORD, POINTER(c_size_t)),
    ("IsProcessInJob", BOOL, HANDLE, HANDLE, POINTER(BOOL)),
    ("OpenJobObjectW", HANDLE, DWORD, BOOL, LPCWSTR),
    ("OpenProcess", HANDLE, DWORD, BOOL, DWORD),
    ("QueryFullProcessImageNameW", BOOL, HANDLE, DWORD, LPWSTR, POINTER(DWORD)),
    ("QueryInformationJobObject", BOOL, HANDLE, DWORD, c_void_p, DWORD, c_void_p),
    ("ResumeThread", DWORD, HANDLE),
    ("SetInformationJobObject", BOOL, HANDLE, DWORD, c_void_p, DWORD),
    ("TerminateJobObject", BOOL, HANDLE, DWORD),
    ("TerminateProcess", BOOL, HANDLE, DWORD),
    ("UpdateProcThreadAttribute", BOOL, c_void_p, DWORD, c_size_t, c_void_p, c_size_t, c_void_p, c_void_p),
    ("WaitForSingleObject", DWORD, HANDLE, DWORD),
):
    _declare(_name, _result, *_arguments)


def checked(result: Any) -> int:
    """Return *result*; raise the ``OSError`` of the last call where it says that it failed."""
    if not result or result == INVALID_HANDLE:
        raise ctypes.WinError(ctypes.get_last_error())
    return int(result)


def open_process(pid: int, access: int = 0) -> int:
    """Return a handle to *pid* that tells of it and can be waited for; raise ``OSError``."""
    wanted = PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE | access
    handle = checked(kernel32.OpenProcess(wanted, False, pid))  # noqa: FBT003 - positional by nature
    if kernel32.GetProcessId(handle) != pid:  # the system rounds a pid that can't be one
        close(handle)
        raise ctypes.WinError(ERROR_INVALID_PARAMETER)
    return handle


def close(handle: int) -> None:
    """Give a handle back."""
    kernel32.CloseHandle(handle)


def created(process: int) -> str:
    """Return when a process was created: a FILETIME, in tenths of microseconds, the same for ever."""
    times = (c_uint64 * 4)()
    at = ctypes.addressof(times)
    checked(kernel32.GetProcessTimes(process, *(at + 8 * field for field in range(4))))
    return str(times[0])


def over(handle: int, timeout_s: float) -> bool:
    """Return whether the process of a handle has ended, waiting up to *timeout_s* for it."""
    wait_ms = int(max(0.0, min(timeout_s * 1000, _LONGEST_WAIT_MS)))
    return bool(kernel32.WaitForSingleObject(handle, wait_ms) == _WAIT_OBJECT_0)


def exit_code(process: int) -> int:
    """Return the code of a process that has ended."""
    code = DWORD()
    checked(kernel32.GetExitCodeProcess(process, byref(code)))
    return code.value


def image(process: int) -> str:
    """Return the path of a process's program, empty where it can't be told."""
    size = DWORD(_LONG_PATH)
    buffer = ctypes.create_unicode_buffer(_LONG_PATH)
    told = kernel32.QueryFullProcessImageNameW(process, 0, buffer, byref(size))
    return buffer.value if told else ""


def inheritable() -> SecurityAttributes:
    """Return the attributes of a handle that a child may inherit."""
    return SecurityAttributes(sizeof(SecurityAttributes), None, True)  # noqa: FBT003 - a C structure


def computer_name() -> str:
    """Return this computer's host name."""
    size = DWORD(_LONG_PATH)
    buffer = ctypes.create_unicode_buffer(_LONG_PATH)
    checked(kernel32.GetComputerNameExW(COMPUTER_NAME_DNS_HOSTNAME, buffer, byref(size)))
    return buffer.value


def command_interpreter() -> str:
    """Return the path of the system's own cmd.exe."""
    buffer = ctypes.create_unicode_buffer(_LONG_PATH)
    checked(kernel32.GetSystemDirectoryW(buffer, _LONG_PATH))
    return buffer.value + "\\cmd.exe"
