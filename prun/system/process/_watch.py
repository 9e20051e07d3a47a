"""Learning of a process's end where the system offers no handle to wait on."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform != "win32"

import select
import threading
from typing import TYPE_CHECKING

from prun.system.process._contract import Ended

if TYPE_CHECKING:
    from collections.abc import Callable

_STEP_S = 0.05


class ThreadWatch:
    """The end of a child, waited for by a thread, for kernels without pidfds."""

    def __init__(self, peek: Callable[[], Ended]) -> None:
        self._ended: Ended | None = None
        self._seen = threading.Event()
        threading.Thread(target=self._run, args=(peek,), daemon=True).start()

    def _run(self, peek: Callable[[], Ended]) -> None:
        self._ended = peek()
        self._seen.set()

    def wait(self, timeout_s: float) -> Ended | None:
        """Return how the child ended, or ``None`` after *timeout_s*."""
        self._seen.wait(max(timeout_s, 0.0))
        return self._ended

    def close(self) -> None:
        """Leave the thread to end with the child."""


class LookingWatch:
    """The end of a process that is nobody's to wait for, looked for twenty times a second."""

    def __init__(self, gone: Callable[[], bool]) -> None:
        self._gone = gone

    def wait(self, timeout_s: float) -> Ended | None:
        """Return that the process is gone, or ``None`` after *timeout_s*."""
        while not self._gone():
            if timeout_s <= 0:
                return None
            select.select((), (), (), min(_STEP_S, timeout_s))
            timeout_s -= _STEP_S
        return Ended()

    def close(self) -> None:
        """Give up nothing, for nothing is held."""
