"""A recorded worker whose dispatcher died is taken over; a record that must not be acted on is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest

from prun.core.identity import Hold, HoldKind, Identity, Life, Machine
from prun.core.outcome import TreeState
from prun.system.clock import SystemClock
from prun.system.process import Ended, TargetError, TreeEnd, adopt, identify, life_of, myself, this_machine
from tests.support.processes import (
    IGNORES_TERM,
    READY,
    SAYS_READY_AND_SLEEPS,
    Stage,
    can_fork,
    has_proc,
    is_alive,
    stranger,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLOCK = SystemClock()
GONE = TreeState.GONE
PYTHON = "[sys.executable, '-I', '-S', '-c']"
WITH_CHILD = f"""
import os, signal, subprocess, sys, time
subprocess.Popen({PYTHON} + [{SAYS_READY_AND_SLEEPS!r}, sys.argv[1]])
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""
DISPATCHES = """
import json, os, sys
from prun.core.identity import HoldKind
from prun.system.process import Launch, launch
place, token, *argv = sys.argv[1:]
streams = [os.path.join(place, name) for name in ("in", "out", "err")]
held = launch(Launch(tuple(argv), dict(os.environ), place, *streams, HoldKind.SESSION, token))
with open(os.path.join(place, "record"), "w") as record:
    json.dump([held.identity.pid, held.identity.start, held.held.kind, held.held.id, held.held.name], record)
held.start()
os._exit(9)
"""
TOKEN = "0123456789abcdef"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as made:
        yield made


