"""What a reader sees of a unit now, judged by rules from a snapshot and from what was seen before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from prun.core.identity import Life
from prun.core.outcome import Verdict
from prun.core.plain import one_line
from prun.core.quiet import is_quiet
from prun.core.unit_snapshot import NO_DIRECTORY, Document
from prun.core.unit_status import Done, Failed, Finishing, Growing, Pending, Stalled, Status
from prun.core.values import dataclass
from prun.core.watch_state import WatchState, after_look, has_output, idle_s, refreshed, resumed, waited_s

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prun.core.moment import Moment
    from prun.core.unit_snapshot import UnitSnapshot

__all__ = [
    "RULES",
    "Done",
    "Failed",
    "Finishing",
    "Growing",
    "Pending",
    "Rule",
    "Seen",
    "Stalled",
    "Status",
    "Thresholds",
    "WatchState",
    "idle_s",
    "refreshed",
    "resumed",
    "status_of",
    "wants_tail",
]

GRACE_S: Final = 1.0
DONE: Final = Done()
FINISHING: Final = Finishing()
GROWING: Final = Growing()
PENDING: Final = Pending()

_KIND_CHARACTERS = 60
_REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Thresholds:
    """For how long, in seconds, a unit may be silent, and a result without an outcome must be quiet."""

    stall_s: float = 600.0
    tool_stall_s: float = 600.0
    stable_window_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Seen:
    """All that a unit's status is judged from; *state* includes the look at *snapshot*."""

    state: WatchState
    snapshot: UnitSnapshot
    now: Moment
    thresholds: Thresholds


Rule: TypeAlias = "Callable[[Seen], Status | None]"


def status_of(
    state: WatchState,
    snapshot: UnitSnapshot,
    now: Moment,
    thresholds: Thresholds,
    *,
    rules: Sequence[Rule] | None = None,
) -> tuple[WatchState, Status]:
    """Return what was seen so far, *snapshot* included, and the unit's status.

    Where ``wants_tail`` then says so, look again with the tail's end before the status counts.
    """
    state = after_look(state, snapshot, now)
    seen = Seen(state, snapshot, now, thresholds)
    for rule in RULES if rules is None else rules:
        status = rule(seen)
        if status is not None:
            return state, status
    return state, GROWING if has_output(snapshot) else PENDING


def wants_tail(state: WatchState, snapshot: UnitSnapshot, now: Moment, thresholds: Thresholds) -> bool:
    """Return whether a stall turns on what the tail's end says and *snapshot* does not tell that."""
    return (
        thresholds.tool_stall_s != thresholds.stall_s
        and snapshot.said is None
        and snapshot.outcome is None
        and snapshot.tail.size_bytes > 0
        and waited_s(state, now) >= min(thresholds.stall_s, thresholds.tool_stall_s)
    )


def with_outcome(seen: Seen) -> Status | None:
    """Find an outcome: it decides, whatever else lies there."""
    outcome = seen.snapshot.outcome
    if outcome is None:
        return None
    if outcome.verdict == Verdict.COMPLETED:
        return DONE
    kind = one_line(outcome.kind, _KIND_CHARACTERS) or "unknown"
    return Failed(kind, one_line(outcome.reason, _REASON_CHARACTERS))


def missing(seen: Seen) -> Status | None:
    """Find the system's word that there is no such directory; nothing else proves that."""
    if seen.snapshot.place in NO_DIRECTORY:
        return Failed("state-missing", "there is no such directory")
    return None


def with_result_of_an_older_tool(seen: Seen) -> Status | None:
    """Find the result of an older tool's unit, which goes by it once that is quiet."""
    snapshot = seen.snapshot
    if not snapshot.older or snapshot.result.found is not Document.PRESENT:
        return None
    if not is_quiet(seen.state.quiet, seen.now, seen.thresholds.stable_window_s):
        return FINISHING
    return _fallback() if snapshot.result.fallback else DONE


def with_result_and_owner(seen: Seen) -> Status | None:
    """Find a result whose owner may live: its outcome is to come."""
    snapshot = seen.snapshot
    waits = snapshot.result.found is Document.PRESENT and snapshot.owner is not Life.DEAD
    return FINISHING if waits and not snapshot.older else None


def bad(seen: Seen) -> Status | None:
    """Find something else where a file belongs: nothing that is told there can be relied on."""
    found = seen.snapshot.bad
    return Failed("bad-state", _one_reason(found)) if found else None


def abandoned(seen: Seen) -> Status | None:
    """Find that the owner is proved dead; for a moment its last write may still show."""
    snapshot, since_s = seen.snapshot, seen.state.dead_since_s
    result_hidden = snapshot.older and snapshot.result.found is Document.UNKNOWN
    if since_s is None or result_hidden:
        return None
    if seen.now.monotonic_s - since_s < GRACE_S:
        if snapshot.result.found is Document.PRESENT:
            return FINISHING
        return GROWING if has_output(snapshot) else PENDING
    if snapshot.outcome_hidden:
        return Failed("bad-state", _one_reason(snapshot.problems))
    match snapshot.worker:
        case Life.ALIVE:
            return Failed("orphaned", "its dispatcher is dead and its worker lives: adopt it")
        case Life.UNKNOWN:
            return Failed("orphaned", "its dispatcher is dead and its worker may live: adopt it")
        case Life.DEAD | None:
            if snapshot.result.fallback:
                return _fallback()
            return Failed("dispatch-dead", "its dispatcher is dead and wrote no outcome")
        case _:
            assert_never(snapshot.worker)


def stalled(seen: Seen) -> Status | None:
    """Find no progress for the threshold; an open tool call has one of its own."""
    said = seen.snapshot.said
    in_tool = said is not None and said.last_step is not None and said.last_step.tool_open
    threshold_s = seen.thresholds.tool_stall_s if in_tool else seen.thresholds.stall_s
    if waited_s(seen.state, seen.now) < threshold_s:
        return None
    return Stalled(idle_s(seen.state, seen.now))


def _fallback() -> Failed:
    return Failed("fallback", "its result is a FALLBACK document")


def _one_reason(notes: tuple[str, ...]) -> str:
    return one_line("; ".join(notes), _REASON_CHARACTERS)


RULES: Final[tuple[Rule, ...]] = (
    with_outcome,
    missing,
    with_result_of_an_older_tool,
    with_result_and_owner,
    bad,
    abandoned,
    stalled,
)
