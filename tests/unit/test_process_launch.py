"""A worker exists before its program runs, gets exactly what it was given, and its end is learnt unreaped."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from prun.core.errors import LaunchError
from prun.core.identity import HoldKind, Life
from prun.core.outcome import TreeState
from prun.system.clock import SystemClock
from prun.system.process import Ended, launch, life_of
from tests.support.processes import (
    KILL,
    SAYS_READY_AND_SLEEPS,
    SLEEPS,
    Stage,
    can_fork,
    exit_of,
    has_jobs,
    has_proc,
    pause,
    run,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


CLOCK = SystemClock()
GONE = TreeState.GONE
TELLS = """
import json, os, sys
told = {"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "stdin": sys.stdin.read()}
sys.stdout.buffer.write(json.dumps(told).encode())
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as made:
        yield made


def open_files() -> int:
    gc.collect()
    me = psutil.Process()
    count: Callable[[], int] = getattr(me, "num_fds" if hasattr(me, "num_fds") else "num_handles")
    return count()


def test_the_process_is_there_before_its_program_runs(stage: Stage) -> None:
    held = launch(stage.python(SAYS_READY_AND_SLEEPS, stage.at()))
    assert life_of(held.identity) is Life.ALIVE
    assert not (stage.place / "ready").exists()
    worker = held.start()
    assert worker.identity == held.identity
    assert stage.ready() == held.identity.pid
    assert life_of(held.identity) is Life.ALIVE
    assert worker.end(5.0, CLOCK).state is GONE
    assert life_of(held.identity) is Life.DEAD


@pytest.mark.parametrize("kind", [HoldKind.SESSION, HoldKind.GROUP])
def test_the_record_says_how_the_tree_is_held(stage: Stage, kind: HoldKind) -> None:
    held = launch(stage.python("pass", session=kind))
    record = held.held
    held.abandon()
    if record.kind is HoldKind.JOB:
        assert record.name is not None
        assert record.name.startswith("prun-")
    else:
        assert (record.kind, record.id, record.name) == (kind, held.identity.pid, None)


def check_that_an_abandoned_program_never_runs(stage: Stage) -> None:
    held = launch(stage.python(f"open({stage.at('ran')!r}, 'w')"))
    for _ in range(20):
        pause()
    held.abandon()
    assert life_of(held.identity) is Life.DEAD
    assert not (stage.place / "ran").exists()


def test_an_abandoned_program_never_runs(stage: Stage) -> None:
    check_that_an_abandoned_program_never_runs(stage)


def test_a_program_never_runs_when_its_dispatcher_is_killed_first(stage: Stage) -> None:
    code = """
import os, sys, time
from prun.core.identity import HoldKind
from prun.system.process import Launch, launch
place, token, marker = sys.argv[1:]
program = (sys.executable, "-I", "-S", "-c", f"open({marker!r}, 'w')")
streams = [os.path.join(place, name) for name in ("in", "out", "err")]
held = launch(Launch(program, dict(os.environ), place, *streams, HoldKind.SESSION, token))
print(held.identity.pid, flush=True)
time.sleep(600)
"""
    token = stage.launch("x").token
    marker = stage.at("marker")
    dispatcher = subprocess.Popen(
        [sys.executable, "-c", code, str(stage.place), token, marker],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with dispatcher:
        assert dispatcher.stdout is not None
        pid = int(dispatcher.stdout.readline())
        child = psutil.Process(pid)
        dispatcher.kill()
    child.wait(timeout=30)
    assert not (stage.place / "marker").exists()


def test_a_child_held_by_one_thread_does_not_keep_another_waiting(stage: Stage) -> None:
    first = launch(stage.python("pass"))
    second = launch(stage.python("pass"))
    for held in (first, second):
        worker = held.start()
        assert exit_of(worker) == Ended(code=0)
        assert worker.end(5.0, CLOCK).state is GONE


def test_arguments_environment_and_directory_arrive_as_they_are(stage: Stage) -> None:
    place = stage.place / "a b 'c' $D ü"
    place.mkdir()
    (stage.place / "in").write_text("prompt\n", encoding="utf-8")
    arguments = ["", "a b", 'say "hi"', "back\\slash\\", "ünï", "*", "$HOME", "-x"]
    env = {**os.environ, "A.B": "dots", "A-B": "dash", "EMPTY": "", "Ünï": "ü\nnew line", "PYTHONUTF8": "1"}
    what = stage.launch(sys.executable, "-S", "-c", TELLS, *arguments, env=env, cwd=str(place))
    assert run(what)[0] == Ended(code=0), stage.err.read_text(encoding="utf-8")
    told = json.loads(stage.out.read_bytes())
    assert told["argv"] == arguments
    assert place.samefile(told["cwd"])
    assert told["stdin"] == "prompt\n"
    wanted = {"A.B": "dots", "A-B": "dash", "Ünï": "ü\nnew line", "PRUN_UNIT": what.token}
    got = {name.upper(): value for name, value in told["env"].items()}
    assert {name: got.get(name.upper()) for name in wanted} == wanted


def test_a_program_of_an_odd_path_runs(stage: Stage) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("a copy of this Python would not start there")
    program = stage.place / "a 'b' \"c\" ü"
    program.write_text("#!/bin/sh\nexit 5\n", encoding="utf-8")
    program.chmod(0o700)
    assert run(stage.launch(str(program)))[0] == Ended(code=5)


def test_the_null_device_is_an_empty_stdin(stage: Stage) -> None:
    ended, _ = run(stage.python("import sys; sys.exit(len(sys.stdin.read()) + 4)", stdin=os.devnull))
    assert ended == Ended(code=4)


def test_output_is_appended_and_the_two_streams_may_be_one_file(stage: Stage) -> None:
    stage.out.write_bytes(b"before\n")
    code = "import sys; sys.stdout.write('one\\n'); sys.stdout.flush(); sys.stderr.write('two\\n')"
    assert run(stage.python(code, stderr=str(stage.out)))[0] == Ended(code=0)
    assert stage.out.read_bytes().replace(b"\r\n", b"\n") == b"before\none\ntwo\n"


def test_lines_of_two_processes_on_one_stream_do_not_overwrite_each_other(stage: Stage) -> None:
    code = """
import os, subprocess, sys
def say(mark):
    for _ in range(200):
        os.write(1, mark * 15 + b"\\n")
if sys.argv[1:]:
    say(b"b")
else:
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", os.environ["CODE"], "child"])
    say(b"a")
    sys.exit(child.wait())
"""
    assert run(stage.python(code, env={**os.environ, "CODE": code}))[0] == Ended(code=0)
    lines = stage.out.read_bytes().splitlines()
    assert sorted(lines) == [b"a" * 15] * 200 + [b"b" * 15] * 200


@can_fork
def test_output_files_are_their_owners_alone(stage: Stage) -> None:
    old = os.umask(0o022)
    try:
        run(stage.python("pass"))
    finally:
        os.umask(old)
    assert [path.stat().st_mode & 0o777 for path in (stage.out, stage.err)] == [0o600, 0o600]


def check_that_no_open_file_is_inherited(stage: Stage) -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    try:
        code = "import os; print(sorted(int(n) for n in os.listdir('/dev/fd')))"
        assert run(stage.python(code))[0] == Ended(code=0)
    finally:
        os.close(reader)
        os.close(writer)
    assert stage.out.read_text(encoding="utf-8") == "[0, 1, 2, 3]\n"  # 3 is what lists them


@can_fork
def test_no_open_file_is_inherited_whatever_its_flags(stage: Stage) -> None:
    check_that_no_open_file_is_inherited(stage)


@has_proc
def test_no_open_file_is_inherited_where_they_can_not_be_listed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prun.system.process._fork._OPEN_FILES", stage.at("nowhere"))
    check_that_no_open_file_is_inherited(stage)


@has_proc
def test_without_proc_nothing_is_launched_and_that_is_said(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prun.system.process._fork._OPEN_FILES", stage.at("nowhere"))
    monkeypatch.setattr("prun.system.process._procfs.is_ours", lambda: False)
    with pytest.raises(LaunchError, match="is /proc mounted"):
        launch(stage.python("pass"))


@has_jobs
def test_no_handle_is_inherited_whatever_its_flags(stage: Stage) -> None:
    import msvcrt

    reader, writer = os.pipe()
    handle = msvcrt.get_osfhandle(writer)  # type: ignore[attr-defined,unused-ignore]
    os.set_handle_inheritable(handle, True)  # type: ignore[attr-defined,unused-ignore]
    worker = launch(stage.python(SLEEPS)).start()
    os.close(writer)
    try:
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
        worker.end(0.0, CLOCK)


@pytest.mark.parametrize("kind", [HoldKind.SESSION, HoldKind.GROUP])
@can_fork
def test_a_worker_leads_a_session_or_only_a_group(stage: Stage, kind: HoldKind) -> None:
    code = "import os; print(os.getpid() == os.getpgrp(), os.getsid(0) == os.getpid())"
    assert run(stage.python(code, session=kind))[0] == Ended(code=0)
    own_session = kind is HoldKind.SESSION
    assert stage.out.read_text(encoding="utf-8") == f"True {own_session}\n"


@pytest.mark.parametrize("code", [0, 1, 2, 42, 255])
def test_an_exit_code_is_learnt(stage: Stage, code: int) -> None:
    ended, end = run(stage.python(f"raise SystemExit({code})"))
    assert ended == end.ended == Ended(code=code)
    assert end.state is GONE


def test_waiting_ends_with_its_time_and_leaves_the_worker_running(stage: Stage) -> None:
    worker = launch(stage.python(SAYS_READY_AND_SLEEPS, stage.at())).start()
    for timeout_s in (0.0, -1.0, 0.01):
        assert worker.wait(timeout_s) is None
    stage.ready()
    assert life_of(worker.identity) is Life.ALIVE
    worker.end(0.0, CLOCK)


def check_that_learning_of_an_exit_does_not_reap(stage: Stage) -> None:
    worker = launch(stage.python("raise SystemExit(7)")).start()
    assert exit_of(worker) == exit_of(worker) == Ended(code=7)
    assert psutil.pid_exists(worker.identity.pid)
    assert psutil.Process(worker.identity.pid).status() == psutil.STATUS_ZOMBIE
    worker.end(5.0, CLOCK)
    assert not psutil.pid_exists(worker.identity.pid)
    assert exit_of(worker) == Ended(code=7)


@can_fork
def test_learning_of_an_exit_does_not_reap(stage: Stage) -> None:
    check_that_learning_of_an_exit_does_not_reap(stage)


def failing_programs(stage: Stage) -> dict[str, str]:
    """Return paths that can't be run, each with a word of the reason."""
    place = stage.place
    (place / "directory").mkdir()
    (place / "text.exe").write_text("no program\n", encoding="utf-8")
    (place / "text.exe").chmod(0o600)
    reasons = {str(place / "missing.exe"): "no such file", str(place / "directory"): ""}
    if not hasattr(os, "fork"):
        return {**reasons, str(place / "text.exe"): ""}
    (place / "no interpreter").write_text("#!/nowhere/sh\n", encoding="utf-8")
    (place / "no header").write_text("echo hello\n", encoding="utf-8")
    for name in ("no interpreter", "no header"):
        (place / name).chmod(0o700)
    (place / "loop").symlink_to(place / "loop")
    return {
        **reasons,
        str(place / "text.exe"): "executable",
        str(place / "no interpreter"): "interpreter",
        str(place / "no header"): "#!",
        str(place / "text.exe" / "below"): "not a directory",
        str(place / "loop"): "",
    }


def test_what_can_not_be_run_is_said_in_one_line_and_leaves_nothing(stage: Stage) -> None:
    programs = failing_programs(stage)
    before = None
    for program, reason in [*programs.items(), *programs.items()]:
        with pytest.raises(LaunchError) as refusal:
            launch(stage.launch(program, "argument")).start()
        text = str(refusal.value)
        assert text.startswith(f"cannot run {program}: ")
        assert reason in text.lower()
        assert "\n" not in text
        before = before or open_files()
    assert open_files() <= (before or 0) + 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"argv": ("agy",)}, "absolute"),
        ({"argv": ("./agy", "x")}, "absolute"),
        ({"argv": (sys.executable, "a\0b")}, "NUL"),
        ({"env": {"": "x"}}, "environment variable"),
        ({"env": {"a=b": "x"}}, "environment variable"),
        ({"cwd": "missing"}, "directory"),
        ({"stdin": "missing/in"}, "opened"),
        ({"stdout": "missing/out"}, "opened"),
        ({"stderr": "missing/err"}, "opened"),
    ],
    ids=range(9),
)
def test_a_launch_that_can_not_be_is_refused(stage: Stage, changes: dict[str, object], reason: str) -> None:
    for name in ("cwd", "stdin", "stdout", "stderr"):
        if name in changes:
            changes[name] = stage.at(str(changes[name]))
    with pytest.raises(LaunchError, match=reason):
        launch(stage.launch(*changes.pop("argv", (sys.executable,)), **changes))  # type: ignore[misc]


