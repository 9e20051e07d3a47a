"""Files that are looked at again and again: by one stat, and read only when that shows a change."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, assert_never

from prun.core.document import HEAD_BYTES, is_fallback
from prun.core.unit_snapshot import NO_FILE, NO_RESULT, Document, FileLook, Found, ResultLook
from prun.system.reading import (
    Contents,
    Missing,
    NotRegular,
    TooBig,
    Trouble,
    Unreadable,
    irregular,
    read_bounded,
    read_start,
    says_nothing,
    trouble_of,
)

if TYPE_CHECKING:
    from prun.core.unit_snapshot import Stamp
    from prun.system.reading import Reading

CIRCLE = "a link that leads in a circle"
NO_SUCH_FILE = Missing()


_HIDDEN_FILE = FileLook(Found.UNKNOWN)
_BAD_FILE = FileLook(Found.IRREGULAR)
_HIDDEN_RESULT = ResultLook(Document.UNKNOWN)
_BAD_RESULT = ResultLook(Document.IRREGULAR)

_FOLLOW = os.access not in os.supports_follow_symlinks  # there it knows no other way

Stat: TypeAlias = os.stat_result


def stat_of(path: str) -> Stat | Trouble:
    """Return the system's facts on what *path* leads to, which is not opened, or why they can't be had."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return NO_SUCH_FILE
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ELOOP:
            return NotRegular(CIRCLE)
        return trouble_of(error)


def regular_stat_of(path: str) -> Stat | Trouble:
    """Return the facts on the regular file at *path*, or why there are none."""
    found = stat_of(path)
    return (irregular(found.st_mode) or found) if isinstance(found, os.stat_result) else found


def is_there(path: str) -> bool:
    """Return whether anything that this user can see is at *path*, a link that leads nowhere included."""
    try:
        return os.access(path, os.F_OK, follow_symlinks=_FOLLOW)
    except ValueError:
        return False


def stamp_of(found: Stat) -> Stamp:
    """Return what changes when a file is written to or made anew."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class SmallFile:
    """A small file, read whole, and again only when it has changed."""

    __slots__ = ("_limit_bytes", "_reading", "_stamp", "path")

    def __init__(self, path: Path, limit_bytes: int) -> None:
        self.path = str(path)
        self._limit_bytes = limit_bytes
        self._stamp: Stamp | None = None
        self._reading: Reading = NO_SUCH_FILE

    def read(self) -> Reading:
        """Return the contents, the same object while nothing changed, or why there are none."""
        found = regular_stat_of(self.path)
        if not isinstance(found, os.stat_result):
            self._stamp = None
            if found != self._reading:
                self._reading = found
            return self._reading
        stamp = stamp_of(found)
        if stamp != self._stamp:
            self._reading = read_bounded(Path(self.path), self._limit_bytes)
            self._stamp = stamp if isinstance(self._reading, Contents | TooBig) else None
        return self._reading


class OutputFile:
    """A file that another process appends to, of which only the size matters."""

    __slots__ = ("_latest", "path", "trouble")

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._latest = NO_FILE
        self.trouble: Trouble | None = None

    def look(self) -> FileLook:
        """Return what stands there, the same object while nothing changed; *trouble* tells of the rest."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            self.trouble, self._latest = None, NO_FILE
            return NO_FILE
        except (OSError, ValueError):
            return self._without_size()
        if not stat.S_ISREG(found.st_mode):
            return self._without_size()
        latest = self._latest
        if latest.size_bytes != found.st_size or latest.mtime_s != found.st_mtime or self.trouble is not None:
            self.trouble = None
            latest = self._latest = FileLook(Found.REGULAR, found.st_size, found.st_mtime)
        return latest

    def _without_size(self) -> FileLook:
        found = regular_stat_of(self.path)
        self.trouble = None if isinstance(found, os.stat_result | Missing) else found
        self._latest = _BAD_FILE if isinstance(self.trouble, NotRegular) else _HIDDEN_FILE
        return self._latest


class ResultFile:
    """A result file; its first MiB is read to tell whether it is blank or a FALLBACK, when it has changed."""

    __slots__ = ("_latest", "path", "trouble")

    def __init__(self, path: str) -> None:
        self.path = path
        self._latest = NO_RESULT
        self.trouble: Trouble | None = None

    def look(self) -> ResultLook:
        """Return what stands there, the same object while nothing changed; *trouble* tells of the rest."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return self._without_content(NO_SUCH_FILE)
        except (OSError, ValueError):
            return self._looked_at_again()
        if stamp_of(found) == self._latest.stamp:
            return self._latest
        return self._looked_at_again()

    def _looked_at_again(self) -> ResultLook:
        found = regular_stat_of(self.path)
        if not isinstance(found, os.stat_result):
            return self._without_content(found)
        content = _said_in(self.path)
        if not isinstance(content, tuple):
            return self._without_content(content)
        self.trouble = None
        self._latest = ResultLook(content[0], stamp_of(found), found.st_mtime, content[1])
        return self._latest

    def _without_content(self, why: Trouble) -> ResultLook:
        match why:
            case Missing():
                self.trouble, self._latest = None, NO_RESULT
            case NotRegular():
                self.trouble, self._latest = why, _BAD_RESULT
            case Unreadable():
                self.trouble, self._latest = why, _HIDDEN_RESULT
            case _:
                assert_never(why)
        return self._latest


def _said_in(path: str) -> tuple[Document, bool] | Trouble:
    """Return whether the file at *path* says anything and whether that is a FALLBACK."""
    match says_nothing(Path(path)):
        case bool(blank):
            said = Document.BLANK if blank else Document.PRESENT
            return said, is_fallback(read_start(Path(path), HEAD_BYTES))
        case trouble:
            return trouble
