"""A worker's whole tree is ended and proved gone, whatever it does, and nothing else is touched."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from prun.core.identity import HoldKind
from prun.core.outcome import TreeState
from prun.system.clock import SystemClock
from prun.system.process import Ended, TreeEnd, become_subreaper, launch
from tests.support.processes import (
    IGNORES_TERM,
    KILL,
    READY,
    SAYS_READY_AND_SLEEPS,
    SLEEPS,
    STOP,
    Stage,
    can_fork,
    exit_of,
    has_jobs,
    has_proc,
    is_alive,
    pause,
    stranger,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLOCK = SystemClock()
GONE, LEFTOVERS, NOT_PROVED = TreeState.GONE, TreeState.LEFTOVERS, TreeState.NOT_PROVED
PYTHON = "[sys.executable, '-I', '-S', '-c']"

# a worker with a child that says its pid; what the worker does then is added
WITH_CHILD = f"""
import os, subprocess, sys, time
child = subprocess.Popen({PYTHON} + [{SAYS_READY_AND_SLEEPS!r}, sys.argv[1]])
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""
ESCAPED = """
import os, signal, sys, time
def ready():
    with open(sys.argv[1] + '.part', 'w') as out:
        out.write(str(os.getpid()))
    os.replace(sys.argv[1] + '.part', sys.argv[1])
def escaped():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            ready()
            time.sleep(600)
        os._exit(0)
    os.wait()
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as made:
        yield made


@pytest.fixture
def subreaper() -> Iterator[None]:
    assert become_subreaper()
    yield
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


def test_a_tree_that_hears_term_is_gone(stage: Stage) -> None:
    worker = launch(stage.python(WITH_CHILD + "time.sleep(600)", stage.at())).start()
    child = stage.ready()
    end = worker.end(30.0, CLOCK)
    assert (end.state, end.survivors, end.leftovers) == (GONE, (), ())
    assert end.ended in (Ended(signal=signal.SIGTERM), Ended(code=1))
    assert not is_alive(child)
    assert not psutil.pid_exists(worker.identity.pid) or not hasattr(os, "fork")


def test_a_second_end_gives_the_first_answer(stage: Stage) -> None:
    worker = launch(stage.python(SLEEPS)).start()
    end = worker.end(5.0, CLOCK)
    assert worker.end(5.0, CLOCK) == worker.leave() == end
    assert worker.wait(0.0) == end.ended
    worker.collect()


@can_fork
def test_a_worker_may_use_its_grace_to_finish(stage: Stage) -> None:
    code = f"""
import signal, sys, os, time
def finish(*_):
    open(sys.argv[1] + "-done", "w").close()
    raise SystemExit(4)
