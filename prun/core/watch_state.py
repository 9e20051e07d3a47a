"""What a watcher saw of one unit so far, measured by its own monotonic clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from prun.core.identity import Life
from prun.core.moment import age_s
from prun.core.quiet import Quiet, quiet_after, unwatched
from prun.core.unit_snapshot import Found
from prun.core.values import dataclass, replace

if TYPE_CHECKING:
    from prun.core.moment import Moment
    from prun.core.unit_snapshot import FileLook, UnitSnapshot

Sizes: TypeAlias = "tuple[int | None, ...]"

_UNSEEN: Sizes = (None, None, None)


@dataclass(frozen=True, slots=True)
class WatchState:
    """What was seen of a unit; as made, nothing yet. All times are monotonic seconds.

    *sizes* are those of tail, stderr and log when last seen. *window_from_s* is where a fresh stall window
    began, *dead_since_s* since when the owner is known to be dead.
    """

    snapshot: UnitSnapshot | None = None
    sizes: Sizes = _UNSEEN
    progress_at_s: float = 0.0
    window_from_s: float | None = None
    quiet: Quiet | None = None
    dead_since_s: float | None = None


def after_look(state: WatchState, snapshot: UnitSnapshot, now: Moment) -> WatchState:
    """Return *state* with what *snapshot* adds to it."""
    if snapshot is state.snapshot:
        return state
    first_look = state.snapshot is None
    if first_look:
        progress_at_s = now.monotonic_s - age_s(_last_progress_s(snapshot, now), now)
    else:
        progress_at_s = now.monotonic_s if _grew(state.sizes, snapshot) else state.progress_at_s
    return WatchState(
        snapshot=snapshot,
        sizes=_sizes(state.sizes, snapshot),
        progress_at_s=progress_at_s,
        window_from_s=state.window_from_s,
        quiet=quiet_after(state.quiet, snapshot.result, now, first_look=first_look),
        dead_since_s=_dead_since_s(state, snapshot, now),
    )


def idle_s(state: WatchState, now: Moment) -> float:
    """Return the seconds since the last progress; only new bytes make them fall."""
    return max(0.0, now.monotonic_s - state.progress_at_s)


def waited_s(state: WatchState, now: Moment) -> float:
    """Return the seconds without progress that count towards a stall: those of a fresh window only."""
    if state.window_from_s is None:
        return idle_s(state, now)
    return min(idle_s(state, now), now.monotonic_s - state.window_from_s)


def refreshed(state: WatchState, now: Moment) -> WatchState:
    """Return *state* with a stall window that begins now."""
    return replace(state, window_from_s=now.monotonic_s)


def resumed(state: WatchState, now: Moment) -> WatchState:
    """Return *state* after the watcher itself stood still: what was not watched counts for nothing."""
    return replace(refreshed(state, now), quiet=unwatched(state.quiet, now))


def outputs(snapshot: UnitSnapshot) -> tuple[FileLook, FileLook, FileLook]:
    """Return the looks at the files whose growth is progress."""
    return snapshot.tail, snapshot.stderr, snapshot.log


def has_output(snapshot: UnitSnapshot) -> bool:
    """Return whether there is a byte of output."""
    return snapshot.tail.size_bytes > 0 or snapshot.stderr.size_bytes > 0 or snapshot.log.size_bytes > 0


def _last_progress_s(snapshot: UnitSnapshot, now: Moment) -> float:
    """Return when a unit last progressed by what is on disk, in epoch seconds."""
    grown = [look.mtime_s for look in outputs(snapshot) if look.size_bytes > 0]
    if grown:
        return max(grown)
    for began_s in (snapshot.timestamp_s, snapshot.place_mtime_s):
        if began_s is not None:
            return began_s
    return now.utc_s


def _grew(before: Sizes, snapshot: UnitSnapshot) -> bool:
    # Nothing is known of what a file held that could not be looked at.
    return any(
        size is not None and look.size_bytes > size
        for size, look in zip(before, outputs(snapshot), strict=True)
    )


def _sizes(before: Sizes, snapshot: UnitSnapshot) -> Sizes:
    return tuple(
        [_size(size, look) for size, look in zip(before, outputs(snapshot), strict=True)],
    )


def _size(before: int | None, look: FileLook) -> int | None:
    # A file that goes and comes again, or hides for a moment, brings no new bytes.
    if look.found is Found.REGULAR:
        return look.size_bytes
    return 0 if before is None and look.found is Found.MISSING else before


def _dead_since_s(state: WatchState, snapshot: UnitSnapshot, now: Moment) -> float | None:
    if snapshot.owner is not Life.DEAD:
        return None
    if state.dead_since_s is not None or state.snapshot is not None:
        return now.monotonic_s if state.dead_since_s is None else state.dead_since_s
    signs = [look.mtime_s for look in (*outputs(snapshot), snapshot.result)]
    return now.monotonic_s - age_s(max(*signs, snapshot.place_mtime_s or 0.0), now)
