"""A worker's process tree: held before its program runs, ended whole, and nothing else is ever touched."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tests.support.processes import can_fork, is_alive, until
from tests.support.scenes import do, result, say, wait_for

if TYPE_CHECKING:
    from tests.support.lab import Lab, Run

REAL_SESSIONS = hasattr(os, "setsid")
ESCAPES = {
    "same group": do("spawn", group="same"),
    "own session": do("spawn", group="setsid"),
    "double fork": do("spawn", group="double-fork"),
    "own session, stdout held": do("spawn", group="setsid", holds_stdout=True),
    "double fork, stdout held": do("spawn", group="double-fork", holds_stdout=True),
}
GOOD = (
    "def good():\n"
    "    import json\n"
    "    answer = 'Conclusion: all of the work is done.'\n"
    "    print(json.dumps({'event': 'init', 'conversation_id': 'c-1', 'init': {}}))\n"
    "    print(json.dumps({'event': 'result', 'result': {'status': 'SUCCESS', 'response': answer}}))\n"
)
AT_ONCE = {"ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": "1", "PRUN_REAP_GRACE_SECONDS": "0"}


def pids(names: list[str]) -> set[int]:
    """Return the pids of processes that an outcome names as ``name (pid)``."""
    return {int(found[1]) for name in names if (found := re.search(r"\((\d+)\)$", name))}


def spawned(lab: Lab, state: Path | None = None) -> set[int]:
    """Return what the fake's workers, or the one of the unit in *state*, left behind."""
    calls = {
        record["call"]
        for record in lab.witnessed("start")
        if state is None or Path(record["cwd"]) == state / "work"
    }
    return {record["child"] for record in lab.witnessed("spawned") if record["call"] in calls}


def check_named(outcome: dict[str, Any], expected: set[int]) -> None:
    """Check that exactly the processes *expected* are named; on Windows, consoles of theirs may be too."""
    named = pids(outcome["leftovers"])
    assert outcome["tree"] == "leftovers"
    assert named == expected if REAL_SESSIONS else named >= expected


def worker_of(state: Path) -> int:
    return int((state / "worker-pid-unverified").read_text(encoding="ascii"))


@pytest.mark.parametrize("escape", ESCAPES)
def test_what_a_worker_leaves_behind_is_named_and_ended(escape: str, lab: Lab) -> None:
    run = lab.plays(ESCAPES[escape], say()).dispatch()
    outcome = run.outcome
    assert outcome["kind"] == "ok"
    check_named(outcome, spawned(lab))
    assert lab.strays() == []


@pytest.mark.smoke
def test_two_leftovers_of_one_worker_are_both_ended_and_its_result_stands(lab: Lab) -> None:
    steps = [ESCAPES["own session, stdout held"], ESCAPES["double fork"], say()]
    run = lab.plays(*steps).dispatch()
    assert run.code == 0
    assert len(spawned(lab)) == 2
    check_named(run.outcome, spawned(lab))
    assert "the work is done" in run.document
    assert lab.strays() == []


def test_leftovers_are_let_be_where_that_is_asked_for_and_still_named(lab: Lab) -> None:
    run = lab.plays(ESCAPES["own session"], say()).dispatch(env={"PRUN_REAP_LEFTOVERS": "off"})
    outcome = run.outcome
    try:
        assert outcome["kind"] == "ok"
        check_named(outcome, spawned(lab))
        assert all(is_alive(pid) for pid in spawned(lab))
    finally:
        for pid in spawned(lab):
            psutil.Process(pid).kill()
        until(lambda: not lab.strays())


def test_at_the_hard_deadline_a_tree_that_hears_no_request_to_end_is_killed_whole(lab: Lab) -> None:
    deaf = do("spawn", group="setsid", ignore_signals=True)
    lab.plays(say("Half of it."), do("ignore_signals"), deaf, do("hang"))
    run = lab.dispatch(env=AT_ONCE)
    outcome = run.outcome
    assert (run.code, outcome["kind"], outcome["tree"]) == (124, "timeout", "gone")
    assert "hard-timeout" in outcome["reason"]
    assert "Half of it." in run.document
    assert lab.strays() == []


