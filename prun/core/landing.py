"""When a result file has landed, which is when gather tells of it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from prun.core.identity import Life
from prun.core.quiet import Quiet, is_quiet, quiet_after, unwatched
from prun.core.unit_snapshot import NO_DIRECTORY, Document
from prun.core.values import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prun.core.moment import Moment
    from prun.core.unit_snapshot import ResultLook, UnitSnapshot


class Gate(StrEnum):
    """What the units that name a result say of it: it is final, it is not yet, or nothing."""

    OPEN = "open"
    SHUT = "shut"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class LandingState:
    """What was seen of one result so far; as made, nothing yet."""

    looked: bool = False
    quiet: Quiet | None = None


def gate_of(units: Iterable[UnitSnapshot]) -> Gate:
    """Return what *units*, all that name one result, say of it together."""
    gates = {_gate(unit) for unit in units}
    return next((gate for gate in (Gate.SHUT, Gate.OPEN) if gate in gates), Gate.NONE)


def landed(
    state: LandingState, result: ResultLook, gate: Gate, now: Moment, window_s: float
) -> tuple[LandingState, bool]:
    """Return what was seen so far and whether the result has landed now."""
    quiet = quiet_after(state.quiet, result, now, first_look=not state.looked)
    if not state.looked or quiet is not state.quiet:
        state = LandingState(looked=True, quiet=quiet)
    match gate:
        case Gate.OPEN:
            return state, result.found is Document.PRESENT
        case Gate.SHUT:
            return state, False
        case Gate.NONE:
            return state, is_quiet(quiet, now, window_s)
        case _:
            assert_never(gate)


def resumed(state: LandingState, now: Moment) -> LandingState:
    """Return *state* after the watcher itself stood still: what was not watched was not quiet."""
    return replace(state, quiet=unwatched(state.quiet, now))


def _gate(unit: UnitSnapshot) -> Gate:
    if unit.outcome is not None:
        return Gate.OPEN
    if unit.place in NO_DIRECTORY or unit.older:
        return Gate.NONE
    return Gate.NONE if unit.owner is Life.DEAD else Gate.SHUT