def orphaned(stage: Stage, code: str) -> tuple[Identity, Hold, str]:
    """Return the record of a worker that a dispatcher started and then died."""
    import json

    what = stage.python(code, stage.at())
    subprocess.run(
        [sys.executable, "-c", DISPATCHES, str(stage.place), what.token, *what.argv],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    pid, start, kind, number, name = json.loads((stage.place / "record").read_text(encoding="utf-8"))
    return Identity(this_machine(), pid, start), Hold(HoldKind(kind), number, name), what.token


def test_a_worker_outlives_its_dispatcher_and_its_tree_is_ended(stage: Stage) -> None:
    identity, hold, token = orphaned(stage, WITH_CHILD + "time.sleep(600)")
    child = stage.ready()
    assert life_of(identity) is Life.ALIVE
    worker = adopt(identity, hold, token)
    assert worker.identity == identity
    worker.collect()
    assert worker.wait(0.01) is None
    end = worker.end(30.0, CLOCK)
    assert (end.state, end.survivors) == (GONE, ())
    assert end.ended is not None
    assert end.ended.signal is None
    assert worker.end(30.0, CLOCK) == end
    assert life_of(identity) is Life.DEAD
    assert not is_alive(child)


def test_the_exit_of_an_adopted_worker_is_waited_for(stage: Stage) -> None:
    code = f"import os, sys, time{READY}while not os.path.exists(sys.argv[1] + '-go'): time.sleep(0.01)\n"
    identity, hold, token = orphaned(stage, code + "raise SystemExit(3)")
    stage.ready()
    worker = adopt(identity, hold, token)
    assert worker.wait(0.0) is None
    (stage.place / "ready-go").touch()
    assert worker.wait(60.0) in (Ended(), Ended(code=3))
    assert worker.end(5.0, CLOCK).state is GONE


def test_what_an_adopted_worker_left_behind_is_found_by_its_token(stage: Stage) -> None:
    identity, hold, token = orphaned(stage, WITH_CHILD)
    child = stage.ready()
    until(lambda: life_of(identity) is Life.DEAD)
    worker = adopt(identity, hold, token)
    end = worker.end(30.0, CLOCK)
    assert (end.ended, end.state, end.survivors) == (Ended(), TreeState.LEFTOVERS, ())
    assert [name.rpartition(" ")[2] for name in end.leftovers] == [f"({child})"]
    assert not is_alive(child)


@can_fork
def test_an_adopted_worker_that_ignores_term_is_killed(stage: Stage) -> None:
    identity, hold, token = orphaned(stage, IGNORES_TERM)
    stage.ready()
    assert adopt(identity, hold, token).end(0.1, CLOCK) == TreeEnd(Ended(), GONE)


def test_a_dead_worker_with_nothing_left_is_gone(stage: Stage) -> None:
    identity, hold, token = orphaned(stage, "pass")
    until(lambda: life_of(identity) is Life.DEAD)
    assert adopt(identity, hold, token).end(5.0, CLOCK) == TreeEnd(Ended(), GONE)
    assert adopt(identity, hold, token).leave() == TreeEnd(Ended(), GONE)


def job_or_session(pid: int) -> Hold:
    if hasattr(os, "fork"):
        return Hold(HoldKind.SESSION, id=pid)
    return Hold(HoldKind.JOB, name="prun-" + "0" * 32)


def test_a_reused_pid_is_not_the_worker_and_stays_untouched(stage: Stage) -> None:
    with stranger(SAYS_READY_AND_SLEEPS, stage.at(), start_new_session=True) as child:
        stage.ready()
        found = identify(child.pid)
        assert found is not None
        recorded = replace(found, start=str(int((found.start or "0").partition(".")[0]) - 1))
        worker = adopt(recorded, job_or_session(child.pid), TOKEN)
        worker.collect()
        assert worker.wait(0.0) == Ended()
        assert worker.end(0.1, CLOCK) == TreeEnd(Ended(), GONE)
        assert child.poll() is None


@has_proc
def test_after_another_boot_nothing_is_left_to_end(stage: Stage) -> None:
    with stranger(SAYS_READY_AND_SLEEPS, stage.at(), env={"PRUN_UNIT": TOKEN}) as child:
        stage.ready()
        found = identify(child.pid)
        assert found is not None
        recorded = replace(found, machine=replace(found.machine, boot="an earlier one"))
        worker = adopt(recorded, job_or_session(child.pid), TOKEN)
        assert worker.end(0.1, CLOCK) == TreeEnd(Ended(), GONE)
        assert child.poll() is None


def parents() -> list[int]:
    return [parent.pid for parent in psutil.Process().parents()]


@pytest.mark.parametrize("pid", [0, 1, -1, -7, 2**31, 2**64], ids=str)
def test_a_number_that_is_no_workers_is_refused(pid: int) -> None:
    with pytest.raises(TargetError):
        adopt(Identity(this_machine(), pid, "1"), job_or_session(pid), TOKEN)


def test_this_process_its_group_and_what_it_stands_on_are_refused() -> None:
    targets = [os.getpid()]
    if sys.platform != "win32":
        targets += [os.getpgrp(), os.getsid(0), *parents()]
    for pid in targets:
        found = identify(pid) if pid > 0 else None
        with pytest.raises(TargetError):
            adopt(found or Identity(this_machine(), pid, "1"), job_or_session(pid), TOKEN)


def test_a_process_of_the_tree_itself_may_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRUN_UNIT", TOKEN)
    with pytest.raises(TargetError, match="part of"):
        adopt(Identity(this_machine(), 4_000_000, "1"), job_or_session(4_000_000), TOKEN)


@pytest.mark.parametrize(
    "hold",
    [
        Hold(HoldKind.SESSION, id=1),
        Hold(HoldKind.SESSION, id=None),
        Hold(HoldKind.GROUP, id=-1),
        Hold(HoldKind.JOB, id=4_000_000),
        Hold(HoldKind.JOB, name="someone-elses"),
        Hold(HoldKind.JOB, name="prun-"),
        Hold(HoldKind.JOB),
    ],
    ids=range(7),
)
def test_a_hold_that_prun_never_makes_is_refused(hold: Hold) -> None:
    with pytest.raises(TargetError):
        adopt(Identity(this_machine(), 4_000_000, "1"), hold, TOKEN)


def test_a_record_without_a_token_is_refused() -> None:
    with pytest.raises(TargetError):
        adopt(Identity(this_machine(), 4_000_000, "1"), job_or_session(4_000_000), "")


@pytest.mark.parametrize(
    "machine",
    [
        Machine("another-host", this_machine().boot, this_machine().pid_namespace),
        replace(this_machine(), pid_namespace="1"),
    ],
    ids=["host", "namespace"],
)
def test_a_worker_elsewhere_is_refused(machine: Machine) -> None:
    with pytest.raises(TargetError, match="nothing tells"):
        adopt(Identity(machine, 4_000_000, "1"), job_or_session(4_000_000), TOKEN)


def test_a_worker_whose_start_is_unknown_is_refused() -> None:
    with pytest.raises(TargetError):
        adopt(replace(myself(), pid=4_000_000, start=None), job_or_session(4_000_000), TOKEN)
