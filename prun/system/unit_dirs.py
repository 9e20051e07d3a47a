"""Where state directories are: in a state root, in a batch, in the batches of a directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prun.system.reading import is_directory
from prun.system.state_dir import PREFIX, StateDir

if TYPE_CHECKING:
    from pathlib import Path

BATCHES = ".prun"


def unit_dirs(root: Path) -> list[StateDir]:
    """Return the state directories in *root*, by name; none where it can't be listed."""
    return [StateDir(root / name) for name in _listing(root) if name.startswith(PREFIX)]


def batch_place(cwd: Path, named: str) -> Path | None:
    """Return the directory of the batch *named*, by its path or by its name among those of *cwd*."""
    places = (cwd / named, cwd / BATCHES / named)
    return next((place for place in places if is_directory(place)), None)


def batch_state_root(place: Path) -> Path:
    """Return where the batch at *place* has its state directories, or will have them."""
    plain = place / "state"
    return (
        plain
        if is_directory(plain) and not is_directory(place / "agent-io")
        else place / "agent-io" / "state"
    )


def batch_state_roots(cwd: Path) -> list[Path]:
    """Return where the batches of the directory *cwd* have their state directories."""
    return [batch_state_root(cwd / BATCHES / name) for name in _listing(cwd / BATCHES)]


def is_state_dir(state: StateDir) -> bool:
    """Return whether a directory holds any record of a unit, as the older tools' do too."""
    records = (state.result_file, state.request, state.outcome, state.owner(1), state.timestamp)
    return any(os.path.lexists(path) for path in records)


def changed_at(root: Path) -> int | None:
    """Return a number that changes when something is made in *root*, ``None`` where it can't be looked at."""
    try:
        return root.stat().st_mtime_ns
    except (OSError, ValueError):
        return None


def _listing(root: Path) -> list[str]:
    try:
        return sorted(os.listdir(root))
    except (OSError, ValueError):
        return []
