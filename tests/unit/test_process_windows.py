"""What only Windows has: batch files, console-less children, jobs that are found again by name."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from prun.core.errors import LaunchError
from prun.core.identity import Hold, HoldKind, Life
from prun.core.outcome import TreeState
from prun.system.clock import SystemClock
from prun.system.process import Ended, TargetError, adopt, launch, life_of, myself, this_machine
from prun.system.process._cmdline import quoted
from tests.support.processes import SAYS_READY_AND_SLEEPS, SLEEPS, Stage, exit_of, has_jobs, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = has_jobs
CLOCK = SystemClock()
TELLS = "import json, sys; print(json.dumps([sys.argv[1:], sys.stdin.read()]))"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as made:
        yield made


def batch(stage: Stage, name: str) -> str:
    """Return a batch file that hands its arguments on to a Python which tells them."""
    script = stage.place / "tells.py"
    script.write_text(TELLS, encoding="utf-8")
    folder = stage.place / "a (b) folder"
    folder.mkdir()
    path = folder / name
    path.write_text(
        f'@echo off\r\n"{sys.executable}" "{script}" %*\r\nexit /b %errorlevel%\r\n', encoding="utf-8"
    )
    return str(path)


@pytest.mark.parametrize("name", ["agy.cmd", "agy.BAT"])
def test_a_batch_file_gets_its_arguments_and_stdin(stage: Stage, name: str) -> None:
    (stage.place / "in").write_text("prompt\n", encoding="utf-8")
    arguments = ["--model", "a b", "x,y;z=1", "p(q)", "C:\\dir\\", "C:\\a dir\\", "~@#$", "plain"]
    ended, _ = run(stage.launch(batch(stage, name), *arguments))
    assert ended == Ended(code=0), stage.err.read_text(encoding="utf-8")
    assert json.loads(stage.out.read_text(encoding="utf-8")) == [arguments, "prompt\n"]


def test_a_batch_file_is_not_run_with_what_cmd_would_reinterpret(stage: Stage) -> None:
    with pytest.raises(LaunchError, match="reinterpret"):
        launch(stage.launch(batch(stage, "agy.cmd"), "%PATH%"))


def test_arguments_are_read_back_by_windows_itself() -> None:
    arguments = ["", "a b", 'say "hi"', "back\\", "a\\\\b c\\", '\\"', "tab\there", "%PATH%", "ünï"]
    count = ctypes.c_int()
    parse = ctypes.WinDLL("shell32").CommandLineToArgvW  # type: ignore[attr-defined,unused-ignore]
    parse.restype = ctypes.POINTER(ctypes.c_wchar_p)
    found = parse(" ".join(["x.exe", *map(quoted, arguments)]), ctypes.byref(count))
    assert [found[at] for at in range(1, count.value)] == arguments


def test_no_job_of_that_name_is_no_tree(stage: Stage) -> None:
    held = launch(stage.python("pass"))
    record = held.held
    held.abandon()
    worker = adopt(held.identity, record, stage.tokens[0])
    assert worker.end(0.0, CLOCK).state is TreeState.GONE


def test_a_job_is_found_by_name_while_its_worker_lives(stage: Stage) -> None:
    held = launch(stage.python(SAYS_READY_AND_SLEEPS, stage.at()))
    started = held.start()
    stage.ready()
    adopted = adopt(held.identity, held.held, stage.tokens[0])
    assert adopted.end(0.0, CLOCK).state is TreeState.GONE
    assert exit_of(started) == Ended(code=1)
    assert started.end(0.0, CLOCK).state is TreeState.GONE
    assert life_of(held.identity) is Life.DEAD


def test_the_job_this_process_is_in_is_refused(stage: Stage) -> None:
    code = """
import os, sys
from prun.core.identity import Hold, HoldKind, Identity
from prun.system.process import TargetError, adopt, this_machine
os.environ.pop("PRUN_UNIT")
with open(sys.argv[1]) as record:
    pid, start, name = record.read().split()
try:
    adopt(Identity(this_machine(), int(pid), start), Hold(HoldKind.JOB, name=name), "0123456789abcdef")
except TargetError as error:
    print(error)
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    held = launch(stage.launch(sys.executable, "-c", code, stage.at("record"), env=env))
    record = f"{held.identity.pid + 4} {held.identity.start} {held.held.name}"
    (stage.place / "record").write_text(record, encoding="utf-8")
    worker = held.start()
    assert exit_of(worker) == Ended(code=0), stage.err.read_text(encoding="utf-8")
    worker.end(0.0, CLOCK)
    assert "part of its tree" in stage.out.read_text(encoding="utf-8")


def test_a_session_is_no_hold_here() -> None:
    with pytest.raises(TargetError):
        adopt(myself(), Hold(HoldKind.SESSION, id=myself().pid), "0123456789abcdef")


def test_a_start_is_for_all_time_so_there_is_no_boot() -> None:
    assert (this_machine().boot, this_machine().pid_namespace) == (None, None)


def test_a_large_exit_code_stays_whole(stage: Stage) -> None:
    code = "import os; os._exit(0xC0000005 - 2**32)"
    assert run(stage.python(code))[0] == Ended(code=0xC0000005)


def test_the_exit_code_that_means_running_is_an_exit(stage: Stage) -> None:
    assert run(stage.python("raise SystemExit(259)"))[0] == Ended(code=259)


def test_a_held_process_ends_with_its_job(stage: Stage) -> None:
    held = launch(stage.python(SLEEPS))
    assert life_of(held.identity) is Life.ALIVE
    held.abandon()
    assert life_of(held.identity) is Life.DEAD