signal.signal(signal.SIGTERM, finish)
{READY}
time.sleep(600)
"""
    worker = launch(stage.python(code, stage.at())).start()
    stage.ready()
    assert worker.end(30.0, CLOCK) == TreeEnd(Ended(code=4), GONE)
    assert (stage.place / "ready-done").exists()


@can_fork
def test_a_worker_that_ignores_term_is_killed(stage: Stage) -> None:
    worker = launch(stage.python(IGNORES_TERM, stage.at())).start()
    stage.ready()
    assert worker.end(0.1, CLOCK) == TreeEnd(Ended(signal=KILL), GONE)


@can_fork
def test_a_stopped_worker_is_ended(stage: Stage) -> None:
    worker = launch(stage.python(SAYS_READY_AND_SLEEPS, stage.at())).start()
    os.kill(stage.ready(), STOP)
    assert worker.end(30.0, CLOCK) == TreeEnd(Ended(signal=signal.SIGTERM), GONE)


@pytest.mark.parametrize("kind", [HoldKind.SESSION, HoldKind.GROUP])
@pytest.mark.parametrize("collected", [False, True], ids=["unseen", "collected"])
@can_fork
def test_who_leaves_the_session_by_a_double_fork_is_ended_too(
    stage: Stage, kind: HoldKind, collected: bool
) -> None:
    code = ESCAPED + "escaped(); time.sleep(600)"
    worker = launch(stage.python(code, stage.at(), session=kind)).start()
    escaped = stage.ready()
    if collected:
        worker.collect()
    if sys.platform != "win32":
        assert os.getsid(escaped) != os.getsid(worker.identity.pid)
    assert worker.end(0.1, CLOCK).state is GONE
    assert not is_alive(escaped)


@has_proc
@pytest.mark.usefixtures("subreaper")
def test_an_orphan_becomes_ours_and_is_reaped(stage: Stage) -> None:
    worker = launch(stage.python(ESCAPED + "escaped(); time.sleep(600)", stage.at())).start()
    orphan = psutil.Process(stage.ready())
    assert orphan.ppid() == os.getpid()
    worker.collect()
    orphan.kill()
    until(lambda: orphan.status() == psutil.STATUS_ZOMBIE)
    worker.collect()
    assert not orphan.is_running()
    assert worker.end(5.0, CLOCK).state is GONE


@has_proc
@pytest.mark.usefixtures("subreaper")
def test_an_orphan_of_another_unit_is_left_to_it(stage: Stage) -> None:
    one = launch(stage.python(ESCAPED + "escaped(); time.sleep(600)", stage.at())).start()
    other = launch(stage.python(SLEEPS)).start()
    orphan = stage.ready()
    for worker in (other, one, other):
        worker.collect()
    assert other.end(5.0, CLOCK).state is GONE
    assert is_alive(orphan)
    assert one.end(0.1, CLOCK).state is GONE
    assert not is_alive(orphan)


@has_proc
@pytest.mark.usefixtures("subreaper")
def test_a_child_of_this_process_that_is_no_workers_is_let_be(stage: Stage) -> None:
    for apart in (False, True):
        with stranger(SLEEPS, start_new_session=apart) as child:
            worker = launch(stage.python(ESCAPED + "escaped(); time.sleep(600)", stage.at())).start()
            stage.ready()
            worker.collect()
            assert worker.end(0.1, CLOCK).state is GONE
            assert child.poll() is None
        (stage.place / "ready").unlink()


@can_fork
def test_who_dropped_the_token_and_the_session_was_seen_before(stage: Stage) -> None:
    code = f"""
import os, subprocess, sys, time
subprocess.Popen({PYTHON} + [{IGNORES_TERM!r}, sys.argv[1]], env={{}}, start_new_session=True)
while not os.path.exists(sys.argv[1] + "-go"):
    time.sleep(0.01)
"""
    worker = launch(stage.python(code, stage.at())).start()
    child = stage.ready()
    worker.collect()
    (stage.place / "ready-go").touch()
    assert exit_of(worker) == Ended(code=0)
    end = worker.end(0.1, CLOCK)
    assert (end.state, len(end.leftovers)) == (LEFTOVERS, 1)
    assert end.leftovers[0].endswith(f" ({child})")
    assert not is_alive(child)


@can_fork
def test_a_tree_that_forks_while_it_is_ended_is_gone(stage: Stage) -> None:
    code = f"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def breed(depth):
    for number in range(4):
        if os.fork() == 0:
            if number % 2:
                os.setsid()
            time.sleep(0.01 * number)
            if depth < 3:
                breed(depth + 1)
            time.sleep(600)
            os._exit(0)
        time.sleep(0.02)
if os.fork() == 0:
    breed(0)
    time.sleep(600)
    os._exit(0)
{READY}
time.sleep(600)
"""
    worker = launch(stage.python(code, stage.at())).start()
    stage.ready()
    assert worker.end(0.05, CLOCK) == TreeEnd(Ended(signal=KILL), GONE)


@can_fork
def test_a_tree_that_answers_term_by_starting_more_is_gone(stage: Stage) -> None:
    code = f"""
import os, signal, sys, time
def more(*_):
    if os.fork() == 0:
        os.setsid()
        open(sys.argv[1] + "-more", "w").close()
    time.sleep(600)
signal.signal(signal.SIGTERM, more)
{READY}
time.sleep(600)
"""
    worker = launch(stage.python(code, stage.at())).start()
    stage.ready()
    assert worker.end(1.0, CLOCK) == TreeEnd(Ended(signal=KILL), GONE)
    assert (stage.place / "ready-more").exists()


