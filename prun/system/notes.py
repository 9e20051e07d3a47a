"""What is wrong with the files of a state directory, in words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, assert_never

from prun.core.plain import one_line
from prun.system.reading import Contents, Missing, NotRegular, TooBig, Unreadable

if TYPE_CHECKING:
    from prun.system.reading import Reading

_NOTE_CHARACTERS = 300


class Notes:
    """Takes in what was found, and tells what no file can be, or be used as, from what was only not read."""

    __slots__ = ("_bad", "_problems")

    def __init__(self) -> None:
        self._bad: dict[str, None] = {}
        self._problems: dict[str, None] = {}

    @property
    def bad(self) -> tuple[str, ...]:
        """What stands where a file belongs and is of no use."""
        return tuple(self._bad)

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, or not be made out."""
        return tuple(self._problems)

    def take(self, path: str, found: Reading | None, junk: str | None = None) -> None:
        """Take in what was *found* at *path*; *junk* tells what is wrong with contents that could be read."""
        name = os.path.basename(path)
        match found:
            case None | Missing():
                pass
            case NotRegular(what):
                self._note(self._bad, f"{name} is {what}")
            case Unreadable(error):
                self._note(self._problems, f"{name}: {error}")
            case TooBig(limit_bytes):
                self._note(self._problems, f"{name} is larger than {limit_bytes} bytes")
            case Contents():
                if junk is not None:
                    self._note(self._problems, f"{name} {junk}")
            case _:
                assert_never(found)

    def take_bad(self, path: str, what: str) -> None:
        """Take in that the file at *path* is of no use: *what* continues its name."""
        self._note(self._bad, f"{os.path.basename(path)} {what}")

    def _note(self, notes: dict[str, None], text: str) -> None:
        notes[one_line(text, _NOTE_CHARACTERS)] = None
