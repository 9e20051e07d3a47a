"""What Linux, macOS and Windows do differently, chosen here and nowhere else."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_T = TypeVar("_T")
WINDOWS = sys.platform == "win32"

if sys.platform == "win32":
    import msvcrt

    def lock(descriptor: int, *, wait: bool) -> bool:
        """Return whether the open file is now locked for this process; with *wait*, block until it is."""
        while True:
            os.lseek(descriptor, 0, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True

    def unlock(descriptor: int) -> None:
        """Release what :func:`lock` took."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def session_ids() -> dict[str, int | None]:
        """Return the session and the group of this process; Windows has neither."""
        return {"sid": None, "pgid": None}

    def terminal_reachable() -> bool:
        """Return whether a console is there to ask a person at, even with standard streams redirected."""
        try:
            os.close(os.open("CONIN$", os.O_RDWR))
        except OSError:
            return False
        return True

    def is_terminal(descriptor: int) -> bool:
        """Return whether the descriptor is a console; the null device, a character device too, is none."""
        import ctypes

        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        return bool(ctypes.windll.kernel32.GetConsoleMode(handle, ctypes.byref(ctypes.c_ulong())))

    def append(path: Path, data: bytes) -> None:
        """Add *data* to the end of *path* in one write; a lock beside it keeps other processes out."""
        locked(path.with_name(path.name + ".lock"), lambda: _append(path, data, os.O_BINARY))

    def replace_program(path: Path, data: bytes) -> None:
        """Put *data* in the place of a program that may be running: it can be renamed, not overwritten."""
        if path.exists():
            path.replace(path.with_name(f"{path.stem}-{os.getpid()}.old"))
        path.write_bytes(data)

    def pipe_at_end(descriptor: int, patience_s: float) -> bool:
        """Return whether the other end of a pipe is closed with nothing left to read."""
        import ctypes
        import time

        handle = msvcrt.get_osfhandle(descriptor)
        waiting = ctypes.c_ulong()
        until = time.monotonic() + patience_s
        while ctypes.windll.kernel32.PeekNamedPipe(
            ctypes.c_void_p(handle), None, 0, None, ctypes.byref(waiting), None
        ):
            if waiting.value or time.monotonic() >= until:
                return False
            time.sleep(0.01)
        return True

    def die_of(number: int) -> None:
        """End this process at once; Windows has no signals, so its exit code is *number*."""
        os.kill(os.getpid(), number)

    def stop_signals() -> Iterable[int]:
        """Return the signals that ask a process to end."""
        return (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)

    def plain_pipes() -> None:
        """Windows needs nothing for a closed stdout to end the process."""

    def spawn_options(group: str) -> dict[str, Any]:
        """Return what Popen needs for a child in the same group, or in one of its own."""
        import subprocess

        quiet = subprocess.CREATE_NO_WINDOW
        return {"creationflags": quiet if group == "same" else quiet | subprocess.CREATE_NEW_PROCESS_GROUP}

else:
    import fcntl

    def lock(descriptor: int, *, wait: bool) -> bool:
        """Return whether the open file is now locked for this process; with *wait*, block until it is."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Release what :func:`lock` took."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def session_ids() -> dict[str, int | None]:
        """Return the session and the group of this process."""
        return {"sid": os.getsid(0), "pgid": os.getpgid(0)}

    def terminal_reachable() -> bool:
        """Return whether a terminal is there to ask a person at, even with standard streams redirected."""
        try:
            os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        except OSError:
            return False
        return True

    def is_terminal(descriptor: int) -> bool:
        """Return whether the descriptor is a terminal."""
        return os.isatty(descriptor)

    def append(path: Path, data: bytes) -> None:
        """Add *data* to the end of *path* in one write, so that records of several processes never mix."""
        _append(path, data, 0)

    def replace_program(path: Path, data: bytes) -> None:
        """Put *data* in the place of a program that may be running: a new file under the old name."""
        mode = path.stat().st_mode if path.exists() else None
        replace(path, data)
        if mode is not None:
            path.chmod(mode)

    def pipe_at_end(descriptor: int, patience_s: float) -> bool:
        """Return whether the other end of a pipe is closed with nothing left to read."""
        import select

        if not select.select([descriptor], [], [], patience_s)[0]:
            return False
        buffered = bytearray(4)
        import termios

        fcntl.ioctl(descriptor, termios.FIONREAD, buffered)
        return not any(buffered)

    def die_of(number: int) -> None:
        """End this process by signal *number*, which nothing here may catch."""
        signal.signal(number, signal.SIG_DFL) if number not in {signal.SIGKILL, signal.SIGSTOP} else None
        os.kill(os.getpid(), number)

    def stop_signals() -> Iterable[int]:
        """Return the signals that ask a process to end."""
        return (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def plain_pipes() -> None:
        """Let a closed stdout end the process, as it ends a native program."""
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)

    def spawn_options(group: str) -> dict[str, Any]:
        """Return what Popen needs for a child in the same group, or in a session of its own."""
        return {"start_new_session": group != "same"}


def _append(path: Path, data: bytes, flags: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | flags, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def locked(path: Path, work: Callable[[], _T]) -> _T:
    """Return what *work* returns, run while *path* is locked against other processes."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(descriptor, wait=True)
        try:
            return work()
        finally:
            unlock(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of *data*, however many writes it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_text(descriptor: int, text: str) -> None:
    """Write *text* in UTF-8 with its line ends as they are, on every system."""
    write_all(descriptor, text.encode("utf-8", "replace"))


def replace(path: Path, data: bytes) -> None:
    """Put *data* at *path* whole: a reader or a crash sees the old or the new, never a part."""
    import time

    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    beside.write_bytes(data)
    for _ in range(200):
        try:
            beside.replace(path)
        except PermissionError:  # Windows refuses while a reader has it open
            time.sleep(0.01)
        else:
            return
    beside.replace(path)


def stream_kind(descriptor: int) -> str:
    """Return what a standard stream is: ``tty``, ``pipe``, ``file``, ``null``, ``closed`` or ``other``."""
    import stat

    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return "closed"
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return "pipe"
    if is_terminal(descriptor):
        return "tty"
    return "null" if stat.S_ISCHR(mode) else "other"
