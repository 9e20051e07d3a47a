"""Whether owners and workers live, asked of the system no oftener than need be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.identity import Life, Presence
from prun.core.legacy import life_by_pid
from prun.system import process

if TYPE_CHECKING:
    from collections.abc import Callable

    from prun.core.identity import Identity
    from prun.system.clock import Clock

LOOK_S = 2.0
_SPACING_S = 0.0005  # between two of very many, so that they too cost little


class Watched:
    """One process whose life is asked for again and again; one that is dead stays so."""

    __slots__ = ("_ask", "_due_s", "_life", "_lives")

    def __init__(self, lives: Lives, ask: Callable[[], Life]) -> None:
        self._lives = lives
        self._ask = ask
        self._due_s = float("-inf")
        self._life = Life.UNKNOWN

    def life(self) -> Life:
        """Return what is known of it, at most a few seconds old."""
        if self._life is not Life.DEAD:
            now_s = self._lives.now_s()
            if now_s >= self._due_s:
                self._due_s = now_s + self._lives.spacing_s
                self._life = self._ask()
        return self._life


class Lives:
    """The processes that the units of one watch belong to, each asked for once however many units it has."""

    def __init__(self, clock: Clock) -> None:
        self.now_s = clock.monotonic
        self._watched: dict[Identity | tuple[int, float | None], Watched] = {}

    @property
    def spacing_s(self) -> float:
        """The time between two looks at one process: two seconds, longer where there are thousands."""
        return max(LOOK_S, _SPACING_S * len(self._watched))

    def of(self, identity: Identity) -> Watched:
        """Return the process *identity*, the same for all who ask."""
        return self._of(identity, lambda: process.life_of(identity))

    def of_pid(self, pid: int, timestamp_s: float | None) -> Watched:
        """Return the dispatcher of an older tool that had *pid* at *timestamp_s*."""
        return self._of((pid, timestamp_s), lambda: _life_of_pid(pid, timestamp_s))

    def _of(self, key: Identity | tuple[int, float | None], ask: Callable[[], Life]) -> Watched:
        watched = self._watched.get(key)
        if watched is None:
            watched = self._watched[key] = Watched(self, ask)
        return watched


def _life_of_pid(pid: int, timestamp_s: float | None) -> Life:
    presence = process.sight(pid).presence
    started_s = _started_s(pid) if presence is Presence.RUNNING and timestamp_s is not None else None
    return life_by_pid(presence, started_s, timestamp_s)


def _started_s(pid: int) -> float | None:
    """Return when *pid* started by the time of day, ``None`` where that can't be told."""
    from psutil import Error, Process

    try:
        return Process(pid).create_time()
    except (Error, OSError, ValueError, OverflowError):
        return None
