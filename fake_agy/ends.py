"""The ways in which a step, or something from outside, ends a turn or the whole process."""

from __future__ import annotations


class TurnEndError(Exception):
    """A step ends the turn: its result is shown."""


class ProgramEndError(Exception):
    """A step ends the whole process with *code*."""

    def __init__(self, code: int) -> None:
        """Keep the exit code."""
        super().__init__(code)
        self.code = code


class TurnInterruptedError(Exception):
    """The process was asked to end."""


class PrintTimeoutError(Exception):
    """The print timeout passed while a turn was in progress."""


class StoppedError(Exception):
    """The process was asked to end while it answered; the turn is closed."""