FORKS_WHEN_ENDED = """
import signal, time
def fork(number, frame):
    for _ in range(20):
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, fork if depth else signal.SIG_IGN)
            os.setsid()
            time.sleep(600)
            os._exit(0)
    os._exit(1)
depth = int({depth})
signal.signal(signal.SIGTERM, fork)
print('ready', flush=True)
time.sleep(600)
"""


@can_fork
@pytest.mark.parametrize("depth", [0, 1], ids=["children that are deaf", "children that fork in their turn"])
def test_a_worker_that_forks_while_it_is_ended_leaves_nobody(depth: int, lab: Lab) -> None:
    lab.program(FORKS_WHEN_ENDED.format(depth=depth)).extra["ANTIGRAVITY_PREFLIGHT"] = "off"
    run = lab.dispatch(env=AT_ONCE)
    assert (run.code, run.outcome["kind"], run.outcome["tree"]) == (124, "timeout", "gone")
    assert lab.strays() == []


def test_three_units_at_once_each_end_their_own_escapees(lab: Lab) -> None:
    together = lab.root / "together"
    lab.plays(ESCAPES["own session"], ESCAPES["double fork"], say(), wait_for(together))
    units = ("u1", "u2", "u3")
    running = {unit: lab.start(unit) for unit in units}
    until(lambda: len(spawned(lab)) == 6)
    together.touch()
    runs = {unit: lab.finish(running[unit], unit) for unit in units}
    for run in runs.values():
        own = spawned(lab, run.state)
        assert len(own) == 2
        check_named(run.outcome, own)
        assert not pids(run.outcome["leftovers"]) & (spawned(lab) - own)
    assert lab.strays() == []


def test_a_sibling_that_runs_the_same_program_is_not_touched(lab: Lab) -> None:
    go = lab.root / "go"
    lab.plays_by_prompt({"the patient one": [say(), wait_for(go)], "": [ESCAPES["own session"], do("hang")]})
    patient = lab.start("patient", prompt="Be the patient one.")
    state = lab.state_dir("patient")
    until((state / "conversation-id").exists)
    ended = lab.dispatch("hurried", env=AT_ONCE)
    assert (ended.outcome["kind"], ended.outcome["tree"]) == ("timeout", "gone")
    assert is_alive(worker_of(state))
    go.touch()
    run = lab.finish(patient, "patient")
    assert (run.outcome["kind"], run.outcome["tree"]) == ("ok", "gone")


@pytest.mark.smoke
def test_a_worker_whose_dispatcher_is_killed_writes_its_tail_to_the_end_and_there_is_no_verdict(
    lab: Lab,
) -> None:
    go = lab.root / "go"
    lab.plays(say("before, "), wait_for(go), say("and after."), result())
    dispatcher = lab.start()
    state = lab.state_dir()
    until((state / "conversation-id").exists)
    dispatcher.kill()
    dispatcher.communicate()
    worker = worker_of(state)
    assert is_alive(worker)
    go.touch()
    until(lambda: not is_alive(worker))
    tail = (state / "tail").read_text(encoding="utf-8")
    assert "and after." in tail
    assert '"event":"result"' in tail.splitlines()[-1]
    assert not (state / "outcome.json").exists()
    assert not lab.result_of("u1").exists()
    recorded = json.loads((state / "worker.json").read_text(encoding="utf-8"))
    assert recorded["pid"] == worker
    assert (state / "conversation-id").read_text(encoding="ascii").strip() in tail


UNSTARTABLE = {
    "an interpreter that is missing": (b"#!/no/such/interpreter\n", "interpreter"),
    "no program of this system": (b"\x7fELF but not really\n", "neither a program"),
    "an empty file": (b"", "neither a program"),
}


def put(lab: Lab, data: bytes) -> None:
    path = lab.root / "bin" / "agy"
    path.parent.mkdir()
    path.write_bytes(data)
    path.chmod(0o755)
    lab.agy = path


def check_launch_failure(run: Run, words: str) -> None:
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (70, "failed", "launch")
    assert words in outcome["reason"]
    assert (outcome["worker_exit"], outcome["tree"], outcome["result_author"]) == (None, "gone", "fallback")
    assert outcome["reason"] in run.document


