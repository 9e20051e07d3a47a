"""Reading what other programs write: bounded, and never blocked by a FIFO or a device.

Links are followed, since a user's files may be links; what they lead to must be a regular file.
"""

from __future__ import annotations

import hashlib
import os
import stat
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from prun.core.blank import are_blank
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK_BYTES = 1024 * 1024
_LOOK_BYTES = 64 * 1024
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """All that is in the file."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Missing:
    """The system said that there is no such file; nothing else proves that."""

    def describe(self) -> str:
        """Return the finding as the end of a sentence."""
        return "there is no such file"


@dataclass(frozen=True, slots=True)
class NotRegular:
    """Something other than a regular file is there; it was not read."""

    what: str

    def describe(self) -> str:
        """Return the finding as the end of a sentence."""
        return f"it is {self.what}, not a regular file"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The look failed: whether the file is there is not known."""

    error: str

    def describe(self) -> str:
        """Return the finding as the end of a sentence."""
        return self.error


@dataclass(frozen=True, slots=True)
class TooBig:
    """The file holds more than the limit."""

    limit_bytes: int

    def describe(self) -> str:
        """Return the finding as the end of a sentence."""
        return f"it is larger than {self.limit_bytes} bytes"


Trouble: TypeAlias = Missing | NotRegular | Unreadable
Reading: TypeAlias = Contents | TooBig | Trouble


class Standing(StrEnum):
    """What stands at a path where a document is expected."""

    NOTHING = "nothing"
    BLANK = "blank"
    CONTENT = "content"
    OTHER = "other"
    UNKNOWN = "unknown"


def trouble_of(error: OSError | ValueError) -> Trouble:
    """Return what an *error* of the system says about a file."""
    if isinstance(error, FileNotFoundError):
        return Missing()
    return Unreadable((error.strerror or str(error)) if isinstance(error, OSError) else str(error))


def irregular(mode: int) -> NotRegular | None:
    """Return what a file of *mode* is where it is no regular one."""
    kind = stat.S_IFMT(mode)
    return None if kind == stat.S_IFREG else NotRegular(_KINDS.get(kind, "something else"))


def open_regular(path: Path) -> int | Trouble:
    """Return a descriptor of the regular file at *path*; anything else is not even opened."""
    try:
        trouble = irregular(path.stat().st_mode)
        if trouble is not None:
            return trouble
        descriptor = os.open(path, _READ)
    except (OSError, ValueError) as error:
        return trouble_of(error)
    trouble = irregular(os.fstat(descriptor).st_mode)
    if trouble is None:
        return descriptor
    os.close(descriptor)
    return trouble


def read_up_to(descriptor: int, limit_bytes: int) -> bytes:
    """Return the next bytes of *descriptor*, *limit_bytes* or all there are."""
    parts = []
    left = limit_bytes
    while left > 0:
        part = os.read(descriptor, min(left, _CHUNK_BYTES))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _read_from(path: Path, offset_bytes: int, limit_bytes: int) -> bytes | Trouble:
    """Return up to *limit_bytes* from *offset_bytes* on, counted from the end where that is negative."""
    opened = open_regular(path)
    if not isinstance(opened, int):
        return opened
    try:
        size_bytes = os.fstat(opened).st_size
        start = offset_bytes if offset_bytes >= 0 else max(0, size_bytes + offset_bytes)
        os.lseek(opened, start, os.SEEK_SET)
        return read_up_to(opened, limit_bytes)
    except OSError as error:
        return trouble_of(error)
    finally:
        os.close(opened)


def read_bounded(path: Path, limit_bytes: int) -> Reading:
    """Return the contents of the file *path*, or why they can't be had."""
    found = _read_from(path, 0, limit_bytes + 1)
    if not isinstance(found, bytes):
        return found
    return TooBig(limit_bytes) if len(found) > limit_bytes else Contents(found)


def read_start(path: Path, limit_bytes: int) -> bytes:
    """Return the first *limit_bytes* of the file *path*; nothing where it can't be read."""
    found = _read_from(path, 0, limit_bytes)
    return found if isinstance(found, bytes) else b""


def read_end(path: Path, limit_bytes: int) -> bytes:
    """Return the last *limit_bytes* of the file *path*; nothing where it can't be read."""
    found = _read_from(path, -limit_bytes, limit_bytes)
    return found if isinstance(found, bytes) else b""


def is_directory(path: Path) -> bool:
    """Return whether *path* leads to a directory; one that can't be looked at, or be any path, does not."""
    return os.path.isdir(path)


def sha256_of(path: Path) -> str | None:
    """Return the SHA-256 of the file *path* as it is now, in hex, or ``None`` where it can't be read."""
    opened = open_regular(path)
    if not isinstance(opened, int):
        return None
    digest = hashlib.sha256()
    try:
        left = os.fstat(opened).st_size
        while left > 0 and (part := os.read(opened, min(left, _CHUNK_BYTES))):
            digest.update(part)
            left -= len(part)
    except OSError:
        return None
    finally:
        os.close(opened)
    return digest.hexdigest()


def says_nothing(path: Path) -> bool | Trouble:
    """Return whether the file *path* is blank, of whatever size; it is read up to where it says something."""
    opened = open_regular(path)
    if not isinstance(opened, int):
        return opened
    try:
        return are_blank(_chunks(opened))
    except OSError as error:
        return trouble_of(error)
    finally:
        os.close(opened)


def _chunks(descriptor: int) -> Iterator[bytes]:
    while chunk := os.read(descriptor, _LOOK_BYTES):
        yield chunk


def is_blank_file(path: Path) -> bool:
    """Return whether *path* itself, not what it may link to, is a regular file that says nothing."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
    except (OSError, ValueError):
        return False
    return says_nothing(path) is True


def standing(path: Path) -> Standing:
    """Return what stands at *path*; a link to a file that says something counts as content."""
    match says_nothing(path):
        case bool(blank):
            return Standing.BLANK if blank else Standing.CONTENT
        case NotRegular():
            return Standing.OTHER
        case Missing():
            return Standing.OTHER if os.path.lexists(path) else Standing.NOTHING
        case Unreadable():
            return Standing.UNKNOWN
