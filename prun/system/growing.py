"""Reading on in a file that another process appends to."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from prun.system.reading import Missing, open_regular, read_up_to, trouble_of

if TYPE_CHECKING:
    from pathlib import Path

    from prun.system.reading import Trouble


class GrowingFile:
    """A file that another process appends to, read on from where the last reading stopped.

    It may come late. With *keep* it stays open once it was found (POSIX; on Windows it must stay removable):
    what is written into it is then read even where its name was taken away. One that was cut short or,
    not kept open, made anew is read from its start.
    """

    def __init__(self, path: Path, *, keep: bool = False) -> None:
        self.path = path
        self.offset_bytes = 0
        self.size_bytes = 0
        self.trouble: Trouble | None = Missing()
        self._keep = keep and sys.platform != "win32"
        self._kept: int | None = None
        self._file: tuple[int, int] | None = None

    def size_now_bytes(self) -> int:
        """Return how much there is at this moment; nothing where that can't be told."""
        try:
            return (os.stat(self.path) if self._kept is None else os.fstat(self._kept)).st_size
        except (OSError, ValueError):
            return 0

    def read_on(self, limit_bytes: int) -> bytes:
        """Return what is new, at most *limit_bytes*; nothing where the file can't be read (see *trouble*)."""
        opened = open_regular(self.path) if self._kept is None else self._kept
        if not isinstance(opened, int):
            self.trouble = opened
            return b""
        if self._keep:
            self._kept = opened
        try:
            return self._read_on(opened, limit_bytes)
        except OSError as error:
            self.trouble = trouble_of(error)
            return b""
        finally:
            if not self._keep:
                os.close(opened)

    def close(self) -> None:
        """Give up a descriptor that was kept."""
        if self._kept is not None:
            os.close(self._kept)
            self._kept = None

    def _read_on(self, descriptor: int, limit_bytes: int) -> bytes:
        found = os.fstat(descriptor)
        if (found.st_dev, found.st_ino) != self._file or found.st_size < self.offset_bytes:
            self._file = (found.st_dev, found.st_ino)
            self.offset_bytes = 0
        self.size_bytes, self.trouble = found.st_size, None
        if found.st_size == self.offset_bytes:
            return b""
        os.lseek(descriptor, self.offset_bytes, os.SEEK_SET)
        data = read_up_to(descriptor, limit_bytes)
        self.offset_bytes += len(data)
        self.size_bytes = max(self.size_bytes, self.offset_bytes)
        return data
