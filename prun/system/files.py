"""Writing files that appear whole or not at all, and never in place of something that says anything."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prun.system.placing import discard, place_new, place_over, sync_directory
from prun.system.reading import is_blank_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from prun.system.clock import Clock

PRIVATE = 0o600
SHARED = 0o666  # less the caller's umask: a result is the user's own document

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


def temporary_beside(target: Path) -> Path:
    """Return a fresh name in the directory of *target*, short so that it fits where most targets fit."""
    return target.with_name(f".prun-{os.urandom(8).hex()}.tmp")


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of *data* to *descriptor*."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def write_new(path: Path, data: bytes, *, mode: int = PRIVATE, durable: bool = True) -> None:
    """Create the file *path* with *data* in it, on the disk where *durable*; removed again on failure.

    For a name that nobody reads yet: it can be seen half written. ``FileExistsError`` where it is taken.
    """
    descriptor = os.open(path, _NEW, mode)
    try:
        try:
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        discard(path)
        raise


@contextmanager
def _written_beside(target: Path, data: bytes, mode: int, *, durable: bool) -> Iterator[Path]:
    temporary = temporary_beside(target)
    write_new(temporary, data, mode=mode, durable=durable)
    try:
        yield temporary
    except BaseException:
        discard(temporary)
        raise


def publish_new(path: Path, data: bytes, clock: Clock, *, mode: int = PRIVATE, durable: bool = True) -> None:
    """Put a whole file at *path*; ``FileExistsError`` where anything is there, a dangling link too."""
    with _written_beside(path, data, mode, durable=durable) as temporary:
        place_new(temporary, path, clock)
    if durable:
        sync_directory(path.parent)


def publish_over_blank(path: Path, data: bytes, clock: Clock, *, mode: int = PRIVATE) -> None:
    """Do as ``publish_new`` does, save that a blank regular file at *path* is replaced."""
    try:
        publish_new(path, data, clock, mode=mode)
    except FileExistsError:
        if not is_blank_file(path):
            raise
    else:
        return
    with _written_beside(path, data, mode, durable=True) as temporary:
        if not is_blank_file(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        place_over(temporary, path, clock)
    sync_directory(path.parent)


def replace(path: Path, data: bytes, clock: Clock, *, mode: int = PRIVATE, durable: bool = True) -> None:
    """Put a whole file at *path*, in place of the one before: for a record of our own that changes."""
    with _written_beside(path, data, mode, durable=durable) as temporary:
        place_over(temporary, path, clock)
    if durable:
        sync_directory(path.parent)


def set_aside(path: Path, nth: Callable[[int], Path], clock: Clock) -> Path:
    """Move what is at *path* to the first free one of nth(1), nth(2) and so on, and return that."""
    number = 1
    while True:
        aside = nth(number)
        number += 1
        if os.path.lexists(aside):
            continue
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                place_new(path, aside, clock)
            else:  # a directory can't be linked, and a link must not be followed
                place_over(path, aside, clock)
        except FileExistsError:
            continue
        sync_directory(path.parent)
        return aside
