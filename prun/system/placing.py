"""Putting a finished file in its place: under a new name that replaces nothing, or over an old file."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prun.system.clock import Clock

SHARING_WAIT_S = 2.0
_PAUSE_S = 0.02
_SHARING_VIOLATIONS = frozenset({5, 32})  # ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
_NO_LINKS = _NO_SUCH_CALL | {errno.EPERM, errno.EMLINK, errno.ENOSPC}


def patiently(act: Callable[[], object], clock: Clock) -> None:
    """Run *act*, again for up to two seconds while Windows says that another program holds the file open."""
    deadline_s = clock.monotonic() + SHARING_WAIT_S
    while True:
        try:
            act()
        except PermissionError as error:
            shared = getattr(error, "winerror", None) in _SHARING_VIOLATIONS
            if not shared or clock.monotonic() >= deadline_s:
                raise
        else:
            return
        clock.sleep(_PAUSE_S)


def place_over(temporary: Path, target: Path, clock: Clock) -> None:
    """Give the file *temporary* the name *target*, in place of what has it now."""
    patiently(lambda: temporary.replace(target), clock)


def discard(path: Path) -> None:
    """Remove a file of our own; one that can't be removed stays."""
    with suppress(OSError):
        path.unlink()


if sys.platform == "win32":

    def place_new(temporary: Path, target: Path, clock: Clock) -> None:
        """Give the file *temporary* the name *target*; ``FileExistsError`` where anything has that name."""
        patiently(lambda: temporary.rename(target), clock)

    def sync_directory(directory: Path) -> None:
        """Do nothing: Windows has no way to flush a directory."""

else:

    def place_new(temporary: Path, target: Path, clock: Clock) -> None:  # noqa: ARG001 - Windows waits
        """Give the file *temporary* the name *target*; ``FileExistsError`` where anything has that name."""
        try:
            target.hardlink_to(temporary)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
        else:
            discard(temporary)
            return
        if not _renamed_without_replacing(temporary, target):
            _claim_and_replace(temporary, target)

    def sync_directory(directory: Path) -> None:
        """Flush the names in *directory* to the disk, as far as its file system can.

        An error is not raised: the names stand already, and a failure would read as if they did not.
        """
        with suppress(OSError):
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _renamed_without_replacing(source: Path, target: Path) -> bool:
        """Return whether the system could rename so; ``FileExistsError`` where something is at *target*."""
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(source), os.fsencode(target)
        try:
            if sys.platform == "darwin":
                failed = libc.renamex_np(*names, 4)  # RENAME_EXCL
            else:
                here = -100  # AT_FDCWD
                failed = libc.renameat2(here, names[0], here, names[1], 1)  # RENAME_NOREPLACE
        except AttributeError:
            return False
        if not failed:
            return True
        number = ctypes.get_errno()
        if number in _NO_SUCH_CALL:
            return False
        raise OSError(number, os.strerror(number), str(source), None, str(target))

    def _claim_and_replace(temporary: Path, target: Path) -> None:
        """Take the name with an empty file, which every reader takes for nothing there, then fill it."""
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            temporary.replace(target)
        except OSError:
            discard(target)
            raise
