"""Every wait of the fake: bounded, woken by a request to end, and cut by the print timeout."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from fake_agy.ends import PrintTimeoutError, TurnInterruptedError
from fake_agy.platforms import WINDOWS, stop_signals

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SLICE_S = 0.05 if WINDOWS else 1.0
_POLL_S = 0.01


class Waiter:
    """Waits; a stop signal that arrives outside a wait is heard at the next one or at the next check."""

    def __init__(self) -> None:
        """Hear no signal yet and know no deadline."""
        self.deadline: float | None = None
        self._pending = False
        self._waiting = False

    def install(self) -> None:
        """Hear the signals that ask a process to end; one that the caller ignores stays ignored."""
        for number in stop_signals():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._heard)

    def ignore(self) -> None:
        """Hear no request to end any more."""
        for number in stop_signals():
            signal.signal(number, signal.SIG_IGN)

    def limit(self, seconds: float | None) -> None:
        """Let the print timeout pass in *seconds* from now; ``None`` is no limit."""
        self.deadline = None if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        """Raise what has happened meanwhile: an interruption first, then the print timeout."""
        if self._pending:
            raise TurnInterruptedError
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise PrintTimeoutError

    def sleep(self, seconds: float) -> None:
        """Let *seconds* pass, or less: an interruption or the print timeout ends it."""
        self.until(lambda: False, seconds, slice_s=_SLICE_S)

    def for_file(self, path: Path, seconds: float) -> bool:
        """Return whether *path* exists, waiting at most *seconds* for it."""
        return self.until(path.exists, seconds, slice_s=_POLL_S)

    def until(self, happened: Callable[[], bool], seconds: float, *, slice_s: float = _POLL_S) -> bool:
        """Return whether *happened* came true within *seconds*."""
        end = time.monotonic() + seconds
        while not happened():
            self.check()
            left = end - time.monotonic()
            if left <= 0:
                return False
            if self.deadline is not None:
                left = min(left, self.deadline - time.monotonic())
            self._pause(max(min(left, slice_s), 0))
        return True

    def hang(self, seconds: float) -> None:
        """Let *seconds* pass whatever the print timeout says; only an interruption ends it."""
        self.deadline = None
        self.sleep(seconds)

    def interruptible(self, work: Callable[[], bytes | None]) -> bytes | None:
        """Return what *work*, a call that blocks, returns; a stop signal meanwhile raises."""
        self._waiting = True
        try:
            if self._pending:
                raise TurnInterruptedError
            return work()
        finally:
            self._waiting = False

    def _pause(self, seconds: float) -> None:
        self.interruptible(lambda: time.sleep(seconds))

    def _heard(self, _number: int, _frame: object) -> None:
        self._pending = True
        if self._waiting:
            raise TurnInterruptedError
