"""Reading on in a file that another process appends to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prun.system.reading import Missing, open_regular, read_up_to, trouble_of

if TYPE_CHECKING:
    from pathlib import Path

    from prun.system.reading import Trouble


class GrowingFile:
    """A file that another process appends to, read on from where the last reading stopped.

    No descriptor is held: the file may come late and, on Windows, must stay removable. One that was
    cut short or made anew is read from its start.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset_bytes = 0
        self.size_bytes = 0
        self.trouble: Trouble | None = Missing()
        self._file: tuple[int, int] | None = None

    def read_on(self, limit_bytes: int) -> bytes:
        """Return what is new, at most *limit_bytes*; nothing where the file can't be read (see *trouble*)."""
        opened = open_regular(self.path)
        if not isinstance(opened, int):
            self.trouble = opened
            return b""
        try:
            return self._read_on(opened, limit_bytes)
        except OSError as error:
            self.trouble = trouble_of(error)
            return b""
        finally:
            os.close(opened)

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
