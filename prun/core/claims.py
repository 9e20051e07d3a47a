"""Whether a unit that ended before anybody asked still speaks for the result that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.timestamps import parse_rfc3339
from prun.core.unit_snapshot import Document

if TYPE_CHECKING:
    from prun.core.unit_snapshot import ResultLook, UnitSnapshot

SLACK_S = 10.0  # between a result and an outcome that were written by two clocks


def speaks_for(unit: UnitSnapshot, result: ResultLook) -> bool:
    """Return whether what *unit* says counts for *result*, as both stood when gather began.

    An earlier run's outcome says nothing of a document that was written after it, or is still to come.
    """
    if unit.outcome is None:
        return True
    ended = parse_rfc3339(unit.outcome.ended_at)
    if result.found is not Document.PRESENT:
        return False
    return ended is None or result.mtime_s <= ended.timestamp() + SLACK_S
