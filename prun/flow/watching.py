"""Watching units until one is worth acting on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.status import (
    Stalled,
    Thresholds,
    WatchState,
    idle_s,
    refreshed,
    resumed,
    status_of,
    wants_tail,
)
from prun.core.unit_report import UnitReport
from prun.core.values import replace
from prun.core.watch_settings import Until
from prun.core.watching import Event, event_of
from prun.flow.looking import look_until
from prun.flow.units import Batch, is_named, name_of, named_units
from prun.system.lives import Lives
from prun.system.unit_look import UnitLook, moment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prun.core.lines import MonitorLines
    from prun.core.moment import Moment
    from prun.core.status import Status
    from prun.core.unit_snapshot import UnitSnapshot
    from prun.core.watch_settings import MonitorArguments, MonitorSettings
    from prun.system.clock import WatchClock
    from prun.system.state_dir import StateDir


class Unit:
    """One unit under watch: what was seen of it so far, the first look included, and how it stands."""

    def __init__(
        self, state: StateDir, lives: Lives, thresholds: Thresholds, now: Moment, *, fresh: bool
    ) -> None:
        self.path = str(state.root)
        self._name = name_of(state)
        self._look = UnitLook(state, lives)
        self._thresholds = thresholds
        self._seen = refreshed(WatchState(), now) if fresh else WatchState()
        self._snapshot, self.status = self._judged(now)

    @property
    def over(self) -> bool:
        """Whether it can't change any more: an outcome is written once."""
        return self._snapshot.outcome is not None

    def may_have_ended(self) -> bool:
        """Return whether an outcome is there, by one stat."""
        return self._look.glance()

    def look(self, now: Moment) -> bool:
        """Look at all of it and return whether its status is another than before."""
        before = self.status
        self._snapshot, self.status = self._judged(now)
        return _told(before) != _told(self.status)

    def resume(self, now: Moment) -> None:
        """Count nothing from before *now*, since nobody looked."""
        self._seen = resumed(self._seen, now)

    def report(self, now: Moment, *, whole: bool) -> UnitReport:
        """Return how it stands; where *whole*, with what the end of its tail says."""
        snapshot = self._snapshot
        if whole and snapshot.said is None:
            snapshot = replace(snapshot, said=self._look.look(tail=True).said)
        return UnitReport(self._name, self.path, self.status, snapshot, idle_s(self._seen, now))

    def _judged(self, now: Moment) -> tuple[UnitSnapshot, Status]:
        snapshot = self._look.look()
        self._seen, status = status_of(self._seen, snapshot, now, self._thresholds)
        if wants_tail(self._seen, snapshot, now, self._thresholds):
            snapshot = self._look.look(tail=True)
            self._seen, status = status_of(self._seen, snapshot, now, self._thresholds)
        return snapshot, status


def _told(status: Status) -> object:
    # A stall that goes on is no news every second.
    return Stalled if isinstance(status, Stalled) else status.word


class Watch:
    """The units that a caller named, looked at again and again; *changed* is told of each new status."""

    def __init__(
        self,
        arguments: MonitorArguments,
        thresholds: Thresholds,
        cwd: Path,
        clock: WatchClock,
        changed: Callable[[Unit, Moment], None],
    ) -> None:
        self._arguments = arguments
        self._thresholds = thresholds
        self._cwd = cwd
        self._changed = changed
        self._lives = Lives(clock)
        self._batch = None if arguments.batch is None else Batch(cwd, arguments.batch)
        self._new = [*named_units(cwd, arguments.state_dirs), *self._appeared(whole=True)]
        self._excepted: set[str] = set()
        self.units: list[Unit] = []

    @property
    def known(self) -> int:
        """How many units there are so far."""
        return len(self.units) + len(self._new)

    @property
    def unfinished(self) -> int:
        """How many units are still to be looked at."""
        return sum(not unit.over for unit in self.units)

    def take(self, now: Moment, *, whole: bool) -> Event | None:
        """Look at every unit where *whole*, else at those that may have ended; return what is to be told."""
        self._look(now, whole=whole)
        event = self._event()
        if event is None or whole:
            return event
        # One look at all: what is told of the others shall not be older than the event.
        self._look(now, whole=True)
        return self._event()

    def resume(self, now: Moment) -> None:
        """Count nothing from before *now*, since nobody looked."""
        for unit in self.units:
            unit.resume(now)

    def _look(self, now: Moment, *, whole: bool) -> None:
        for unit in self.units:
            if not unit.over and (whole or unit.may_have_ended()) and unit.look(now):
                self._changed(unit, now)
        self._new += self._appeared(whole=whole)
        for state in self._new:
            unit = Unit(state, self._lives, self._thresholds, now, fresh=self._arguments.fresh)
            self.units.append(unit)
            if is_named(state, self._arguments.excepted, self._cwd):
                self._excepted.add(unit.path)
            self._changed(unit, now)
        self._new = []

    def _appeared(self, *, whole: bool) -> list[StateDir]:
        return [] if self._batch is None else self._batch.appeared(whole=whole)

    def _event(self) -> Event | None:
        if not self.units:
            return None
        statuses = [(unit.path, unit.status) for unit in self.units]
        return event_of(statuses, self._excepted, until_all=self._arguments.until is Until.ALL)


def watch(
    arguments: MonitorArguments,
    settings: MonitorSettings,
    cwd: Path,
    *,
    clock: WatchClock,
    lines: MonitorLines,
    say: Callable[[str], None],
) -> Event:
    """Return what ended the watch of the units that *arguments* name from *cwd*; *say* is given the lines.

    Raises ``UsageError`` where there is no such batch.
    """

    def tell(unit: Unit, now: Moment) -> None:
        say(lines.unit(unit.report(now, whole=arguments.json)))

    def tell_change(unit: Unit, now: Moment) -> None:
        if arguments.follow:
            tell(unit, now)

    thresholds = Thresholds(settings.stall_s, settings.tool_stall_s, settings.stable_s)
    looks = Watch(arguments, thresholds, cwd, clock, tell_change)
    say(lines.start(looks.known, settings.stall_s, settings.timeout_s))
    event = look_until(looks, clock, settings.poll_s, settings.timeout_s) or Event.TIMEOUT
    say(lines.event(event))
    now = moment(clock)
    for unit in looks.units:
        tell(unit, now)
    return event
