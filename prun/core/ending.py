"""How a worker's process ended, each way a type of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from prun.core.values import dataclass


class ReapReason(StrEnum):
    """Why prun ended a worker before the worker ended itself."""

    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    STALLED = "stalled"
    QUOTA = "quota"
    LINGERING = "lingering"


@dataclass(frozen=True, slots=True)
class NotLaunched:
    """Preflight or routing ended the unit before a worker was started."""

    reason: str
    timed_out: bool = False
    blocked: bool = False


@dataclass(frozen=True, slots=True)
class LaunchFailed:
    """The worker's program could not be started."""

    reason: str


@dataclass(frozen=True, slots=True)
class Exited:
    """The worker exited by itself."""

    code: int


@dataclass(frozen=True, slots=True)
class Signalled:
    """The worker died of a signal that prun did not send."""

    number: int


@dataclass(frozen=True, slots=True)
class Reaped:
    """Prun ended the worker; what it printed and how it exited after that is no evidence.

    *signal* is the one the dispatcher received where *why* is ``INTERRUPTED``; *code* and *died_of*
    are how the worker then ended, as far as that is known.
    """

    why: ReapReason
    after_s: float
    signal: int | None = None
    code: int | None = None
    died_of: int | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """The worker is gone and nobody saw how: its dispatcher had died."""


Ending: TypeAlias = NotLaunched | LaunchFailed | Exited | Signalled | Reaped | Unknown