def test_what_a_worker_left_behind_is_named_and_ended(stage: Stage) -> None:
    worker = launch(stage.python(WITH_CHILD, stage.at())).start()
    child = stage.ready()
    assert exit_of(worker) == Ended(code=0)
    end = worker.end(5.0, CLOCK)
    assert (end.ended, end.state, end.survivors) == (Ended(code=0), LEFTOVERS, ())
    assert [name.rpartition(" ")[2] for name in end.leftovers] == [f"({child})"]
    assert end.leftovers[0].startswith("python")
    assert not is_alive(child)


def test_a_grandchild_that_holds_stdout_does_not_hold_the_wait(stage: Stage) -> None:
    worker = launch(stage.python(WITH_CHILD + "print('done')", stage.at())).start()
    stage.ready()
    assert exit_of(worker) == Ended(code=0)
    assert stage.out.read_text(encoding="utf-8").strip() == "done"
    worker.end(5.0, CLOCK)


@can_fork
def test_a_leftover_that_ignores_term_is_killed(stage: Stage) -> None:
    worker = launch(stage.python(ESCAPED + "escaped()", stage.at())).start()
    escaped = stage.ready()
    assert exit_of(worker) == Ended(code=0)
    assert worker.end(0.1, CLOCK).state is LEFTOVERS
    assert not is_alive(escaped)


def test_nothing_left_is_nothing_to_tell(stage: Stage) -> None:
    worker = launch(stage.python("raise SystemExit(3)")).start()
    assert exit_of(worker) == Ended(code=3)
    assert worker.end(5.0, CLOCK) == TreeEnd(Ended(code=3), GONE)


def test_what_ends_a_moment_after_the_worker_is_no_leftover(stage: Stage) -> None:
    code = f"""
import os, subprocess, sys
subprocess.Popen({PYTHON} + ["import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
"""
    worker = launch(stage.python(code)).start()
    assert exit_of(worker) == Ended(code=0)
    assert worker.end(5.0, CLOCK).leftovers == ()


def test_left_alone_the_rest_is_named_and_lives(stage: Stage) -> None:
    worker = launch(stage.python(WITH_CHILD, stage.at())).start()
    child = stage.ready()
    assert exit_of(worker) == Ended(code=0)
    end = worker.leave()
    assert (end.ended, end.state, len(end.leftovers)) == (Ended(code=0), LEFTOVERS, 1)
    assert end.leftovers[0].endswith(f" ({child})")
    assert is_alive(child)
    assert worker.leave() == worker.end(0.0, CLOCK) == end
    psutil.Process(child).kill()
    until(lambda: not is_alive(child))


def test_left_alone_with_nothing_behind_it_a_worker_is_reaped(stage: Stage) -> None:
    worker = launch(stage.python("pass")).start()
    assert exit_of(worker) == Ended(code=0)
    assert worker.leave() == TreeEnd(Ended(code=0), GONE)


def test_a_worker_that_still_runs_is_not_left(stage: Stage) -> None:
    worker = launch(stage.python(SAYS_READY_AND_SLEEPS, stage.at())).start()
    pid = stage.ready()
    assert worker.leave() == TreeEnd(None, NOT_PROVED, survivors=(f"worker ({pid})",))
    assert is_alive(pid)
    assert worker.end(5.0, CLOCK).state is GONE


