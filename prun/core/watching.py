"""What wakes whoever watches many units, and how often they are looked at."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from prun.core.unit_status import Done, Failed, Stalled

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from prun.core.moment import Moment
    from prun.core.unit_status import Status

PACE_S = 0.25
PACED_UNITS = 1000
_BUSY_SHARE = 0.1
_POLLS_MISSED = 3


class Event(StrEnum):
    """Why monitor completes, as it prints that."""

    ALL_DONE = "all-done"
    STALL = "stall"
    FAIL = "fail"
    TIMEOUT = "timeout"
    USAGE_ERROR = "usage-error"


_EXIT_STATUS = {
    Event.ALL_DONE: 0,
    Event.STALL: 3,
    Event.FAIL: 3,
    Event.TIMEOUT: 2,
    Event.USAGE_ERROR: 2,
}


def event_of(
    units: Iterable[tuple[str, Status]], excepted: Container[str], *, until_all: bool = False
) -> Event | None:
    """Return what the statuses of *units* (name, status) amount to, ``None`` while there is nothing to tell.

    Units named in *excepted* count for nothing. With *until_all* nothing is told before all have ended.
    """
    statuses = [status for name, status in units if name not in excepted]
    if until_all and not all(status.terminal for status in statuses):
        return None
    if any(isinstance(status, Failed) for status in statuses):
        return Event.FAIL
    if any(isinstance(status, Stalled) for status in statuses):
        return Event.STALL
    return Event.ALL_DONE if all(isinstance(status, Done) for status in statuses) else None


def exit_status(event: Event) -> int:
    """Return monitor's exit status for *event*."""
    return _EXIT_STATUS[event]


def suspended(before: Moment, now: Moment, poll_s: float) -> bool:
    """Return whether the watcher stood still between two looks: for over three polls, by either clock."""
    gap_s = max(now.monotonic_s - before.monotonic_s, now.utc_s - before.utc_s)
    return gap_s > _POLLS_MISSED * poll_s


def pause_s(unfinished: int, cost_s: float, poll_s: float) -> float:
    """Return how long to wait between two looks at *unfinished* units that cost *cost_s* of CPU time each.

    Four looks a second up to 1,000 units, fewer above, a tenth of a core at most; never longer than *poll_s*.
    """
    pace_s = PACE_S * max(1.0, unfinished / PACED_UNITS)
    return min(poll_s, max(pace_s, cost_s / _BUSY_SHARE - cost_s))
