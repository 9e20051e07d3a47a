"""A worker's orphans are found by who their parent has become, whatever else they drop."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from prun.core.outcome import TreeState
from prun.system.clock import SystemClock
from prun.system.process import Ended, TreeEnd, become_subreaper, launch
from prun.system.programs import Finished, run_program
from tests.support.processes import KILL, SLEEPS, Stage, exit_of, has_proc, is_alive, pause, stranger, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLOCK = SystemClock()
GONE, LEFTOVERS, NOT_PROVED = TreeState.GONE, TreeState.LEFTOVERS, TreeState.NOT_PROVED
pytestmark = has_proc

READY = """
import os, sys
with open(sys.argv[1] + '.part', 'w') as ready:
    ready.write(str(os.getpid()))
os.replace(sys.argv[1] + '.part', sys.argv[1])
"""
SAYS_READY = READY + "import time; time.sleep(600)"
# each makes the process that runs it hard to recognise, and then says its pid and sleeps
RUNS_ANEW = (
    f"os.execve(sys.executable, [sys.executable, '-I', '-S', '-c', {SAYS_READY!r}, sys.argv[1]], {{}})"
)
OVERWRITES = """
import ctypes
place = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), 'environ')
number = 0
while place[number]:
    ctypes.memset(place[number], 0, len(ctypes.string_at(place[number])))
    number += 1
assert b'PRUN_UNIT' not in open('/proc/self/environ', 'rb').read()
"""
SHAPES = {
    "empty environment": RUNS_ANEW,
    "environment overwritten": OVERWRITES + SAYS_READY,
    "not dumpable": f"""
import ctypes
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
{SAYS_READY}""",
    "deaf, empty environment": f"""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{RUNS_ANEW}""",
}


def daemon(shape: str = RUNS_ANEW, then: str = "") -> str:
    """Return a program that leaves a daemon of *shape*, twice forked, its parent gone, and goes on."""
    return f"""
import os, sys, time
def is_there():
    return os.path.exists(sys.argv[1])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        exec({shape!r})
    os._exit(0)
