"""Collecting results: each is told as it lands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.claims import speaks_for
from prun.core.errors import UsageError
from prun.core.landing import LandingState, gate_of, landed, resumed
from prun.core.lines import Landed
from prun.core.outcome import Verdict
from prun.core.plain import visible
from prun.flow.looking import look_until
from prun.flow.places import absolute, state_root
from prun.flow.units import Batch
from prun.system.file_looks import ResultFile
from prun.system.lives import Lives
from prun.system.reading import is_directory
from prun.system.result_index import units_by_result
from prun.system.state_dir import StateDir
from prun.system.unit_dirs import batch_state_roots, is_state_dir, unit_dirs
from prun.system.unit_look import UnitLook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prun.core.lines import GatherLines
    from prun.core.moment import Moment
    from prun.core.unit_snapshot import UnitSnapshot
    from prun.core.watch_settings import GatherArguments, GatherSettings
    from prun.system.clock import WatchClock

ALL_LANDED, OUT_OF_TIME, SOME_FAILED = 0, 2, 3


class Awaited:
    """One result that was asked for, and the units that name it; *sure* of those that the caller named."""

    def __init__(self, path: str, units: list[UnitLook], *, sure: bool) -> None:
        self.path = path
        self._file = ResultFile(path)
        self._units = units
        self._snapshots: list[UnitSnapshot] = []
        self._seen = LandingState()
        if not sure:
            result = self._file.look()
            self._units = [unit for unit in units if speaks_for(unit.look(), result)]

    def look(self, now: Moment, window_s: float, *, whole: bool) -> Landed | None:
        """Return what is told of the result if it has landed now."""
        # The outcome is written after the result, so it has to be read before it.
        if whole or any(unit.glance() for unit in self._units):
            self._snapshots = [unit.look() for unit in self._units]
        result = self._file.look()
        self._seen, has_landed = landed(self._seen, result, gate_of(self._snapshots), now, window_s)
        return Landed(self.path, result.fallback, self._kind_of_failure()) if has_landed else None

    def resume(self, now: Moment) -> None:
        """Let the file be quiet from *now* on only: its writer may have stood still as well."""
        self._seen = resumed(self._seen, now)

    def _kind_of_failure(self) -> str | None:
        outcomes = [unit.outcome for unit in self._snapshots if unit.outcome is not None]
        last = max(outcomes, key=lambda outcome: outcome.ended_at, default=None)
        return None if last is None or last.verdict == Verdict.COMPLETED else last.kind


class Collection:
    """The results that a caller named, looked at until all have landed; *tell* is given each that does."""

    def __init__(
        self,
        waiting: list[Awaited],
        batch: Batch | None,
        lives: Lives,
        window_s: float,
        tell: Callable[[Landed], None],
    ) -> None:
        self.waiting = waiting
        self.landed: list[Landed] = []
        self._batch = batch
        self._nameless: list[UnitLook] = []
        self._lives = lives
        self._window_s = window_s
        self._tell = tell
        self._join(whole=True)

    @property
    def unfinished(self) -> int:
        """How many results have not landed."""
        return len(self.waiting)

    def take(self, now: Moment, *, whole: bool) -> bool | None:
        """Look at what has not landed; return ``True`` when all has."""
        self._join(whole=whole)
        waiting, self.waiting = self.waiting, []
        for awaited in waiting:
            result = awaited.look(now, self._window_s, whole=whole)
            if result is None:
                self.waiting.append(awaited)
            else:
                self.landed.append(result)
                self._tell(result)
        return True if self.landed and not self.waiting else None

    def resume(self, now: Moment) -> None:
        """Count nothing from before *now*, since nobody looked."""
        for awaited in self.waiting:
            awaited.resume(now)

    def _join(self, *, whole: bool) -> None:
        if self._batch is None:
            return
        new = [UnitLook(state, self._lives) for state in self._batch.appeared(whole=whole)]
        units, self._nameless = [*self._nameless, *new], []
        for unit in units:
            path = unit.look().result_path
            if path is None:  # an older tool's directory fills up file by file
                self._nameless.append(unit)
            else:
                self.waiting.append(Awaited(path, [unit], sure=True))


def gather(
    arguments: GatherArguments,
    settings: GatherSettings,
    env: Mapping[str, str],
    cwd: Path,
    *,
    clock: WatchClock,
    lines: GatherLines,
    say: Callable[[str], None],
) -> int:
    """Return the exit status of collecting what *arguments* name from *cwd*; *say* is given the lines.

    Raises ``UsageError`` where that is no result, no unit or no batch.
    """

    def tell(told: Iterable[str]) -> None:
        for line in told:
            say(line)

    lives = Lives(clock)
    batch = None if arguments.batch is None else Batch(cwd, arguments.batch)
    named = results_of(arguments, settings, env, cwd, lives)
    looks = Collection(named, batch, lives, settings.stable_s, lambda result: tell(lines.landed(result)))
    tell(lines.start(looks.unfinished, settings.timeout_s))
    if look_until(looks, clock, settings.poll_s, settings.timeout_s) is None:
        tell(lines.timeout([awaited.path for awaited in looks.waiting]))
        return OUT_OF_TIME
    failed = any(result.fallback or result.kind is not None for result in looks.landed)
    return SOME_FAILED if failed and arguments.strict else ALL_LANDED


def results_of(
    arguments: GatherArguments, settings: GatherSettings, env: Mapping[str, str], cwd: Path, lives: Lives
) -> list[Awaited]:
    """Return the results that *arguments* name, one for each, and the units that name them too.

    Raises ``UsageError`` for a directory that is no unit's, or whose unit tells no result.
    """
    named = [_named(Path(absolute(cwd, path)), lives) for path in arguments.paths]
    files = {path for path, unit in named if unit is None}
    index = units_by_result(_units_here(settings, env, cwd), files) if files else {}
    looks = {path: [UnitLook(state, lives) for state in states] for path, states in index.items()}
    return [
        Awaited(path, looks[path], sure=False) if unit is None else Awaited(path, [unit], sure=True)
        for path, unit in named
    ]


def _named(path: Path, lives: Lives) -> tuple[str, UnitLook | None]:
    if not is_directory(path):
        return str(path), None
    state = StateDir(path)
    if not is_state_dir(state):
        raise UsageError(
            f"{visible(str(path))} is a directory, but not a unit's: name a result file or a state directory"
        )
    unit = UnitLook(state, lives)
    result = unit.look().result_path
    if result is None:
        raise UsageError(
            f"{visible(str(path))} does not tell where its result goes; name the result file itself"
        )
    return result, unit


def _units_here(settings: GatherSettings, env: Mapping[str, str], cwd: Path) -> Iterable[StateDir]:
    for place in (state_root(cwd, settings.state_root, env), *batch_state_roots(cwd)):
        yield from unit_dirs(place)
