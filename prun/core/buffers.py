"""Room in a byte buffer taken at once, so that a growing one is not copied over and over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BytesIO


def reserve(buffer: BytesIO, size_bytes: int) -> None:
    """Make *buffer* hold *size_bytes* without moving; what is written goes on where it was.

    ``take`` drops the room that was not used.
    """
    at = buffer.tell()
    buffer.seek(size_bytes - 1)
    buffer.write(b"\0")
    buffer.seek(at)


def take(buffer: BytesIO) -> bytes:
    """Return what was written to *buffer*, sharing its memory; nothing is written to it after that."""
    buffer.truncate()
    return buffer.getvalue()
