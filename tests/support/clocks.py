"""A clock that moves only when it is told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class ManualClock:
    """A clock whose sleeps pass at once; *slept* lists them in order."""

    def __init__(self, monotonic_s: float = 1000.0, utc: datetime = EPOCH) -> None:
        self._monotonic_s = monotonic_s
        self._utc = utc
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self._monotonic_s

    def utc(self) -> datetime:
        return self._utc

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(max(seconds, 0.0))

    def advance(self, seconds: float) -> None:
        """Let *seconds* pass on both clocks."""
        self._monotonic_s += seconds
        self._utc += timedelta(seconds=seconds)

    def step(self, seconds: float) -> None:
        """Set the time of day by *seconds*, as an administrator would; only the monotonic clock stays."""
        self._utc += timedelta(seconds=seconds)
