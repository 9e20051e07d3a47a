"""The demo: a few units at once, watched and collected as a coordinator does it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.demonstration import REAL, REHEARSAL, Ended, complaint, rehearsal_env, row, table
from prun.core.errors import PrunError
from prun.core.lines import GatherText, MonitorText
from prun.core.outcome import Verdict
from prun.core.records import decode_outcome
from prun.core.values import dataclass, replace
from prun.core.watch_settings import (
    GatherArguments,
    MonitorArguments,
    Until,
    read_gather_settings,
    read_monitor_settings,
)
from prun.flow.collecting import gather
from prun.flow.watching import watch
from prun.system.children import Child
from prun.system.programs import Finished, NotStarted, run_program
from prun.system.reading import Contents, read_bounded
from prun.system.state_dir import StateDir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prun.core.demonstration import Case
    from prun.system.clock import SystemClock

AS_PROMISED, NOT_AS_PROMISED = 0, 1
PATIENCE_S = 120.0
REAL_PATIENCE_S = 900.0
FAKE_PATIENCE_S = 60.0
LANDING_S = 10.0
EXIT_S = 10.0
OUTCOME_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a demo plays: a directory of its own, the time, and where its lines go."""

    base: Path
    clock: SystemClock
    say: Callable[[str], None]

    def indented(self, line: str) -> None:
        """Say a line of another door's."""
        self.say(f"    {line}")

    def fake(self, env: Mapping[str, str], *words: str) -> None:
        """Run the stand-in's own command; it is a program to prun, not a module."""
        command = [sys.executable, "-P", "-m", "fake_agy", *words]
        ran = run_program(command, env, self.base, FAKE_PATIENCE_S, self.clock)
        if isinstance(ran, Finished) and ran.code == 0:
            return
        why = ran.reason if isinstance(ran, NotStarted) else ran.stderr.decode("utf-8", "replace")
        last_line = why.strip().rpartition("\n")[2]
        raise PrunError(f"can't set up the stand-in for agy in {self.base}: {last_line}")


@dataclass(frozen=True, slots=True)
class Dispatched:
    """One unit of the demo whose dispatcher runs; *state* is ``None`` where that made no state directory."""

    case: Case
    child: Child
    state: StateDir | None


def rehearse(stage: Stage, env: Mapping[str, str]) -> int:
    """Return the exit status of six units against the stand-in; no account, no network."""
    stage.say(f"{len(REHEARSAL)} units at once against the embedded stand-in for agy\n")
    stage.fake(env, "install", str(stage.base / "bin"))
    for case in REHEARSAL:
        stage.fake(env, "init", str(stage.base / "accounts" / case.unit), "--scenario", case.scenario)
    agy = str(stage.base / "bin" / ("agy.exe" if sys.platform == "win32" else "agy"))
    envs = [rehearsal_env(env, str(stage.base), case, agy) for case in REHEARSAL]
    return _run(stage, REHEARSAL, envs, "accept-edits", PATIENCE_S)


def perform(stage: Stage, env: Mapping[str, str]) -> int:
    """Return the exit status of three harmless units against the real agy, in plan mode."""
    stage.say(f"{len(REAL)} small units at once against agy, in plan mode; they use a little quota\n")
    limits = {
        "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": str(REAL[0].timeout_s),
        "PRUN_STATE_ROOT": str(stage.base / "state"),
    }
    return _run(stage, REAL, [{**env, **limits} for _ in REAL], "plan", REAL_PATIENCE_S)


def _run(
    stage: Stage, cases: tuple[Case, ...], envs: list[dict[str, str]], mode: str, patience_s: float
) -> int:
    for name in ("printed", "prompts", "results", "state"):
        (stage.base / name).mkdir()
    children = [_start(stage, case, env, mode) for case, env in zip(cases, envs, strict=True)]
    running = [_told(case, child) for case, child in zip(cases, children, strict=True)]
    units = [each for each in running if each.state is not None]
    if units:
        _watch(stage, units, patience_s)
        _collect(stage, units)
    ended = [_finish(stage, each) for each in running]
    stage.say(table([row(each) for each in ended]))
    stage.say(f"\nlook under {stage.base} (yours to delete)")
    complaints = [text for text in map(complaint, ended) if text is not None]
    for text in complaints:
        stage.say(f"not as expected: {text}")
    if complaints:
        return NOT_AS_PROMISED
    stage.say(f"{len(ended)} of {len(cases)} units accounted for, each as expected.")
    return AS_PROMISED


def _result_of(stage: Stage, case: Case) -> Path:
    return stage.base / "results" / f"{case.unit}.md"


def _start(stage: Stage, case: Case, env: Mapping[str, str], mode: str) -> Child:
    prompt = stage.base / "prompts" / f"{case.unit}.md"
    prompt.write_text(f"{case.prompt}\n", encoding="utf-8")
    words = ["prun.dispatch", "--unit-id", case.unit, "--mode", mode]
    words += ["--prompt-file", str(prompt), "--result-file", str(_result_of(stage, case))]
    return Child(words, env, stage.base, stage.base / "printed" / f"{case.unit}.err")


def _told(case: Case, child: Child) -> Dispatched:
    word, _, path = child.first_line().partition(" ")
    return Dispatched(case, child, StateDir(Path(path)) if word == "STATE-DIR" else None)


def _watch(stage: Stage, units: list[Dispatched], patience_s: float) -> None:
    stage.say("prun monitor --until all STATE_DIR...")
    arguments = MonitorArguments(
        state_dirs=tuple(str(each.state.root) for each in units if each.state is not None),
        batch=None,
        excepted=(),
        fresh=False,
        until=Until.ALL,
        follow=False,
        json=False,
    )
    settings = replace(read_monitor_settings({}), timeout_s=patience_s)
    watch(arguments, settings, stage.base, clock=stage.clock, lines=MonitorText(), say=stage.indented)


def _collect(stage: Stage, units: list[Dispatched]) -> None:
    stage.say("\nprun gather RESULT_FILE...")
    results = tuple(str(_result_of(stage, each.case)) for each in units)
    arguments = GatherArguments(results, batch=None, strict=False, json=False)
    root = str(stage.base / "state")
    settings = replace(read_gather_settings({}), timeout_s=LANDING_S, state_root=root)
    gather(arguments, settings, {}, stage.base, clock=stage.clock, lines=GatherText(), say=stage.indented)
    stage.say("")


def _finish(stage: Stage, unit: Dispatched) -> Ended:
    exit_code = unit.child.end(EXIT_S)
    last_words = unit.child.last_words()
    if unit.state is None:
        return Ended(unit.case, exit_code, last_words)
    found = read_bounded(unit.state.outcome, OUTCOME_BYTES)
    outcome = decode_outcome(found.data) if isinstance(found, Contents) else None
    completed = outcome is not None and outcome.verdict == Verdict.COMPLETED
    place = _result_of(stage, unit.case) if completed else unit.state.root
    return Ended(unit.case, exit_code, last_words, outcome, os.path.relpath(place, stage.base))