os.wait()
while not is_there():
    time.sleep(0.01)
{then}
"""


@contextmanager
def swept() -> Iterator[None]:
    """End, at last, what children there are that were not there at first."""
    before = {child.pid for child in psutil.Process().children()}
    try:
        yield
    finally:
        for child in psutil.Process().children():
            if child.pid not in before:
                with suppress(psutil.Error, ChildProcessError):
                    child.kill()
                    os.waitpid(child.pid, 0)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as made, swept():
        yield made


@pytest.fixture(autouse=True)
def subreaper() -> Iterator[None]:
    assert become_subreaper()
    yield
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


def named(names: tuple[str, ...]) -> list[int]:
    """Return the pids of processes that are named ``name (pid)``."""
    return sorted(int(name.rpartition("(")[2].rstrip(")")) for name in names)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_daemon_that_can_not_be_recognised_is_named_and_ended(stage: Stage, shape: str) -> None:
    worker = launch(stage.python(daemon(SHAPES[shape]), stage.at())).start()
    assert exit_of(worker) == Ended(code=0)
    orphan = stage.ready()
    end = worker.end(0.2, CLOCK)
    assert (end.state, named(end.leftovers), end.survivors) == (LEFTOVERS, [orphan], ())
    assert not psutil.pid_exists(orphan)


@pytest.mark.parametrize("shape", SHAPES)
def test_with_its_worker_it_is_ended_too(stage: Stage, shape: str) -> None:
    worker = launch(stage.python(daemon(SHAPES[shape], then="time.sleep(600)"), stage.at())).start()
    orphan = stage.ready()
    assert worker.end(0.2, CLOCK).state is GONE
    assert not psutil.pid_exists(orphan)


def test_left_alone_it_is_named_and_lives(stage: Stage) -> None:
    worker = launch(stage.python(daemon(), stage.at())).start()
    exit_of(worker)
    end = worker.leave()
    assert (end.state, named(end.leftovers)) == (LEFTOVERS, [stage.ready()])
    assert is_alive(stage.ready())
    later = launch(stage.python("pass")).start()
    exit_of(later)
    assert later.end(0.2, CLOCK) == TreeEnd(Ended(code=0), GONE)
    assert is_alive(stage.ready())


def test_a_dead_one_is_reaped_while_the_worker_runs(stage: Stage) -> None:
    worker = launch(stage.python(daemon(then="time.sleep(600)"), stage.at())).start()
    orphan = psutil.Process(stage.ready())
    until(lambda: orphan.ppid() == os.getpid())
    orphan.kill()
    until(lambda: orphan.status() == psutil.STATUS_ZOMBIE)
    worker.collect()
    assert not psutil.pid_exists(orphan.pid)
    assert worker.end(0.2, CLOCK).state is GONE


def test_what_outlives_a_probe_is_ended_with_it(stage: Stage) -> None:
    argv = [sys.executable, "-I", "-S", "-c", daemon(), stage.at()]
    ran = run_program(argv, dict(os.environ), stage.place, 60.0, CLOCK)
    assert ran == Finished(0, b"", b"")
    assert not psutil.pid_exists(stage.ready())


def test_it_is_found_where_the_kernel_lists_no_children(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prun.system.process._procfs.children", lambda _pid: None)
    worker = launch(stage.python(daemon(), stage.at())).start()
    exit_of(worker)
    assert named(worker.end(0.2, CLOCK).leftovers) == [stage.ready()]


@pytest.mark.parametrize("pause_s", [0.02, 0.002, 0.0])
def test_a_chain_of_them_that_outruns_the_looks_is_ended_or_said_not_to_be(
    stage: Stage, pause_s: float
) -> None:
    code = f"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{OVERWRITES}
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


def test_a_worker_that_somebody_else_has_reaped_is_no_rival(stage: Stage) -> None:
    lost = launch(stage.python("pass", stdout=stage.at("lost"))).start()
    os.waitpid(lost.identity.pid, 0)
    worker = launch(stage.python(daemon(), stage.at())).start()
    exit_of(worker)
    assert worker.end(0.2, CLOCK).state is LEFTOVERS
    lost.end(0.2, CLOCK)


def three(stage: Stage) -> tuple[list[Any], list[int]]:
    """Return three workers that have each exited, and the daemons they left when all of them ran."""
    go = stage.place / "go"
    waits = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
    workers = [launch(stage.python(waits + daemon(), stage.at(f"ready-{one}"))).start() for one in range(3)]
    go.touch()
    for worker in workers:
        exit_of(worker)
    return workers, sorted(stage.ready(f"ready-{one}") for one in range(3))


def test_whose_daemons_can_not_be_told_apart_are_named_and_ended_with_the_last(stage: Stage) -> None:
    workers, daemons = three(stage)
    for worker in workers[:2]:
        end = worker.end(0.2, CLOCK)
        assert (end.state, named(end.survivors), named(end.leftovers)) == (NOT_PROVED, daemons, daemons)
        assert all(map(is_alive, daemons))
    end = workers[2].end(0.2, CLOCK)
    assert (end.state, named(end.leftovers), end.survivors) == (LEFTOVERS, daemons, ())
    assert not any(map(psutil.pid_exists, daemons))


def test_left_alone_they_are_said_not_to_be_told_apart(stage: Stage) -> None:
    workers, daemons = three(stage)
    for worker in workers[:2]:
        end = worker.leave()
        assert (end.state, named(end.survivors), named(end.leftovers)) == (NOT_PROVED, daemons, daemons)
    assert workers[2].end(0.2, CLOCK).state is LEFTOVERS


def test_three_threads_that_end_at_once_leave_nobody(stage: Stage) -> None:
    workers, daemons = three(stage)
    together = Barrier(3)
    ends: list[TreeEnd] = []

    def finish(worker: Any) -> None:
        together.wait()
        ends.append(worker.end(0.2, CLOCK))

    threads = [Thread(target=finish, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(map(is_alive, daemons))
    assert {end.state for end in ends} <= {NOT_PROVED, LEFTOVERS, GONE}
    assert {pid for end in ends for pid in named(end.leftovers)} == set(daemons)


def test_threads_that_launch_and_end_while_others_do_take_no_worker_for_an_orphan(stage: Stage) -> None:
    ends: list[object] = []

    def unit(number: int) -> None:
        for _ in range(5):
            worker = launch(stage.python("raise SystemExit(3)", stdout=stage.at(f"out-{number}"))).start()
            worker.collect()
            exit_of(worker)
            ends.append(worker.end(0.2, CLOCK))

    threads = [Thread(target=unit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [TreeEnd(Ended(code=3), GONE)] * 20


def test_a_daemon_is_its_session_s_where_that_was_seen(stage: Stage) -> None:
    code = f"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        exec({RUNS_ANEW!r})
    while not os.path.exists(sys.argv[1] + '-go'):
        time.sleep(0.01)
    os._exit(0)
os.wait()
"""
    one = launch(stage.python(code, stage.at())).start()
    other = launch(stage.python("pass", stdout=stage.at("other"))).start()
    orphan = stage.ready()
    one.collect()
    (stage.place / "ready-go").touch()
    for worker in (one, other):
        exit_of(worker)
    assert other.end(0.2, CLOCK) == TreeEnd(Ended(code=0), GONE)
    assert is_alive(orphan)
    end = one.end(0.2, CLOCK)
    assert (end.state, named(end.leftovers)) == (LEFTOVERS, [orphan])
    assert not psutil.pid_exists(orphan)


