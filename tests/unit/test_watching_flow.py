"""Watching real state directories by a clock that only this test moves: steps, suspensions, wrong times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prun.core.errors import UsageError
from prun.core.lines import MonitorJson, MonitorText
from prun.core.watch_settings import MonitorSettings, read_monitor_arguments
from prun.core.watching import Event
from prun.flow.watching import watch
from prun.system import process
from tests.support.clocks import StagedClock
from tests.support.processes import SLEEPS, stranger
from tests.support.units import FAILED, Made, make_unit, nobody

TICK_S = 1e-6


class Watched:
    """A watch that has ended: the event, the lines, and after how long it ended."""

    def __init__(self, event: Event, lines: list[str], passed_s: float) -> None:
        self.event = event
        self.lines = lines
        self.passed_s = passed_s

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    @property
    def statuses(self) -> list[str]:
        """How the units stood at the end."""
        at = next(i for i, line in enumerate(self.lines) if line.startswith("MONITOR-EVENT "))
        return [line.split(" ")[-1] for line in self.lines[at + 1 :]]


def watched(
    clock: StagedClock,
    *words: str,
    cwd: Path = Path("/"),
    stall_s: float = 600,
    tool_stall_s: float | None = None,
    poll_s: float = 15,
    timeout_s: float = 3600,
    stable_s: float = 10,
) -> Watched:
    arguments = read_monitor_arguments(words)
    assert not hasattr(arguments, "text")
    tool_s = stall_s if tool_stall_s is None else tool_stall_s
    settings = MonitorSettings(stall_s, tool_s, poll_s, timeout_s, stable_s)
    lines: list[str] = []
    shape = MonitorJson() if "--json" in words else MonitorText()
    event = watch(arguments, settings, cwd, clock=clock, lines=shape, say=lines.append)
    return Watched(event, lines, clock.passed_s)


@pytest.fixture
def clock() -> StagedClock:
    return StagedClock()


@pytest.fixture
def unit(tmp_path: Path, clock: StagedClock) -> Made:
    """Give a unit whose dispatcher lives and whose worker has just said something."""
    made = make_unit(tmp_path / "state", clock=clock)
    made.says(b"something\n")
    return made


def test_the_lines_come_in_their_order_and_in_that_of_the_arguments(
    tmp_path: Path, clock: StagedClock
) -> None:
    units = [make_unit(tmp_path / "state", name, clock=clock) for name in ("b", "a", "c")]
    for made in units:
        made.writes()
        made.ends()
    done = watched(clock, *(made.path for made in units), stall_s=0.5, timeout_s=60.25)
    assert done.lines == [
        "MONITOR-START units=3 stall-threshold=0.5s timeout=60.25s",
        "MONITOR-EVENT all-done",
        *(f"UNIT {made.name} done" for made in units),
    ]
    assert done.passed_s == 0


def test_an_outcome_wakes_within_a_quarter_of_a_second(unit: Made, clock: StagedClock) -> None:
    clock.at(100.1, unit.ends)
    done = watched(clock, unit.path)
    assert done.event is Event.ALL_DONE
    assert 100.1 <= done.passed_s <= 100.1 + 0.25 + TICK_S


def test_the_time_is_up_with_a_last_look(unit: Made, clock: StagedClock) -> None:
    done = watched(clock, unit.path, timeout_s=20)
    assert (done.event, done.statuses) == (Event.TIMEOUT, ["growing"])
    assert done.passed_s == pytest.approx(20)


def test_without_time_there_is_one_look(unit: Made, clock: StagedClock) -> None:
    assert watched(clock, unit.path, timeout_s=0).statuses == ["growing"]
    assert clock.slept == []
    unit.ends(**FAILED)
    done = watched(clock, unit.path, timeout_s=0)
    assert (done.event, done.statuses) == (Event.FAIL, ["failed(quota)"])


def test_silence_for_the_threshold_is_a_stall(unit: Made, clock: StagedClock) -> None:
    done = watched(clock, unit.path)
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(600s)"])
    assert 600 <= done.passed_s <= 602


def test_growth_restarts_the_stall_timer(unit: Made, clock: StagedClock) -> None:
    clock.at(500, lambda: unit.says(b"more\n"))
    done = watched(clock, unit.path)
    assert done.event is Event.STALL
    assert 1100 <= done.passed_s <= 1102


def test_a_touched_file_is_no_growth(unit: Made, clock: StagedClock) -> None:
    clock.at(500, lambda: unit.age(unit.state.tail, 0))
    assert 600 <= watched(clock, unit.path).passed_s <= 602


def test_a_monitor_that_is_started_again_does_not_forgive(unit: Made, clock: StagedClock) -> None:
    for path in (unit.state.tail, unit.state.timestamp):
        unit.age(path, 1200)
    done = watched(clock, unit.path)
    assert (done.event, done.statuses, done.passed_s) == (Event.STALL, ["stalled(1200s)"], 0)


def test_a_fresh_watch_counts_no_earlier_silence(unit: Made, clock: StagedClock) -> None:
    unit.age(unit.state.tail, 1200)
    done = watched(clock, unit.path, "--fresh")
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(1800s)"])
    assert 600 <= done.passed_s <= 602


def test_a_time_in_the_future_neither_stalls_nor_hides_a_stall(unit: Made, clock: StagedClock) -> None:
    unit.age(unit.state.tail, -86_400)
    done = watched(clock, unit.path)
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(600s)"])
    assert 600 <= done.passed_s <= 602


@pytest.mark.parametrize("by_s", [30, -30, -86_400], ids=["a little on", "a little back", "a day back"])
def test_a_step_of_the_clock_changes_nothing(by_s: float, unit: Made, clock: StagedClock) -> None:
    clock.at(300, lambda: clock.step(by_s))
    done = watched(clock, unit.path)
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(600s)"])
    assert 600 <= done.passed_s <= 602


def test_a_long_step_on_may_be_a_suspension_and_makes_a_stall_later_never_wrong(
    unit: Made, clock: StagedClock
) -> None:
    clock.at(300, lambda: clock.step(86_400))
    done = watched(clock, unit.path)
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(900s)"])
    assert 900 <= done.passed_s <= 902


def test_after_a_standstill_of_its_own_each_unit_has_a_fresh_window(unit: Made, clock: StagedClock) -> None:
    clock.at(300, lambda: clock.advance(5000))
    done = watched(clock, unit.path, timeout_s=10_000)
    assert done.event is Event.STALL
    assert 5900 <= done.passed_s <= 5902


def test_a_unit_that_has_said_nothing_stalls_from_its_beginning(tmp_path: Path, clock: StagedClock) -> None:
    made = make_unit(tmp_path / "state", clock=clock)
    done = watched(clock, made.path, "--follow")
    assert done.lines[1] == f"UNIT {made.name} pending"
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(600s)"])


TOOL = (
    b'{"event":"step_update","step_update":'
    b'{"step_index":4,"state":"ACTIVE","step_type":"tool","tool_name":"x"}}\n'
)


def test_an_open_tool_call_has_a_threshold_of_its_own(unit: Made, clock: StagedClock) -> None:
    unit.says(TOOL)
    done = watched(clock, unit.path, stall_s=100, tool_stall_s=300)
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(300s)"])
    unit.says(TOOL.replace(b"ACTIVE", b"DONE"))
    again = StagedClock()
    assert 100 <= watched(again, unit.path, stall_s=100, tool_stall_s=300).passed_s <= 102


def test_a_failure_outranks_a_stall_and_a_stall_all_that_is_done(tmp_path: Path, clock: StagedClock) -> None:
    stalled, failed, good = (make_unit(tmp_path / "state", name, clock=clock) for name in "sfg")
    stalled.says(b"x", age_s=700)
    good.ends()
    done = watched(clock, stalled.path, good.path)
    assert (done.event, done.statuses) == (Event.STALL, ["stalled(700s)", "done"])
    failed.ends(**FAILED)
    done = watched(clock, stalled.path, good.path, failed.path)
    assert (done.event, done.statuses) == (Event.FAIL, ["stalled(700s)", "done", "failed(quota)"])


def test_what_is_told_beside_an_event_is_not_older_than_it(tmp_path: Path, clock: StagedClock) -> None:
    quick, slow = (make_unit(tmp_path / "state", name, clock=clock) for name in ("quick", "slow"))

    def both() -> None:
        slow.says(b"x")
        quick.ends(**FAILED)

    clock.at(5.3, both)
    assert watched(clock, slow.path, quick.path).statuses == ["growing", "failed(quota)"]


@pytest.mark.parametrize("by", ["id", "name", "path", "relative path"])
def test_an_excepted_unit_makes_no_event(by: str, tmp_path: Path, clock: StagedClock) -> None:
    failed, good = (make_unit(tmp_path / "state", name, clock=clock) for name in ("bad", "good"))
    failed.ends(**FAILED)
    word = {
        "id": "bad",
        "name": failed.name,
        "path": failed.path,
        "relative path": str(failed.state.root.relative_to(tmp_path)),
    }[by]
    clock.at(50, good.ends)
    done = watched(clock, failed.path, good.path, "--except", word, cwd=tmp_path)
    assert (done.event, done.statuses) == (Event.ALL_DONE, ["failed(quota)", "done"])
    assert done.passed_s >= 50


def test_until_all_waits_for_the_last_one(tmp_path: Path, clock: StagedClock) -> None:
    failed, good = (make_unit(tmp_path / "state", name, clock=clock) for name in ("bad", "good"))
    good.says(b"x", age_s=700)
    failed.ends(**FAILED)
    clock.at(50, good.ends)
    done = watched(clock, failed.path, good.path, "--until", "all")
    assert (done.event, done.statuses) == (Event.FAIL, ["failed(quota)", "done"])
    assert 50 <= done.passed_s <= 50.5


def test_following_tells_each_change_once(unit: Made, clock: StagedClock) -> None:
    clock.at(700, lambda: unit.says(b"more"))
    clock.at(800, unit.writes)
    clock.at(900, unit.ends)
    done = watched(clock, unit.path, "--follow", "--until", "all")
    heads = [line.split(" ")[-1].split("(")[0] for line in done.lines[1:]]
    assert heads == ["growing", "stalled", "growing", "finishing", "done", "all-done", "done"]


def test_a_directory_that_vanishes_is_told_at_once(unit: Made, clock: StagedClock) -> None:
    def remove() -> None:
        unit.state.root.rename(unit.state.root.with_name("elsewhere"))

    clock.at(50, remove)
    done = watched(clock, unit.path)
    assert (done.event, done.statuses) == (Event.FAIL, ["failed(state-missing)"])
    assert 50 <= done.passed_s <= 52


def test_a_dead_dispatcher_is_told_after_a_second_and_not_after_the_threshold(
    unit: Made, clock: StagedClock
) -> None:
    with stranger(SLEEPS) as dispatcher:
        owner = process.identify(dispatcher.pid)
        assert owner is not None
        unit.owned_by(owner)

        def die() -> None:
            dispatcher.kill()
            dispatcher.wait()

        clock.at(100, die)
        done = watched(clock, unit.path)
    assert (done.event, done.statuses) == (Event.FAIL, ["failed(dispatch-dead)"])
    assert 101 <= done.passed_s <= 105


def test_an_outcome_that_comes_within_the_grace_counts(unit: Made, clock: StagedClock) -> None:
    unit.owned_by(nobody())
    clock.at(0.6, unit.ends)
    done = watched(clock, unit.path)
    assert (done.event, done.statuses) == (Event.ALL_DONE, ["done"])


def test_the_units_of_a_batch_are_watched_as_they_appear(tmp_path: Path, clock: StagedClock) -> None:
    place = tmp_path / ".prun" / "docs-1"
    place.mkdir(parents=True)
    made: list[Made] = []

    def appear(name: str) -> None:
        made.append(make_unit(place / "agent-io" / "state", name, clock=clock))

    clock.at(10, lambda: appear("first"))
    clock.at(20, lambda: appear("second"))
    clock.at(30, lambda: made[0].ends(kind="ok"))
    clock.at(40.1, lambda: made[1].ends(**FAILED))
    done = watched(clock, "--batch", "docs-1", "--follow", cwd=tmp_path)
    assert done.lines[0] == "MONITOR-START units=0 stall-threshold=600s timeout=3600s"
    assert (done.event, done.statuses) == (Event.FAIL, ["done", "failed(quota)"])
    assert done.passed_s <= 40.1 + 0.25 + TICK_S
    assert [line.split(" ")[-1] for line in done.lines[1:-3]] == [
        "pending",
        "pending",
        "done",
        "failed(quota)",
    ]


@pytest.mark.parametrize("inner", ["agent-io/state", "state"])
def test_a_batch_may_be_named_by_its_directory(inner: str, tmp_path: Path, clock: StagedClock) -> None:
    make_unit(tmp_path / "b" / inner, clock=clock).ends()
    (tmp_path / "b" / inner / "no-unit").mkdir()
    done = watched(clock, "--batch", str(tmp_path / "b"))
    assert (done.event, done.statuses) == (Event.ALL_DONE, ["done"])


def test_a_batch_without_a_unit_is_not_done(tmp_path: Path, clock: StagedClock) -> None:
    done = watched(clock, "--batch", str(tmp_path), timeout_s=5)
    assert (done.event, done.statuses) == (Event.TIMEOUT, [])


def test_a_batch_that_is_not_there_is_refused(tmp_path: Path, clock: StagedClock) -> None:
    with pytest.raises(UsageError, match="there is no batch nope"):
        watched(clock, "--batch", "nope", cwd=tmp_path)


def test_objects_tell_all_that_is_known(tmp_path: Path, clock: StagedClock) -> None:
    over, busy = (make_unit(tmp_path / "state", name, clock=clock) for name in ("over", "busy"))
    over.ends(**FAILED)
    busy.says(TOOL, age_s=30)
    done = watched(clock, over.path, busy.path, "--json")
    start, event, first, second = done.objects
    assert start == {"event": "start", "units": 2, "stall_threshold_s": 600, "timeout_s": 3600}
    assert event == {"event": "fail", "exit_status": 3}
    told = {"unit": over.name, "status": "failed(quota)", "kind": "quota", "reason": "the quota is used up"}
    assert first.items() >= {**told, "turns": 2, "tokens": 1234, "state_dir": over.path}.items()
    assert first["result_path"] == str(over.result)
    assert (second["status"], second["kind"], second["idle_s"]) == ("growing", None, 30)
    assert second["last_step"].items() >= {"type": "tool", "tool": "x", "tool_open": True}.items()


@pytest.mark.parametrize("name", ["a b\nMONITOR-EVENT all-done", "\x1b[2J", "é\u2028", "UNIT x done"])
def test_a_name_makes_no_more_lines_than_any_other(name: str, tmp_path: Path, clock: StagedClock) -> None:
    done = watched(clock, str(tmp_path / name), "--follow", "--until", "all")
    assert len("\n".join(done.lines).splitlines()) == len(done.lines) == 4
    assert [line.split(" ")[0] for line in done.lines] == ["MONITOR-START", "UNIT", "MONITOR-EVENT", "UNIT"]
