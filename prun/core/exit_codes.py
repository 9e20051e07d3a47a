"""The exit statuses of ``prun dispatch`` and how a worker's own status becomes one of them."""

from __future__ import annotations

from enum import IntEnum

SIGNAL_BASE = 128


class ExitCode(IntEnum):
    """The exit statuses that have a meaning of prun's own."""

    OK = 0
    USAGE = 2
    FAILED = 70
    BLOCKED = 75
    TIMEOUT = 124
    HANGUP = 129
    INTERRUPTED = 130
    TERMINATED = 143


_OWN = frozenset(int(code) for code in ExitCode)


def of_worker(status: int) -> int:
    """Return the exit status that reports a worker's *status*; one that prun uses itself becomes 70."""
    return int(ExitCode.FAILED) if status in _OWN else status


def of_signal(number: int) -> int:
    """Return the shell's status for a death by signal *number*."""
    return SIGNAL_BASE + number
