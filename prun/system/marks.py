"""What stands at a path at one moment, to tell later whether it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.values import dataclass
from prun.system.reading import Standing, standing

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands there and, where the system tells it, how large and how old it is."""

    standing: Standing
    size_bytes: int = 0
    mtime_ns: int = 0


def mark_of(path: Path) -> Mark:
    """Return the mark of *path* now."""
    stands = standing(path)
    try:
        found = path.stat()
    except (OSError, ValueError):
        return Mark(stands)
    return Mark(stands, found.st_size, found.st_mtime_ns)