@can_fork
def test_a_name_is_bounded_and_printable(stage: Stage) -> None:
    program = stage.place / "x\n\x1b[31m\u202e) Z 1 (y"
    program.symlink_to(sys.executable)
    code = f"""
import os, subprocess, sys, time
subprocess.Popen([{str(program)!r}, '-I', '-S', '-c', {SAYS_READY_AND_SLEEPS!r}, sys.argv[1]])
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""
    worker = launch(stage.python(code, stage.at())).start()
    stage.ready()
    exit_of(worker)
    (name,) = worker.end(5.0, CLOCK).leftovers
    assert name.isprintable()
    assert len(name) < 70


def test_a_sibling_of_the_same_program_is_let_be(stage: Stage) -> None:
    one = launch(stage.python(SAYS_READY_AND_SLEEPS, stage.at("one"))).start()
    other = launch(stage.python(SAYS_READY_AND_SLEEPS, stage.at("other"))).start()
    stage.ready("one")
    stage.ready("other")
    for worker in (one, other):
        worker.collect()
    assert one.end(5.0, CLOCK).state is GONE
    assert other.wait(0.0) is None
    assert other.end(5.0, CLOCK).state is GONE


def test_units_of_several_threads_end_only_their_own(stage: Stage) -> None:
    from threading import Thread

    states: list[tuple[object, TreeState]] = []
    keeper = launch(stage.python(SLEEPS, stdout=stage.at("keeper"), stderr=stage.at("keeper"))).start()

    def unit(number: int) -> None:
        name = f"ready-{number}"
        quits = "" if number % 2 else "time.sleep(600)"
        worker = launch(
            stage.python(WITH_CHILD + quits, stage.at(name), stdout=stage.at(f"o{number}"))
        ).start()
        stage.ready(name)
        worker.collect()
        if number % 2:
            exit_of(worker)
        states.append((number % 2, worker.end(5.0, CLOCK).state))

    threads = [Thread(target=unit, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(states) == [(0, GONE)] * 3 + [(1, LEFTOVERS)] * 3
    assert keeper.wait(0.0) is None
    keeper.end(5.0, CLOCK)


@has_proc
def test_collecting_and_ending_do_without_pidfds_and_child_lists(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    monkeypatch.setattr("prun.system.process._procfs.children", lambda _pid: None)
    worker = launch(stage.python(ESCAPED + "escaped(); time.sleep(600)", stage.at())).start()
    escaped = stage.ready()
    worker.collect()
    assert worker.wait(0.01) is None
    assert worker.end(0.2, CLOCK).state is GONE
    assert not is_alive(escaped)
    quick = launch(stage.python("raise SystemExit(3)")).start()
    assert exit_of(quick) == Ended(code=3)
    assert quick.end(0.0, CLOCK) == TreeEnd(Ended(code=3), GONE)


@has_proc
def test_who_can_not_be_ended_is_named(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = launch(stage.python(ESCAPED + "escaped(); time.sleep(600)", stage.at())).start()
    escaped = stage.ready()
    with monkeypatch.context() as patch:
        patch.setattr("prun.system.process._tree.KILL_S", 0.3)
        patch.setattr("prun.system.process._tree._DEATH_S", 0.05)

        def refuse(*_arguments: object) -> None:
            raise PermissionError

        patch.setattr(signal, "pidfd_send_signal", refuse)
        end = worker.end(0.0, CLOCK)
    assert (end.ended, end.state) == (Ended(signal=signal.SIGTERM), NOT_PROVED)
    assert [name.rpartition(" ")[2] for name in end.survivors] == [f"({escaped})"]
    os.kill(escaped, KILL)
    until(lambda: not is_alive(escaped))


@can_fork
@pytest.mark.parametrize("pause_s", [0.02, 0.002, 0.0])
def test_a_tree_that_outruns_the_looks_is_ended_or_said_not_to_be(stage: Stage, pause_s: float) -> None:
    code = f"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{READY}
end = time.monotonic() + 20
while time.monotonic() < end and not os.path.exists(sys.argv[1] + "-stop"):
    if os.fork():
        os._exit(0)
    os.setsid()
    os.write(1, b".")
    time.sleep({pause_s})
os.write(1, b"|")
"""
    worker = launch(stage.python(code, stage.at())).start()
    stage.ready()
    end = worker.end(0.0, CLOCK)
    steps = stage.out.stat().st_size
    assert bool(end.survivors) == (end.state is NOT_PROVED)
    for _ in range(20):
        pause()
    if end.state is not NOT_PROVED:
        assert stage.out.stat().st_size == steps
        return
    (stage.place / "ready-stop").touch()
    until(lambda: stage.out.read_bytes().endswith(b"|"))


@has_jobs
def test_no_member_of_a_job_outlives_it(stage: Stage) -> None:
    code = (
        WITH_CHILD + f"subprocess.Popen({PYTHON} + [{SLEEPS!r}], creationflags=0x8 | 0x200)\ntime.sleep(600)"
    )
    worker = launch(stage.python(code, stage.at())).start()
    stage.ready()
    assert worker.end(0.0, CLOCK) == TreeEnd(Ended(code=1), GONE)
