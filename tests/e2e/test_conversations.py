"""Following up a unit: the same conversation and scratch, and one live dispatch at a time."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.support.agents import CONVERSATION, INIT, agent
from tests.support.processes import can_fork, is_alive, until

if TYPE_CHECKING:
    import subprocess

    from tests.support.lab import Lab, Run

RIVALS = 5
# Names its conversation, then waits for the file GATE unless that is there.
STAYS = f"""
if "GATE" in os.environ:
    show({INIT.encode()!r})
    note(os.environ["GATE"] + ".worker", str(os.getpid()))
    until(os.environ["GATE"])
"""
# Waits for GATE before it says anything at all, and for GATE.2 before it ends.
LATE = f"""
if "GATE" in os.environ:
    note(os.environ["GATE"] + ".worker", str(os.getpid()))
    until(os.environ["GATE"])
    show({INIT.encode()!r})
    until(os.environ["GATE"] + ".2")
"""


def last_result(run: Run) -> dict[str, object]:
    """Return the payload of the last result event in tail."""
    events = [json.loads(line) for line in run.text("tail").splitlines()]
    found: dict[str, object] = [event["result"] for event in events if event["event"] == "result"][-1]
    return found


def follow(lab: Lab, unit: str, earlier: Path | str, **env: str | None) -> Run:
    return lab.dispatch(unit, f"--continue-from={earlier}", env=env)


def leases(lab: Lab) -> list[Path]:
    """Return the records of conversations in use."""
    records = [path for path in (lab.root / "home").rglob("*.json") if path.parent.name == "leases"]
    return [path for path in records if '"subject": "conversation ' in path.read_text(encoding="utf-8")]


@pytest.mark.smoke
def test_a_follow_up_goes_on_where_the_earlier_unit_was(lab: Lab) -> None:
    first = lab.fake().dispatch("u1")
    second = follow(lab, "u2", first.state)
    third = follow(lab, "u3", os.path.relpath(second.state, lab.caller))
    work = first.state / "work"
    for turns, run in enumerate((first, second, third), start=1):
        assert run.code == 0, run
        outcome, told = run.outcome, last_result(run)
        assert outcome["conversation_id"] == first.outcome["conversation_id"]
        assert run.text("conversation-id") == f"{first.outcome['conversation_id']}\n"
        assert outcome["num_turns"] == told["num_turns"] == turns
        assert outcome["usage"] == told["usage"]
        assert run.request["continued_id"] == (None if turns == 1 else outcome["conversation_id"])
        assert (run.request["work_dir"], run.request["work_dir_made"]) == (str(work), True)
    assert third.outcome["usage"]["input_tokens"] > second.outcome["usage"]["input_tokens"]
    assert {worker["cwd"] for worker in lab.workers()} == {os.path.realpath(work)}
    assert not (second.state / "work").exists()
    assert leases(lab) == []


def test_a_scratch_that_is_gone_or_was_not_pruns_is_made_anew(lab: Lab) -> None:
    given = lab.root / "given"
    first = lab.fake().dispatch("u1", "--mode=accept-edits", env={"PRUN_SCRATCH_CWD": str(given)})
    second = follow(lab, "u2", first.state)
    assert second.request["work_dir"] == str(second.state / "work")
    shutil.rmtree(second.state / "work")
    third = follow(lab, "u3", second.state)
    assert third.request["work_dir"] == str(third.state / "work")
    fourth = lab.dispatch(
        "u4", f"--continue-from={third.state}", "--mode=plan", env={"PRUN_SCRATCH_CWD": str(given)}
    )
    assert fourth.request["work_dir"] == str(given)
    expected = [given, second.state / "work", third.state / "work", given]
    assert [Path(worker["cwd"]) for worker in lab.workers()] == [
        Path(os.path.realpath(path)) for path in expected
    ]
    assert [run.outcome["num_turns"] for run in (first, second, third, fourth)] == [1, 2, 3, 4]


def test_the_id_is_read_from_tail_where_it_was_not_written(lab: Lab) -> None:
    first = lab.fake("noise_before_json").dispatch("u1")
    (first.state / "conversation-id").unlink()
    second = follow(lab, "u2", first.state)
    assert second.code == 0, second
    assert second.outcome["conversation_id"] == first.outcome["conversation_id"]
    assert second.outcome["num_turns"] == 2


def test_a_state_directory_with_nothing_but_an_id_is_enough(lab: Lab) -> None:
    first = lab.fake().dispatch("u1")
    copy = lab.root / "copy"
    copy.mkdir()
    shutil.copy(first.state / "conversation-id", copy)
    second = follow(lab, "u2", copy)
    assert (second.code, second.outcome["num_turns"]) == (0, 2), second
    assert second.request["work_dir"] == str(second.state / "work")


def test_an_unknown_id_is_a_mismatch_and_the_answer_is_kept(lab: Lab) -> None:
    lab.fake()
    earlier = lab.root / "earlier"
    earlier.mkdir()
    (earlier / "conversation-id").write_bytes(b"0dd0\n")
    run = follow(lab, "u1", earlier)
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (70, "failed", "resume-mismatch"), run
    assert "0dd0" in outcome["reason"]
    assert outcome["conversation_id"] != "0dd0"
    assert "the work is done" in Path(outcome["response_path"]).read_text(encoding="utf-8")
    assert run.document.startswith("# u1 result (FALLBACK")
    assert leases(lab) == []
    assert follow(lab, "u2", run.state).code == 0


def staying(lab: Lab, work: str = STAYS) -> Lab:
    """Give *lab* a program that names one conversation and waits for the file ``gate``."""
    return lab.program(agent(work=work))


def at_work(lab: Lab, *options: str) -> tuple[subprocess.Popen[bytes], Path, int]:
    """Return a dispatch whose worker waits at the gate, its state directory, and the worker's pid."""
    gate = lab.root / "gate"
    running = lab.start("u1", *options, env={"GATE": str(gate)})
    state = lab.state_of(running)
    until(Path(f"{gate}.worker").exists)
    return running, state, int(Path(f"{gate}.worker").read_text(encoding="utf-8"))


