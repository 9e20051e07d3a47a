"""Others at the same place: a second dispatcher, a worker that meddles, processes that write to the end."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.agents import agent
from tests.support.processes import can_fork, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.lab import Lab, Run

WAITS = """
if "GATE" in os.environ:
    note(os.environ["GATE"] + ".runs", "")
    until(os.environ["GATE"])
"""
SILENT = agent(work="sys.exit(0)")


def ran(lab: Lab, argv: list[str]) -> Run:
    """Run a command to its end."""
    return lab.finish(lab.command(argv))


@pytest.mark.parametrize("name", ["one.md", "one.response.md"], ids=["result", "response"])
def test_a_result_path_that_another_unit_may_write_to_is_in_use(lab: Lab, name: str) -> None:
    gate = lab.root / "gate"
    first = lab.program(agent(work=WAITS)).start("one", env={"GATE": str(gate)})
    until((lab.root / "gate.runs").exists)
    taken = lab.result_of("one").with_name(name)
    argv = [*lab.argv("two", "Do it too.", ())]
    argv[argv.index("--result-file") + 1] = str(taken)
    second = ran(lab, argv)
    assert (second.code, second.stdout) == (2, b"")
    assert second.stderr.count("\n") == 1
    assert f"result {taken}" in second.stderr
    assert "in use" in second.stderr
    assert len(lab.states()) == 1
    gate.touch()
    assert lab.finish(first, "one").code == 0
    if name != "one.md":
        assert ran(lab, argv).code == 0


def test_the_document_of_a_unit_that_was_killed_is_not_taken_for_the_next_ones_work(lab: Lab) -> None:
    gate = lab.root / "gate"
    killed = lab.program(agent(work=WAITS)).start("one", env={"GATE": str(gate)})
    until((lab.root / "gate.runs").exists)
    killed.kill()
    killed.wait()
    worker = int((lab.states()[0] / "worker-pid-unverified").read_text(encoding="ascii"))
    argv = lab.argv("one", "Do it again.", ())
    assert ran(lab, argv).code == 2, "its worker lives"
    os.kill(worker, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    until(lambda: lab.strays() == [])
    lab.program(SILENT)
    again = ran(lab, argv)
    assert again.code == 70
    assert json.loads((lab.states()[-1] / "outcome.json").read_text(encoding="utf-8"))["kind"] == "silent"


@can_fork
def test_an_answer_is_read_though_the_worker_took_the_name_of_its_tail_away(lab: Lab) -> None:
    work = f"""
import glob
note({str(lab.root / "runs")!r}, "")
until({str(lab.root / "look")!r})
os.unlink(os.path.join(os.path.dirname(os.getcwd()), "tail"))
"""
    process = lab.program(agent(work=work)).start()
    until((lab.root / "runs").exists)
    tail = lab.state_dir() / "tail"
    until(lambda: _is_open(process.pid, tail))
    (lab.root / "look").touch()
    run = lab.finish(process)
    assert (run.code, run.outcome["kind"]) == (0, "ok"), run


def _is_open(pid: int, path: Path) -> bool:
    import psutil

    return any(file.path == str(path) for file in psutil.Process(pid).open_files())


@can_fork
def test_a_result_that_was_still_being_written_when_its_writer_was_ended_is_warned_of(lab: Lab) -> None:
    result = lab.result_of("u1")
    work = f"""
import signal
if os.fork() == 0:
    def last(number, frame):
        with open({str(result)!r}, "a") as file:
            file.write("row 2 of 100\\n")
        os._exit(0)
    signal.signal(signal.SIGTERM, last)
    with open({str(result)!r}, "w") as file:
        file.write("row 1 of 100\\n")
    note({str(lab.root / "row")!r}, "")
    while True:
        signal.pause()
until({str(lab.root / "row")!r})
"""
    run = lab.program(agent(work=work)).dispatch()
    assert (run.code, run.outcome["result_author"], run.outcome["tree"]) == (0, "worker", "leftovers"), run
    assert any(warning.startswith("result file: it changed") for warning in run.outcome["warnings"])


@can_fork
def test_a_file_written_only_when_prun_ends_its_writer_completes_nothing(lab: Lab) -> None:
    result = lab.result_of("u1")
    work = f"""
import signal
def last(number, frame):
    with open({str(result)!r}, "w") as file:
        file.write("I was asked to stop and write this.\\n")
    os._exit(0)
signal.signal(signal.SIGTERM, last)
while True:
    signal.pause()
"""
    run = lab.program(agent(work=work)).dispatch(
        env={"ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": "1", "PRUN_REAP_GRACE_SECONDS": "0"}
    )
    assert (run.code, run.outcome["kind"], run.outcome["result_author"]) == (124, "timeout", "worker"), run


def test_a_follow_up_goes_on_only_in_a_scratch_that_a_dispatcher_made(lab: Lab) -> None:
    first = lab.fake().dispatch("one")
    precious = lab.root / "precious"
    precious.mkdir()
    request = first.request | {"work_dir": str(precious)}
    (first.state / "request.json").write_text(json.dumps(request), encoding="utf-8")
    second = lab.dispatch("two", f"--continue-from={first.state}")
    assert second.code == 0, second
    assert second.request["work_dir"] == str(second.state / "work")


@can_fork
def test_a_signal_after_the_outcome_changes_nothing_though_nobody_reads(lab: Lab) -> None:
    flood = "os.write(2, (b'y' * 1000 + b'\\n') * 60)"
    process = lab.program(agent(work=flood)).start()
    until((lab.state_dir() / "outcome.json").exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0, "it waits for a reader"