@can_fork
def test_a_program_ended_while_it_is_held_is_a_launch_error(stage: Stage) -> None:
    held = launch(stage.python("pass"))
    os.kill(held.identity.pid, KILL)
    until(lambda: life_of(held.identity) is Life.DEAD)
    with pytest.raises(LaunchError, match="ended before it could start"):
        held.start()
    assert not psutil.pid_exists(held.identity.pid)


def test_launches_leave_no_open_file_and_no_child_behind(stage: Stage) -> None:
    quick = ("/bin/sh", "-c", "exit 0") if hasattr(os, "fork") else (sys.executable, "-I", "-S", "-c", "")
    rounds = 50 if hasattr(os, "fork") else 5
    first = None
    for _ in range(rounds):
        assert run(stage.launch(*quick))[0] == Ended(code=0)
        launch(stage.launch(*quick)).abandon()
        assert launch(stage.launch(*quick)).start().end(0.0, CLOCK).state is GONE
        with pytest.raises(LaunchError):
            launch(stage.launch(stage.at("missing"))).start()
        first = first or open_files()
    assert open_files() <= (first or 0) + 1
    stage.tokens[:-4] = []
    assert psutil.Process().children() == []


@pytest.mark.parametrize("action", ["error", "always"])
def test_threads_launch_at_the_same_time_without_a_warning(stage: Stage, action: str) -> None:
    ends: list[object] = []

    def unit(number: int) -> None:
        ends.append(run(stage.python(f"raise SystemExit({number})", stdout=stage.at(f"out-{number}")))[0])

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)  # type: ignore[arg-type]  # one of its literals
        threads = [threading.Thread(target=unit, args=(number,)) for number in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == []
    assert sorted(ends, key=repr) == [Ended(code=number) for number in range(1, 9)]


def runs_at_once(patch: pytest.MonkeyPatch) -> None:
    from prun.system.process import _fork

    def set_up(plan: Any) -> None:
        ready(plan)
        os.write(plan.report, b"r")
        os.execve(plan.argv[0], plan.argv, plan.env)  # noqa: S606 - what it is about

    ready = _fork._set_up  # type: ignore[attr-defined,unused-ignore]
    patch.setattr(_fork, "_set_up", set_up)


def keeps_files_open(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("prun.system.process._fork._close_all_but", lambda _kept: None)


def reaps_to_learn(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "WNOWAIT", 0)


@has_proc
@pytest.mark.parametrize(
    ("bad", "check"),
    [
        (runs_at_once, check_that_an_abandoned_program_never_runs),
        (keeps_files_open, check_that_no_open_file_is_inherited),
        (reaps_to_learn, check_that_learning_of_an_exit_does_not_reap),
    ],
    ids=["runs at once", "keeps files open", "reaps to learn"],
)
def test_a_launch_known_to_be_bad_is_caught(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    bad: Callable[[pytest.MonkeyPatch], None],
    check: Callable[[Stage], None],
) -> None:
    bad(monkeypatch)
    with pytest.raises(AssertionError):
        check(stage)
