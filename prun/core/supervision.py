"""What to do with a running worker: wait on, or end it and why."""

from __future__ import annotations

from typing import TypeAlias

from prun.core.ending import ReapReason
from prun.core.values import dataclass, replace

LINGER_S = 30.0
QUOTA_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one run, in seconds since launch; *idle_s* is ``None`` where no stall is to be reaped.

    *quota_patience_s* is the time in which agy may still end by itself after its log told of a quota stop.
    """

    deadline_s: float
    idle_s: float | None
    linger_s: float = LINGER_S
    quota_patience_s: float = QUOTA_PATIENCE_S


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a running worker; *at_s* is monotonic seconds since its launch.

    *grew* tells of new bytes in tail, stderr or log, *spoke* of new bytes in tail alone, *quota_stop* of a
    new line in the log that tells of one; *result_stands* while a result is the last event.
    """

    at_s: float
    grew: bool
    spoke: bool
    result_stands: bool
    quota_stop: bool
    cancel_asked: bool
    signal: int | None


@dataclass(frozen=True, slots=True)
class Progress:
    """What earlier looks leave behind: when output last grew, and since when a quota stop stands."""

    grew_at_s: float = 0.0
    stopped_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do yet."""


@dataclass(frozen=True, slots=True)
class Reap:
    """End the worker's tree."""

    why: ReapReason


Decision: TypeAlias = Wait | Reap


def _after(progress: Progress, look: Look) -> Progress:
    if look.grew:
        progress = replace(progress, grew_at_s=look.at_s)
    if look.quota_stop:
        since_s = progress.stopped_at_s
        return replace(progress, stopped_at_s=look.at_s if since_s is None or look.spoke else since_s)
    # Output after a stop means that agy got through.
    return replace(progress, stopped_at_s=None) if look.spoke else progress


def _reason(progress: Progress, look: Look, limits: Limits) -> ReapReason | None:
    quiet_s = look.at_s - progress.grew_at_s
    if look.signal is not None:
        return ReapReason.INTERRUPTED
    if look.cancel_asked:
        return ReapReason.CANCELLED
    late = look.at_s >= limits.deadline_s
    if look.result_stands:
        return ReapReason.LINGERING if late or quiet_s >= limits.linger_s else None
    stopped = progress.stopped_at_s
    if stopped is not None and look.at_s - stopped >= limits.quota_patience_s:
        return ReapReason.QUOTA
    if late:
        return ReapReason.DEADLINE
    stalled = limits.idle_s is not None and quiet_s >= limits.idle_s
    return ReapReason.STALLED if stalled else None


def outdone(why: ReapReason, *, result_stands: bool) -> ReapReason:
    """Return the reason that holds once all is read that came before the first signal.

    A result that came in the last moment outdoes any clock; the caller's own wish it does not.
    """
    wished = why in {ReapReason.INTERRUPTED, ReapReason.CANCELLED}
    return ReapReason.LINGERING if result_stands and not wished else why


def supervise(progress: Progress, look: Look, limits: Limits) -> tuple[Progress, Decision]:
    """Return the progress after *look* and what to do now; the caller's own wish outranks any clock."""
    progress = _after(progress, look)
    why = _reason(progress, look, limits)
    return progress, Wait() if why is None else Reap(why)