def test_who_is_older_than_a_worker_is_not_its(stage: Stage) -> None:
    one = launch(stage.python(daemon(), stage.at())).start()
    exit_of(one)
    orphan = stage.ready()
    one.collect()
    other = launch(stage.python(SLEEPS, stdout=stage.at("other"))).start()
    assert other.end(0.2, CLOCK).state is GONE
    assert is_alive(orphan)
    assert named(one.end(0.2, CLOCK).leftovers) == [orphan]


def test_a_child_from_before_is_neither_ended_nor_named(stage: Stage) -> None:
    for apart in (False, True):
        with stranger(SLEEPS, env={}, start_new_session=apart) as child:
            worker = launch(stage.python("pass")).start()
            worker.collect()
            exit_of(worker)
            assert worker.end(0.2, CLOCK) == TreeEnd(Ended(code=0), GONE)
            assert child.poll() is None


def test_what_may_be_a_daemon_of_a_child_from_before_is_named_and_let_be(stage: Stage) -> None:
    waits = """
import os, sys, time
while not os.path.exists(sys.argv[1] + '-go'):
    time.sleep(0.01)
"""
    with stranger(waits + daemon(then="time.sleep(600)"), stage.at(), start_new_session=True):
        worker = launch(stage.python("pass")).start()
        (stage.place / "ready-go").touch()
        orphan = stage.ready()
        exit_of(worker)
        end = worker.end(0.2, CLOCK)
        assert (end.state, named(end.survivors)) == (NOT_PROVED, [orphan])
        assert is_alive(orphan)
    os.kill(orphan, KILL)
    os.waitpid(orphan, 0)


# a dispatcher that gives up being root can neither signal nor read what its worker leaves as root
GIVES_UP_ROOT = """
import json, os, sys
sys.path[:0] = {path!r}
from prun.core.identity import HoldKind
from prun.system.clock import SystemClock
from prun.system.process import Launch, become_subreaper, launch
import ctypes, prun.system.process._tree as tree
tree.KILL_S, tree._DEATH_S = 0.3, 0.05
become_subreaper()
place = {place!r}
argv = (sys.executable, "-I", "-S", "-c", {code!r}, "ready")
worker = launch(Launch(argv, dict(os.environ), place, place + "/in", place + "/out", place + "/err",
                       HoldKind.SESSION, "a-token")).start()
os.setuid(65534)
worker.wait(60.0)
end = worker.end(0.2, SystemClock())
print(json.dumps([end.state, end.survivors, end.leftovers]))
"""
is_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")


def gives_up_root(stage: Stage, code: str) -> list[Any]:
    """Return the end of a worker that runs *code*, of a dispatcher that has given up being root."""
    program = GIVES_UP_ROOT.format(path=[str(Path.cwd()), *sys.path], place=str(stage.place), code=code)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr.decode()
    end: list[Any] = json.loads(ran.stdout)
    return end


@is_root
def test_who_can_not_be_signalled_is_not_said_to_be_gone(stage: Stage) -> None:
    state, survivors, leftovers = gives_up_root(stage, daemon())
    orphan = stage.ready()
    assert is_alive(orphan)
    os.kill(orphan, KILL)
    assert state == NOT_PROVED
    assert named(survivors) == named(leftovers) == [orphan]


@is_root
def test_whose_environment_can_not_be_read_is_ended(stage: Stage) -> None:
    stage.place.chmod(0o777)
    gives_up = "import ctypes, os, time\nos.setuid(65534)\n"
    state, survivors, leftovers = gives_up_root(stage, gives_up + daemon(SHAPES["not dumpable"]))
    assert (state, survivors, named(leftovers)) == (LEFTOVERS, [], [stage.ready()])
    assert not is_alive(stage.ready())


def believes_the_environment(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("prun.system.process._household.Household._claim", lambda *_: frozenset())


def takes_every_child(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("prun.system.process._household.Household._look_back", lambda _: None)
    patch.setattr("prun.system.process._household.Branch.may_have", lambda *_: True)


def takes_what_may_be_another_s(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "prun.system.process._household.Household._claim", lambda _self, _row, asking: frozenset({asking})
    )


@pytest.mark.parametrize(
    ("bad", "check"),
    [
        (believes_the_environment, test_left_alone_it_is_named_and_lives),
        (takes_every_child, test_a_child_from_before_is_neither_ended_nor_named),
        (
            takes_what_may_be_another_s,
            test_whose_daemons_can_not_be_told_apart_are_named_and_ended_with_the_last,
        ),
    ],
    ids=["believes the environment", "takes every child", "takes what may be another's"],
)
def test_a_household_known_to_be_bad_is_caught(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    bad: Callable[[pytest.MonkeyPatch], None],
    check: Callable[[Stage], None],
) -> None:
    with swept(), monkeypatch.context() as patch:
        bad(patch)
        with pytest.raises(AssertionError):
            check(stage)