@can_fork
@pytest.mark.parametrize("what", UNSTARTABLE)
def test_a_program_that_the_system_cannot_start_is_a_launch_failure(what: str, lab: Lab) -> None:
    data, words = UNSTARTABLE[what]
    put(lab, data)
    check_launch_failure(lab.dispatch(env={"ANTIGRAVITY_PREFLIGHT": "off"}), words)


@can_fork
def test_a_program_that_is_not_executable_any_more_is_a_launch_failure(lab: Lab) -> None:
    listing = "gemini-3.8-flash-high\\tGemini 3.8 Flash (High)"
    lab.program(
        "if '--version' in sys.argv: print('1.3.5')\n"
        f"elif 'models' in sys.argv: print('{listing}'); os.chmod(sys.argv[0], 0o644)\n"
        "else: open(os.path.join(os.path.dirname(sys.argv[0]), 'ran'), 'w')\n"
    )
    run = lab.dispatch(env={"ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.8-flash-high"})
    check_launch_failure(run, "is it executable?")
    assert not (lab.root / "bin" / "ran").exists()


LOOKS_AT_ITS_RECORD = f"""
import json
{GOOD}
state = os.path.dirname(os.getcwd())
with open(os.path.join(state, 'worker.json'), encoding='utf-8') as file:
    recorded = json.load(file)
with open(os.path.join(state, 'worker-pid-unverified'), encoding='ascii') as file:
    assert int(file.read()) == recorded['pid'] == os.getpid()
good()
"""


@can_fork
@pytest.mark.smoke
def test_the_worker_s_program_finds_its_own_record_when_it_starts(lab: Lab) -> None:
    lab.program(LOOKS_AT_ITS_RECORD).extra["ANTIGRAVITY_PREFLIGHT"] = "off"
    run = lab.dispatch()
    assert run.outcome["kind"] == "ok", run.stderr


@can_fork
def test_a_group_instead_of_a_session_is_ended_whole_too(lab: Lab) -> None:
    steps: list[dict[str, Any]] = [ESCAPES["same group"], ESCAPES["double fork"], do("hang")]
    run = lab.plays(*steps).dispatch(env={**AT_ONCE, "PRUN_WORKER_SESSION": "group"})
    assert (run.outcome["kind"], run.outcome["tree"]) == ("timeout", "gone")
    call = lab.witnessed("start")[-1]
    assert call["pgid"] == call["pid"]
    assert call["sid"] != call["pid"]
    assert lab.strays() == []


FAILS_INSIDE = """
import prun.flow.supervising as it
look = it.Supervisor._look
def fails(self, news, signal):
    look(self, news, signal)
    if self._name_told:
        raise RuntimeError("on purpose")
    return look(self, news, signal)
it.Supervisor._look = fails
"""


def test_where_its_dispatcher_goes_wrong_a_worker_is_ended_and_its_unit_gets_a_verdict(lab: Lab) -> None:
    lab.plays(ESCAPES["own session"], say("Half of it."), do("hang"))
    run = lab.dispatch_with(FAILS_INSIDE)
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"], outcome["tree"]) == (
        70,
        "failed",
        "silent",
        "gone",
    )
    assert any("internal error" in warning for warning in outcome["warnings"])
    assert "Half of it." in run.document
    assert lab.strays() == []


@can_fork
def test_a_tree_that_cannot_be_proved_gone_is_not_said_to_be(lab: Lab) -> None:
    fails = "\nimport prun.system.process._posix as system\ndef end(*_): raise OSError('on purpose')\n"
    lab.plays(say("Half of it."), do("hang"))
    run = lab.dispatch_with(FAILS_INSIDE + fails + "system.PosixWorker.end = end")
    outcome = run.outcome
    worker = worker_of(run.state)
    try:
        assert (run.code, outcome["tree"]) == (70, "not-proved")
        assert pids(outcome["leftovers"]) == {worker}
    finally:
        psutil.Process(worker).kill()
        until(lambda: not lab.strays())
