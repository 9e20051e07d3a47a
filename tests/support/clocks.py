"""A clock that moves only when it is told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

EPOCH = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class ManualClock:
    """A clock whose sleeps pass at once; *slept* lists them in order.

    *used_s* is the processor time that it tells.
    """

    def __init__(self, monotonic_s: float = 1000.0, utc: datetime = EPOCH) -> None:
        self._monotonic_s = monotonic_s
        self._utc = utc
        self.slept: list[float] = []
        self.used_s = 0.0

    def monotonic(self) -> float:
        return self._monotonic_s

    def utc(self) -> datetime:
        return self._utc

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(max(seconds, 0.0))

    def cpu(self) -> float:
        return self.used_s

    def advance(self, seconds: float) -> None:
        """Let *seconds* pass on both clocks."""
        self._monotonic_s += seconds
        self._utc += timedelta(seconds=seconds)

    def step(self, seconds: float) -> None:
        """Set the time of day by *seconds*, as an administrator would; only the monotonic clock stays."""
        self._utc += timedelta(seconds=seconds)


class StagedClock(ManualClock):
    """A clock at whose moments things happen: each is given as seconds from its beginning, and a deed."""

    def __init__(self, *deeds: tuple[float, Callable[[], object]]) -> None:
        super().__init__()
        self.began_s = self.monotonic()
        self.deeds = list(deeds)

    @property
    def passed_s(self) -> float:
        return self.monotonic() - self.began_s

    def at(self, at_s: float, deed: Callable[[], object]) -> None:
        self.deeds.append((at_s, deed))
        self.deeds.sort(key=lambda each: each[0])

    def sleep(self, seconds: float) -> None:
        end_s = self.passed_s + seconds
        while self.deeds and self.deeds[0][0] <= end_s:
            at_s, deed = self.deeds.pop(0)
            self.advance(max(0.0, at_s - self.passed_s))
            deed()
        self.advance(max(0.0, end_s - self.passed_s))
