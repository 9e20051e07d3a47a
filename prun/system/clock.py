"""Time as a thing that is passed in: the only module that reads a clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where a flow learns the time and how it lets time pass."""

    def monotonic(self) -> float:
        """Return seconds that never go back; only differences within one boot mean something."""

    def utc(self) -> datetime:
        """Return this moment, aware, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Return after *seconds*; a number that is not positive returns at once."""


class WatchClock(Clock, Protocol):
    """A clock that also tells what the watching itself costs."""

    def cpu(self) -> float:
        """Return the seconds of processor time that this process has used so far."""


class SystemClock:
    """The clocks of this machine."""

    def monotonic(self) -> float:
        """Return the system's monotonic seconds; on Linux and macOS a suspend stops them."""
        return time.monotonic()

    def utc(self) -> datetime:
        """Return this moment, aware, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Return after *seconds*; a number that is not positive returns at once."""
        if seconds > 0:
            time.sleep(seconds)

    def cpu(self) -> float:
        """Return the seconds of processor time that this process has used so far."""
        return time.process_time()