def check_in_use(lab: Lab, run: Run, holder: Path) -> None:
    """Assert that *run* was refused for the unit in *holder*, and that nothing of it was made."""
    assert (run.code, run.stdout) == (2, b""), run
    assert run.stderr.startswith("prun dispatch: ")
    assert run.stderr.count("\n") == 1
    assert "in use" in run.stderr
    assert str(holder) in run.stderr
    assert f"-{run.result.stem}-" not in "".join(path.name for path in lab.states())


def test_a_conversation_in_use_is_refused_until_its_dispatch_has_ended(lab: Lab) -> None:
    staying(lab)
    running, state, _ = at_work(lab)
    until((state / "conversation-id").exists)
    check_in_use(lab, follow(lab, "u2", state), state)
    elsewhere = lab.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "conversation-id").write_text(CONVERSATION + "\n", encoding="utf-8")
    until(lambda: leases(lab))
    check_in_use(lab, follow(lab, "u3", elsewhere), state)
    (lab.root / "gate").touch()
    assert lab.finish(running).code == 0
    assert follow(lab, "u4", state).code == 0
    assert leases(lab) == []


def test_a_follow_up_is_itself_in_the_way_before_it_says_anything(lab: Lab) -> None:
    staying(lab, LATE)
    first = lab.dispatch("u0")
    assert first.code == 0, first
    running, state, _ = at_work(lab, f"--continue-from={first.state}")
    check_in_use(lab, follow(lab, "u2", first.state), state)
    for gate in ("gate", "gate.2"):
        (lab.root / gate).touch()
    assert lab.finish(running).code == 0
    assert follow(lab, "u3", first.state).code == 0


def kill(pid: int) -> None:
    psutil.Process(pid).kill()
    until(lambda: not is_alive(pid))


@can_fork
@pytest.mark.parametrize("named", [True, False], ids=["named", "not yet named"])
def test_a_conversation_is_free_once_dispatcher_and_worker_are_dead(lab: Lab, *, named: bool) -> None:
    staying(lab, STAYS if named else LATE)
    running, state, worker = at_work(lab)
    if named:
        until(lambda: leases(lab))
    else:  # the worker names its conversation to nobody
        psutil.Process(running.pid).suspend()
        (lab.root / "gate").touch()
        until((state / "tail").read_bytes)
        assert not (state / "conversation-id").exists()
    running.kill()
    running.wait()
    assert is_alive(worker)
    check_in_use(lab, follow(lab, "u2", state), state)
    kill(worker)
    run = follow(lab, "u3", state)
    assert run.code == 0, run
    assert run.outcome["conversation_id"] == CONVERSATION
    assert run.request["work_dir"] == str(state / "work")
    assert leases(lab) == []


@can_fork
def test_a_conversation_is_not_free_while_its_dispatcher_lives_without_its_worker(lab: Lab) -> None:
    staying(lab)
    running, state, worker = at_work(lab)
    until(lambda: leases(lab))
    psutil.Process(running.pid).suspend()
    kill(worker)
    check_in_use(lab, follow(lab, "u2", state), state)
    psutil.Process(running.pid).resume()
    assert lab.finish(running).outcome["kind"] == "crashed"
    assert follow(lab, "u3", state).code == 0


@can_fork
def test_a_dispatcher_that_died_before_it_had_a_worker_holds_nothing(lab: Lab) -> None:
    gate = lab.root / "gate"
    probes = """
if words == ["--version"] and "GATE" in os.environ:
    note(os.environ["GATE"] + ".probe", "")
    until(os.environ["GATE"])
"""
    earlier = lab.root / "earlier"
    earlier.mkdir()
    (earlier / "conversation-id").write_text(CONVERSATION + "\n", encoding="utf-8")
    lab.program(agent(probes=probes))
    running = lab.start("u1", f"--continue-from={earlier}", env={"GATE": str(gate)})
    state = lab.state_of(running)
    until(Path(f"{gate}.probe").exists)
    check_in_use(lab, follow(lab, "u2", earlier), state)
    running.kill()
    running.wait()
    gate.touch()
    run = follow(lab, "u3", earlier)
    assert run.code == 0, run
    until(lambda: not lab.strays())


def test_of_follow_ups_started_together_exactly_one_runs(lab: Lab) -> None:
    staying(lab, LATE)
    first = lab.dispatch("u0")
    gate = lab.root / "gate"
    units = [f"r{number}" for number in range(RIVALS)]
    rivals = {
        unit: lab.start(unit, f"--continue-from={first.state}", env={"GATE": str(gate)}) for unit in units
    }
    until(Path(f"{gate}.worker").exists)
    until(lambda: sum(process.poll() is None for process in rivals.values()) == 1)
    (winner,) = [unit for unit, process in rivals.items() if process.poll() is None]
    for path in (gate, Path(f"{gate}.2")):
        path.touch()
    won = lab.finish(rivals.pop(winner), winner)
    assert won.code == 0, won
    for unit, process in rivals.items():
        check_in_use(lab, lab.finish(process, unit), won.state)
    assert leases(lab) == []
