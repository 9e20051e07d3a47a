"""The units that a caller names: by their state directories, or as those of a batch."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.errors import UsageError
from prun.core.plain import visible
from prun.flow.places import absolute
from prun.system.state_dir import StateDir
from prun.system.unit_dirs import BATCHES, batch_place, batch_state_root, changed_at, unit_dirs

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"prun-task-[0-9a-f]{8}-([A-Za-z0-9_-]+)-[0-9]+-[0-9a-f]{16}")


class Batch:
    """The units of a batch, each told once, as soon as its state directory is there."""

    def __init__(self, cwd: Path, named: str) -> None:
        place = batch_place(cwd, named)
        if place is None:
            raise UsageError(
                f"there is no batch {visible(named)}: give its directory, or its name in {BATCHES} here"
            )
        self._place = place
        self._known: set[str] = set()
        self._changed: int | None = None

    def appeared(self, *, whole: bool) -> list[StateDir]:
        """Return the units that were not there before; a look that is not *whole* trusts the root's time."""
        root = batch_state_root(self._place)
        changed = changed_at(root)
        if changed is None or (changed == self._changed and not whole):
            return []
        self._changed = changed
        new = [state for state in unit_dirs(root) if state.root.name not in self._known]
        self._known.update(state.root.name for state in new)
        return new


def named_units(cwd: Path, named: Iterable[str]) -> list[StateDir]:
    """Return the state directories *named* from *cwd*, whether or not anything is there."""
    return [StateDir(Path(absolute(cwd, path))) for path in named]


def name_of(state: StateDir) -> str:
    """Return the name that a unit is told under, which is that of its state directory."""
    return os.path.basename(os.path.normpath(state.root)) or str(state.root)  # noqa: PTH119 - of ".." too


def is_named(state: StateDir, names: Iterable[str], cwd: Path) -> bool:
    """Return whether one of *names* is this unit's id, its state directory's name, or its path from *cwd*."""
    name = name_of(state)
    found = _NAME.fullmatch(name)
    own = {name, *(found.groups() if found else ())}
    return any(word in own or absolute(cwd, word) == str(state.root) for word in names)
