"""What the end of a worker's output says, however long the rest of it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.events import Result, Step, parse_line
from prun.core.framing import LINE_BYTES
from prun.core.steps import Steps
from prun.core.unit_snapshot import Said
from prun.system.reading import read_end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prun.core.events import Event

_ROOMS_BYTES = (64 * 1024, 1024 * 1024, LINE_BYTES + 1024 * 1024)


def said_at_end(path: Path) -> Said:
    """Return the last step that the file *path* tells of, and the figures of a result after it.

    The end alone is read: 64 KiB as a rule, 17 MiB at most, where lines are as long as lines may be.
    """
    said = Said()
    for room_bytes in _ROOMS_BYTES:
        data = read_end(path, room_bytes)
        whole = len(data) < room_bytes
        said = said_in(data, whole=whole)
        if whole or said.last_step is not None:
            break
    return said


def said_in(data: bytes, *, whole: bool) -> Said:
    """Return what *data* says, the end of a stream or, where *whole*, all of it."""
    result: Result | None = None
    for event in _backwards(data, whole=whole):
        if isinstance(event, Result) and result is None:
            result = event
        if isinstance(event, Step):
            steps = Steps()
            steps.take(event)
            if result is not None:
                steps.end_turn()
            return _said(steps, result)
    return _said(Steps(), result)


def _said(steps: Steps, result: Result | None) -> Said:
    if result is None:
        return Said(steps.last)
    return Said(steps.last, result.num_turns, result.usage)


def _backwards(data: bytes, *, whole: bool) -> Iterator[Event]:
    """Yield the events in *data* from the last on; a first line that may be torn is left out."""
    end = len(data)
    while end >= 0:
        start = data.rfind(b"\n", 0, end) + 1
        if start == 0 and not whole:
            return
        if end - start <= LINE_BYTES:
            yield from reversed(parse_line(data[start:end]))
        end = start - 1
