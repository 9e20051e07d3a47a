"""Room on the disk kept for one record, so that it can be written when nothing else can."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from prun.system.files import PRIVATE, publish_new, write_all
from prun.system.placing import discard, place_new, sync_directory

if TYPE_CHECKING:
    from pathlib import Path

    from prun.system.clock import Clock

SLOT_BYTES = 16 * 1024
_BLOCK_BYTES = 512  # the unit of st_blocks on every system that has it
_CANT_RESERVE = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_WRITE = (
    os.O_WRONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


def _reserve(descriptor: int, size_bytes: int) -> None:
    reserve = getattr(os, "posix_fallocate", None)
    if reserve is not None:
        try:
            reserve(descriptor, 0, size_bytes)
        except OSError as error:
            if error.errno not in _CANT_RESERVE:
                raise
        else:
            return
    write_all(descriptor, bytes(size_bytes))


def allocate(path: Path, size_bytes: int = SLOT_BYTES) -> bool:
    """Return whether the file system holds *size_bytes* for the new file at *path*, zeros for now.

    ``False`` where it holds less, as one that compresses does, and so may run out when the file is written.
    """
    descriptor = os.open(path, _WRITE | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        try:
            _reserve(descriptor, size_bytes)
            blocks = getattr(os.fstat(descriptor), "st_blocks", None)
        finally:
            os.close(descriptor)
    except BaseException:
        discard(path)
        raise
    return blocks is None or blocks * _BLOCK_BYTES >= size_bytes


def _overwritten(slot: Path, data: bytes) -> bool:
    """Return whether *data* now is all that *slot* holds; ``False`` where the slot is not ours to write.

    A second name means that the slot was published already: writing would change a finished record.
    """
    try:
        descriptor = os.open(slot, _WRITE)
    except OSError:
        return False
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            return False
        write_all(descriptor, data)  # over the blocks it has: cut first, they would be given back
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True


def commit_slot(slot: Path, target: Path, data: bytes, clock: Clock) -> None:
    """Put *data* at *target* in the room that *slot* kept; without a slot, as ``publish_new`` does.

    ``FileExistsError`` where anything is at *target*; the slot then can be committed again.
    """
    if not _overwritten(slot, data):
        publish_new(target, data, clock)
        return
    place_new(slot, target, clock)
    sync_directory(target.parent)
