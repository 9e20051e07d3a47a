"""A dispatcher that is asked to stop: its worker's tree is ended, the verdict written, nothing lost."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tests.support.processes import can_fork, is_alive, until
from tests.support.scenes import ANSWER, do, result, say, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.lab import Lab, Run

pytestmark = can_fork

CODES = {"SIGTERM": 143, "SIGINT": 130, "SIGHUP": 129}
OFF = {"ANTIGRAVITY_PREFLIGHT": "off"}
HALF = "The cause is in the reader of the last line;"
# Says so when it is asked to end, and ends once it may.
TAKES_ITS_TIME = """
import signal, time
def touch(name):
    open(os.path.join({place!r}, name), 'w').close()
def asked(number, frame):
    touch('asked')
    while not os.path.exists(os.path.join({place!r}, 'may-end')):
        time.sleep(0.01)
    os._exit(3)
signal.signal(signal.SIGTERM, asked)
print('ready', flush=True)
touch('ready')
time.sleep(600)
"""


def check_stopped(run: Run, code: int) -> dict[str, Any]:
    outcome = run.outcome
    assert run.code == outcome["exit_code"] == code
    assert (outcome["verdict"], outcome["kind"], outcome["tree"]) == ("cancelled", "interrupted", "gone")
    assert "prun was interrupted by " in outcome["reason"]
    assert outcome["result_author"] == "fallback"
    assert run.document.startswith(
        "# u1 result (FALLBACK, Agy wrote no final result)\nConclusion: INCOMPLETE; "
    )
    return outcome


@contextmanager
def stuck_before_launch(lab: Lab) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], Run]]]:
    """Give a dispatcher that waits to tell its state directory to a full pipe, and what lets it go on."""
    reader, writer = os.pipe()
    set_blocking: Callable[[int, bool], None] = getattr(os, "set_blocking")  # noqa: B009 - not on every system
    set_blocking(writer, False)
    filled = 0
    try:
        while True:
            filled += os.write(writer, bytes(65536))
    except BlockingIOError:
        set_blocking(writer, True)
    dispatcher = lab.start(stdout=writer, env=OFF)
    os.close(writer)
    lab.state_dir()

    def go_on() -> Run:
        with os.fdopen(reader, "rb") as file:
            told = file.read()[filled:]
        run = lab.finish(dispatcher)
        return type(run)(run.code, told, run.stderr, run.result)

    yield dispatcher, go_on


def number_of(name: str) -> int:
    return int(getattr(signal, name))


@pytest.mark.parametrize("name", CODES)
def test_a_signal_before_the_launch_lets_no_worker_start(name: str, lab: Lab) -> None:
    lab.plays(say())
    with stuck_before_launch(lab) as (dispatcher, go_on):
        dispatcher.send_signal(number_of(name))
        run = go_on()
    outcome = check_stopped(run, CODES[name])
    assert name in outcome["reason"]
    assert not (run.state / "worker.json").exists()
    assert lab.calls() == []


def test_a_cancel_request_before_the_launch_lets_no_worker_start(lab: Lab) -> None:
    lab.plays(say())
    with stuck_before_launch(lab) as (_, go_on):
        (lab.state_dir() / "cancel").touch()
        run = go_on()
    assert (run.code, run.outcome["verdict"], run.outcome["kind"]) == (70, "cancelled", "cancelled")
    assert lab.calls() == []


@pytest.mark.parametrize("name", CODES)
def test_a_signal_while_a_probe_runs_ends_the_probe(name: str, lab: Lab) -> None:
    lab.program(TAKES_ITS_TIME.format(place=str(lab.root)).replace("'asked')", "'asked')\n    os._exit(0)"))
    dispatcher = lab.start()
    until((lab.root / "ready").exists)
    dispatcher.send_signal(number_of(name))
    run = lab.finish(dispatcher)
    check_stopped(run, CODES[name])
    assert not (run.state / "worker.json").exists()
    assert lab.strays() == []


@pytest.mark.parametrize("name", CODES)
def test_a_signal_while_the_worker_runs_ends_its_tree_and_keeps_what_it_said(name: str, lab: Lab) -> None:
    lab.plays(do("spawn", group="setsid"), say(HALF, open=True), do("hang"))
    dispatcher = lab.start()
    until((lab.state_dir() / "conversation-id").exists)
    until(lambda: HALF in lab.tail())
    dispatcher.send_signal(number_of(name))
    run = lab.finish(dispatcher)
    outcome = check_stopped(run, CODES[name])
    assert HALF in run.document
    assert lab.strays() == []
    assert run.text("conversation-id").strip() == outcome["conversation_id"]
    # agy answers a request to end with a result of its own, and that is no evidence.
    assert '"error":"interrupted"' in run.text("tail")
    assert (outcome["status"], outcome["worker_exit"]) == (None, 1)
    assert "interrupted" not in outcome["reason"].replace("prun was interrupted", "")


def test_a_result_that_stood_when_the_signal_came_is_kept_beside(lab: Lab) -> None:
    lab.plays(say(), result(), do("linger"))
    dispatcher = lab.start()
    until(lambda: '"event":"result"' in lab.tail())
    dispatcher.send_signal(signal.SIGTERM)
    run = lab.finish(dispatcher)
    outcome = check_stopped(run, 143)
    assert outcome["status"] == "SUCCESS"
    assert (run.result.parent / "u1.response.md").read_text(encoding="utf-8") == ANSWER + "\n"
    assert f"Response: kept in {outcome['response_path']}" in run.document


def test_two_interrupts_end_the_tree_once_and_the_verdict_is_still_written(lab: Lab) -> None:
    lab.program(TAKES_ITS_TIME.format(place=str(lab.root)))
    dispatcher = lab.start(env=OFF)
    until((lab.root / "ready").exists)
    dispatcher.send_signal(signal.SIGINT)
    until((lab.root / "asked").exists)
    dispatcher.send_signal(signal.SIGINT)
    dispatcher.send_signal(signal.SIGTERM)
    (lab.root / "may-end").touch()
    run = lab.finish(dispatcher)
    outcome = check_stopped(run, 130)
    assert "SIGINT" in outcome["reason"]
    assert outcome["worker_exit"] == 3
    assert "Traceback" not in run.stderr


def test_a_signal_during_the_ending_changes_no_verdict(lab: Lab) -> None:
    lab.program(TAKES_ITS_TIME.format(place=str(lab.root)))
    limits = {"ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": "1", "PRUN_REAP_GRACE_SECONDS": "0"}
    dispatcher = lab.start(env={**OFF, **limits})
    until((lab.root / "asked").exists)
    dispatcher.send_signal(signal.SIGTERM)
    (lab.root / "may-end").touch()
    run = lab.finish(dispatcher)
    assert (run.code, run.outcome["kind"], run.outcome["tree"]) == (124, "timeout", "gone")
    assert lab.strays() == []


def ignore_hangups() -> None:
    signal.signal(number_of("SIGHUP"), signal.SIG_IGN)


def test_a_hangup_that_the_caller_ignores_stays_ignored(lab: Lab) -> None:
    go = lab.root / "go"
    lab.plays(say(), wait_for(go))
    dispatcher = lab.start(preexec_fn=ignore_hangups)
    state = lab.state_dir()
    until((state / "conversation-id").exists)
    worker = psutil.Process(int((state / "worker-pid-unverified").read_text(encoding="ascii")))
    dispatcher.send_signal(number_of("SIGHUP"))
    worker.send_signal(number_of("SIGHUP"))
    go.touch()
    run = lab.finish(dispatcher)
    assert (run.code, run.outcome["kind"]) == (0, "ok")


def test_a_worker_that_is_ended_together_with_its_dispatcher_was_interrupted(lab: Lab) -> None:
    lab.plays(say(HALF), do("hang"))
    dispatcher = lab.start()
    state = lab.state_dir()
    until((state / "conversation-id").exists)
    worker = int((state / "worker-pid-unverified").read_text(encoding="ascii"))
    dispatcher.send_signal(number_of("SIGSTOP"))
    os.kill(worker, signal.SIGTERM)
    until(lambda: not is_alive(worker))
    dispatcher.send_signal(signal.SIGTERM)
    dispatcher.send_signal(number_of("SIGCONT"))
    outcome = check_stopped(lab.finish(dispatcher), 143)
    assert outcome["worker_exit"] == 1


def test_a_worker_that_is_ended_alone_has_failed_by_itself(lab: Lab) -> None:
    lab.plays(say(HALF), do("hang"))
    dispatcher = lab.start()
    state = lab.state_dir()
    until((state / "conversation-id").exists)
    os.kill(int((state / "worker-pid-unverified").read_text(encoding="ascii")), signal.SIGTERM)
    run = lab.finish(dispatcher)
    assert (run.code, run.outcome["verdict"], run.outcome["kind"]) == (1, "failed", "error")
    assert run.outcome["status"] == "ERROR"


def test_a_terminated_unit_leaves_no_temporary_file(lab: Lab, tmp_path: Path) -> None:
    lab.plays(say(HALF), do("hang"))
    dispatcher = lab.start()
    until((lab.state_dir() / "conversation-id").exists)
    dispatcher.send_signal(signal.SIGTERM)
    check_stopped(lab.finish(dispatcher), 143)
    assert [path for path in tmp_path.rglob("*") if path.name.startswith((".prun-", "tmp"))] == [
        lab.root / "tmp"
    ]
