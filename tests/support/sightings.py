"""What looks at a unit may find, as tests spell it; times count from one moment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prun.core.identity import Life
from prun.core.moment import Moment
from prun.core.outcome import Outcome
from prun.core.status import Status, Thresholds, WatchState, status_of
from prun.core.steps import LastStep
from prun.core.unit_snapshot import Document, FileLook, Found, ResultLook, Said, UnitSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

START = Moment(1000.0, 1_800_000_000.0)
THRESHOLDS = Thresholds(stall_s=600.0, tool_stall_s=600.0, stable_window_s=10.0)
IN_TOOL = Said(LastStep(4, "tool", "ACTIVE", "run_command", tool_open=True))
AFTER_TOOL = Said(LastStep(4, "tool", "DONE", "run_command", tool_open=False))


def at(seconds: float, *, stepped_s: float = 0.0) -> Moment:
    """Return the moment *seconds* after the start, with the time of day set by *stepped_s*."""
    return Moment(START.monotonic_s + seconds, START.utc_s + seconds + stepped_s)


def epoch(seconds: float) -> float:
    """Return the epoch seconds of that moment."""
    return START.utc_s + seconds


def grown(size_bytes: int = 10, written: float = 0.0) -> FileLook:
    """Return a look at a file of *size_bytes*, last written at *written*."""
    return FileLook(Found.REGULAR, size_bytes, epoch(written))


def result(written: float = 0.0, *, fallback: bool = False, inode: int = 1, size: int = 90) -> ResultLook:
    """Return a look at a result that says something, last written at *written*."""
    stamp = (1, inode, size, int(written * 1e9))
    return ResultLook(Document.PRESENT, stamp, epoch(written), fallback)


def outcome(verdict: str = "completed", kind: str = "ok", reason: str = "why") -> Outcome:
    """Return an outcome."""
    return Outcome(
        unit="u1",
        attempt=1,
        verdict=verdict,
        kind=kind,
        reason=reason,
        exit_code=0,
        result_path="/r/u1.md",
        result_author="response",
        model="m",
        tree="gone",
        started_at="",
        ended_at="",
        duration_s=1.0,
    )


RUNNING = UnitSnapshot(
    Found.REGULAR, place_mtime_s=epoch(0), owner=Life.ALIVE, tail=grown(), timestamp_s=epoch(0)
)
SILENT = replace(RUNNING, tail=grown(0))
OLDER = replace(RUNNING, older=True, owner=Life.UNKNOWN)


def walk(
    looks: Iterable[tuple[float, UnitSnapshot]],
    thresholds: Thresholds = THRESHOLDS,
    state: WatchState | None = None,
    **options: Any,
) -> list[Status]:
    """Return the statuses that *looks* (seconds, snapshot) give one after another."""
    state = WatchState() if state is None else state
    statuses = []
    for seconds, snapshot in looks:
        state, status = status_of(state, snapshot, at(seconds), thresholds, **options)
        statuses.append(status)
    return statuses


def words(
    *looks: tuple[float, UnitSnapshot], thresholds: Thresholds = THRESHOLDS, state: WatchState | None = None
) -> list[str]:
    """Return the statuses that *looks* give, as they are printed."""
    return [status.word for status in walk(looks, thresholds, state)]
