"""Which units name which results, found out once by reading what each state directory points at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.state_texts import read_pointer
from prun.system.reading import Contents, read_bounded
from prun.system.unit_texts import TEXT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prun.system.state_dir import StateDir


def units_by_result(states: Iterable[StateDir], results: Iterable[str]) -> dict[str, list[StateDir]]:
    """Return for each of the absolute paths in *results* those of *states* that name it, by whatever way."""
    places = {path: _place(path) for path in results}
    by_place: dict[str, list[StateDir]] = {place: [] for place in places.values()}
    names = {_name(path) for path in places}
    for state in states:
        pointer = _pointer(state)
        # To follow the links on the way of each one would take long where there are thousands.
        if pointer is not None and _name(pointer) in names and _place(pointer) in by_place:
            by_place[_place(pointer)].append(state)
    return {path: by_place[place] for path, place in places.items()}


def _pointer(state: StateDir) -> str | None:
    reading = read_bounded(state.result_file, TEXT_BYTES)
    path = read_pointer(reading.data) if isinstance(reading, Contents) else None
    return path if path is not None and "\0" not in path and os.path.isabs(path) else None


def _name(path: str) -> str:
    return os.path.normcase(os.path.basename(path))


def _place(path: str) -> str:
    """Return *path* in the one form that all ways of writing it share; the file itself may be a link."""
    name = Path(path).name
    return os.path.normcase(os.path.join(os.path.realpath(os.path.dirname(path)), name))
