"""What one look at a unit's state directory found."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from prun.core.identity import Life
from prun.core.values import dataclass

if TYPE_CHECKING:
    from prun.core.outcome import Outcome
    from prun.core.steps import LastStep

Stamp: TypeAlias = tuple[int, int, int, int]


class Found(StrEnum):
    """What stands where something is expected; *unknown* where the look failed, which proves nothing."""

    MISSING = "missing"
    REGULAR = "regular"
    IRREGULAR = "irregular"
    UNKNOWN = "unknown"


class Document(StrEnum):
    """What stands at a result path."""

    MISSING = "missing"
    BLANK = "blank"
    PRESENT = "present"
    IRREGULAR = "irregular"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class FileLook:
    """A file that grows; size and time (epoch seconds) mean something where a regular one was found."""

    found: Found
    size_bytes: int = 0
    mtime_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ResultLook:
    """What stands at a result path.

    *stamp* (device, inode, size, mtime in ns) changes with whatever is written to it; *fallback* where its
    first line is the header of a FALLBACK document.
    """

    found: Document
    stamp: Stamp | None = None
    mtime_s: float = 0.0
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What the end of the tail says; figures are those of the last result event in it."""

    last_step: LastStep | None = None
    num_turns: int | None = None
    usage: dict[str, int] | None = None


NO_DIRECTORY = (Found.MISSING, Found.IRREGULAR)
NO_FILE = FileLook(Found.MISSING)
NO_RESULT = ResultLook(Document.MISSING)


@dataclass(frozen=True, slots=True)
class UnitSnapshot:
    """One look, read in the order of its fields; times are epoch seconds.

    *place* is what stands where the state directory should, ``REGULAR`` for a directory. *outcome* is
    ``None`` where there is none or only junk; *outcome_hidden* where the look at it failed, so that one may
    be there. *older* where no owner record is: an older tool's, and *owner* is what its pid tells. *worker*
    is ``None`` where no worker was recorded, and looked at only once the owner is dead. *said* is ``None``
    where the tail's end was not read. *bad* names what stands where a file belongs; *problems* what could
    not be read.
    """

    place: Found
    place_mtime_s: float | None = None
    outcome: Outcome | None = None
    outcome_hidden: bool = False
    result_path: str | None = None
    result: ResultLook = NO_RESULT
    tail: FileLook = NO_FILE
    stderr: FileLook = NO_FILE
    log: FileLook = NO_FILE
    older: bool = False
    owner: Life = Life.UNKNOWN
    worker: Life | None = None
    timestamp_s: float | None = None
    said: Said | None = None
    bad: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
