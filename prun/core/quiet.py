"""Since when a file has not changed, by the watcher's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.moment import age_s
from prun.core.unit_snapshot import Document
from prun.core.values import dataclass

if TYPE_CHECKING:
    from prun.core.moment import Moment
    from prun.core.unit_snapshot import ResultLook, Stamp


@dataclass(frozen=True, slots=True)
class Quiet:
    """A document and the monotonic second since when it is as it is."""

    stamp: Stamp
    since_s: float


def quiet_after(quiet: Quiet | None, result: ResultLook, now: Moment, *, first_look: bool) -> Quiet | None:
    """Return since when *result* is as it is; ``None`` while it says nothing.

    At a first look the age of the file counts, later only what was seen: its times may be anything.
    """
    if result.found is not Document.PRESENT or result.stamp is None:
        return None
    if quiet is not None and quiet.stamp == result.stamp:
        return quiet
    seen_s = age_s(result.mtime_s, now) if first_look else 0.0
    return Quiet(result.stamp, now.monotonic_s - seen_s)


def unwatched(quiet: Quiet | None, now: Moment) -> Quiet | None:
    """Return *quiet* beginning now: the watcher itself stood still until then."""
    return None if quiet is None else Quiet(quiet.stamp, now.monotonic_s)


def is_quiet(quiet: Quiet | None, now: Moment, window_s: float) -> bool:
    """Return whether a document has been as it is for *window_s*."""
    return quiet is not None and now.monotonic_s - quiet.since_s >= window_s
