"""One moment by both clocks, as whoever watches reads them."""

from __future__ import annotations

from prun.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Moment:
    """Monotonic seconds, which measure, and the time of day in epoch seconds, which files carry."""

    monotonic_s: float
    utc_s: float


def age_s(written_s: float, now: Moment) -> float:
    """Return how long before *now* something was written at *written_s*; from a future time on, 0."""
    return max(0.0, now.utc_s - written_s)
