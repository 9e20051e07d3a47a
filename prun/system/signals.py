"""The signals that ask a dispatcher to stop, received as a value to be looked at."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Self

_ASKING = ("SIGHUP", "SIGINT", "SIGTERM", "SIGBREAK")


class Signals:
    """The first signal that asked this process to stop, while the context is open.

    A SIGHUP that the caller ignores stays ignored. Only the main thread can receive signals: elsewhere
    the context receives none.
    """

    def __init__(self) -> None:
        self._received: int | None = None
        self._exit_code: int | None = None
        self._before: dict[int, object] = {}

    @property
    def received(self) -> int | None:
        """The number of the first signal received, ``None`` while there was none."""
        return self._received

    def __enter__(self) -> Self:
        """Start to receive."""
        if threading.current_thread() is not threading.main_thread():
            return self
        for name in _ASKING:
            number = getattr(signal, name, None)
            if number is None or (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
                continue
            self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put the handlers back that stood before; at the end of a program let signals do nothing more."""
        for number, handler in self._before.items():
            # Python would put the system's own way back before it exits: to die of the signal.
            after = handler if self._exit_code is None else signal.SIG_IGN
            signal.signal(number, after)  # type: ignore[arg-type]  # what signal.signal itself returned
        self._before.clear()

    def exit_at_once(self, code: int) -> None:
        """From now on let a signal end the process with *code*: what it is about is on record already."""
        self._exit_code = code

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self._exit_code is not None:
            os._exit(self._exit_code)
        if self._received is None:
            self._received = number
