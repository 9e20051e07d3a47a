"""Monitor over real processes: who lives, who is dead, who only looks dead, and what wakes its caller."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

import psutil
import pytest

from prun.system import process
from tests.support.capabilities import make_fifo, make_socket, needs_fifos, needs_sockets, needs_symlinks
from tests.support.doors import Listening, check_silent, door, monitor, unread
from tests.support.processes import KILL, SLEEPS, STOP, can_fork, is_alive, stranger, until
from tests.support.scenes import do, result, say, wait_for
from tests.support.units import FAILED, Made, make_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.lab import Lab

LAUNCHER = Path(__file__).resolve().parents[2] / "scripts" / "monitor.py"
CONT = getattr(signal, "SIGCONT", 0)
ONE_LOOK = {"PRUN_MONITOR_TIMEOUT": "0"}
FORMS = [
    pytest.param([sys.executable, "-P", "-m", "prun.monitor"], id="-m prun.monitor"),
    pytest.param([sys.executable, "-P", "-m", "prun", "monitor"], id="prun monitor"),
    pytest.param([sys.executable, str(LAUNCHER)], id="monitor.py"),
]

as_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0, reason="needs the right to be another user"
)
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")


@pytest.fixture
def units(lab: Lab) -> list[Made]:
    """Give three units that are over: done, failed, done."""
    made = [make_unit(lab.root / "state", name) for name in ("one", "two é", "three")]
    for each in made:
        each.writes()
    made[0].ends()
    made[1].ends(**FAILED)
    made[2].ends()
    return made


@contextmanager
def running(lab: Lab) -> Iterator[tuple[subprocess.Popen[bytes], Path, Path]]:
    """Give a dispatcher whose worker has spoken and waits, its state directory, and the file it waits for."""
    go = lab.root / "go"
    lab.plays(say("I have begun.", open=True), wait_for(go), result())
    dispatcher = lab.start()
    state = lab.state_of(dispatcher)
    until((state / "conversation-id").exists)
    yield dispatcher, state, go
    go.touch()


def seconds_of(status: str) -> int:
    """Return for how long a unit is stalled."""
    return int(status.removeprefix("stalled(").removesuffix("s)"))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_program(form: list[str], units: list[Made], lab: Lab) -> None:
    told = Listening(lab.command([*form, *(made.path for made in units)])).end()
    assert told.lines == [
        "MONITOR-START units=3 stall-threshold=600s timeout=3600s",
        "MONITOR-EVENT fail",
        *(
            f"UNIT {made.name} {status}"
            for made, status in zip(units, ("done", "failed(quota)", "done"), strict=True)
        ),
    ]
    assert (told.code, told.stderr) == (3, "")
    told = Listening(lab.command([*form, "--help"])).end()
    assert (told.code, told.stderr) == (0, "")
    assert told.lines[0].startswith("usage: prun monitor ")


@pytest.mark.smoke
def test_the_outcome_of_a_running_unit_wakes_its_watcher(lab: Lab) -> None:
    with running(lab) as (dispatcher, state, go):
        assert monitor(lab, state, env=ONE_LOOK).statuses == ["growing"]
        watcher = door(lab, "monitor", state, env={"PRUN_MONITOR_POLL": "30"})
        watcher.until("MONITOR-START")
        go.touch()
        told = watcher.end()
        assert lab.finish(dispatcher).code == 0
    assert (told.code, told.event, told.statuses) == (0, "all-done", ["done"])
    again = monitor(lab, state)
    assert again.lines == told.lines


def test_a_failed_unit_wakes_its_watcher_while_the_others_go_on(lab: Lab) -> None:
    with running(lab) as (dispatcher, state, go):
        other = make_unit(lab.root / "by-hand", "u2")
        watcher = door(lab, "monitor", state, other.path)
        watcher.until("MONITOR-START")
        other.ends(**FAILED)
        told = watcher.end()
        assert (told.code, told.event, told.statuses) == (3, "fail", ["growing", "failed(quota)"])
        rest = door(lab, "monitor", state, other.path, "--except", "u2", "--follow")
        rest.until(f"{other.name} failed(quota)")
        go.touch()
        lab.finish(dispatcher)
        told = rest.end()
    assert (told.code, told.event, told.statuses) == (0, "all-done", ["done", "failed(quota)"])
    told = monitor(lab, state, other.path, "--until", "all")
    assert (told.code, told.event, told.statuses) == (3, "fail", ["done", "failed(quota)"])


@can_fork
@pytest.mark.parametrize("buried", [True, False], ids=["gone", "zombie"])
def test_a_killed_dispatcher_leaves_an_orphan_and_then_a_dead_unit(buried: bool, lab: Lab) -> None:
    with running(lab) as (dispatcher, state, _):
        worker = int((state / "worker-pid-unverified").read_text(encoding="ascii"))
        watcher = door(lab, "monitor", state)
        watcher.until("MONITOR-START")
        dispatcher.send_signal(KILL)
        if buried:
            dispatcher.wait()
        else:
            until(lambda: psutil.Process(dispatcher.pid).status() == psutil.STATUS_ZOMBIE)
        told = watcher.end()
        assert (told.code, told.event, told.statuses) == (3, "fail", ["failed(orphaned)"])
        assert is_alive(worker)
        os.kill(worker, KILL)
        until(lambda: not is_alive(worker))
        told = monitor(lab, state)
        assert (told.code, told.event, told.statuses) == (3, "fail", ["failed(dispatch-dead)"])


@can_fork
def test_a_stopped_dispatcher_is_not_dead(lab: Lab) -> None:
    with running(lab) as (dispatcher, state, go):
        dispatcher.send_signal(STOP)
        until(lambda: psutil.Process(dispatcher.pid).status() == psutil.STATUS_STOPPED)
        assert monitor(lab, state, env={"PRUN_MONITOR_TIMEOUT": "1.5"}).statuses == ["growing"]
        told = monitor(lab, state, env={"PRUN_STALL_THRESHOLD": "0.5"})
        assert (told.code, told.event) == (3, "stall")
        dispatcher.send_signal(CONT)
        go.touch()
        assert monitor(lab, state).statuses == ["done"]
        assert lab.finish(dispatcher).code == 0


def test_a_pid_that_is_somebody_elses_by_now_is_dead(lab: Lab) -> None:
    made = make_unit(lab.root / "state")
    made.owned_by(replace(process.myself(), start="1"))
    assert monitor(lab, made.path).statuses == ["failed(dispatch-dead)"]


def test_a_pid_that_an_older_tool_left_is_judged_by_when_its_process_began(lab: Lab) -> None:
    old, young = (make_unit(lab.root / "state", name, older=True) for name in ("old", "young"))
    with stranger(SLEEPS) as child:
        for made in (old, young):
            made.put(made.state.dispatch_pid, f"\ufeff{child.pid}\r\n".encode())
        began_s = int(psutil.Process(child.pid).create_time())
        old.put(old.state.timestamp, f"{began_s - 3600}\n".encode())
        assert monitor(lab, old.path).statuses == ["failed(dispatch-dead)"]
        assert monitor(lab, young.path, env=ONE_LOOK).statuses == ["pending"]
    assert monitor(lab, young.path).statuses == ["failed(dispatch-dead)"]


JUNK = ["0", "-1", "", " \n", "1 2", "99999999999999999999", "abc", "\u0663"]


def test_a_pid_that_is_none_is_unknown_and_never_signalled(lab: Lab) -> None:
    made = [make_unit(lab.root / f"state-{number}", older=True) for number in range(len(JUNK))]
    for each, junk in zip(made, JUNK, strict=True):
        each.put(each.state.dispatch_pid, junk.encode())
    told = monitor(lab, *(each.path for each in made), env={"PRUN_MONITOR_TIMEOUT": "1.5"})
    assert (told.code, told.event) == (2, "timeout")
    assert told.statuses == ["pending"] * len(JUNK)
    check_silent(told)


BECOME_NOBODY = "os.setgroups([]); os.setgid(65534); os.setuid(65534)"
# Loads everything first: what a virtual environment is made of may be closed to others.
UNPRIVILEGED = f"""
import codecs, os, sys, psutil, prun.monitor
codecs.lookup("utf-8-sig")
{BECOME_NOBODY}
sys.exit(prun.monitor.main(sys.argv[1:]))
"""
SLEEPS_AS_NOBODY = f"""
import os, time
{BECOME_NOBODY}
print("ready", flush=True)
time.sleep(600)
"""


def open_to_all() -> Path:
    """Return where others can enter a temporary directory: this run's own place may be closed to them."""
    own = Path(gettempdir())
    entered = all(place.stat().st_mode & stat.S_IXOTH for place in (own, *own.parents))
    return own if entered else Path("/tmp")  # noqa: S108 - the system's own


@as_root
def test_a_process_of_another_user_is_not_dead(lab: Lab) -> None:
    with TemporaryDirectory(dir=open_to_all()) as name:
        place = Path(name)
        made = make_unit(place / "state", "ours")
        older = make_unit(place / "state", "older", older=True)
        for each in (made, older):
            each.says(b"something")
        for path in (place, *place.rglob("*")):
            path.chmod(0o755)
        words = [sys.executable, "-P", "-c", UNPRIVILEGED, made.path, older.path]
        told = Listening(lab.command(words, env={"PRUN_MONITOR_TIMEOUT": "1.5"})).end()
    assert told.statuses == ["growing", "growing"], told
    check_silent(told)


@as_root
def test_a_dispatcher_that_runs_as_another_user_is_seen_to_live_and_to_die(lab: Lab) -> None:
    made = make_unit(lab.root / "state")
    with stranger(SLEEPS_AS_NOBODY, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        child.stdout.close()
        owner = process.identify(child.pid)
        assert owner is not None
        made.owned_by(owner)
        assert monitor(lab, made.path, env={"PRUN_MONITOR_TIMEOUT": "1.5"}).statuses == ["pending"]
    assert monitor(lab, made.path).statuses == ["failed(dispatch-dead)"]


@can_fork
def test_a_monitor_that_was_stopped_itself_tells_a_stall_later_and_never_wrongly(lab: Lab) -> None:
    made = make_unit(lab.root / "state")
    made.says(b"something")
    limits = {"PRUN_STALL_THRESHOLD": "1"}
    watcher = door(lab, "monitor", made.path, "--follow", env=limits)
    watcher.until("growing")
    watcher.process.send_signal(STOP)
    assert monitor(lab, made.path, env=limits).event == "stall"
    watcher.process.send_signal(CONT)
    told = watcher.end()
    assert told.event == "stall"
    assert seconds_of(told.statuses[0]) >= 2


def test_a_stall_is_told_again_until_the_watch_is_fresh(lab: Lab) -> None:
    made = make_unit(lab.root / "state")
    made.says(b"something", age_s=1200)
    for _ in range(2):
        told = monitor(lab, made.path)
        assert (told.code, told.event) == (3, "stall")
        assert seconds_of(told.statuses[0]) >= 1200
    told = monitor(lab, made.path, "--fresh", env={"PRUN_MONITOR_TIMEOUT": "0.5"})
    assert (told.code, told.event, told.statuses) == (2, "timeout", ["growing"])


def test_an_open_tool_call_has_a_threshold_of_its_own(lab: Lab) -> None:
    lab.plays(do("tool", name="grep", open=True), do("hang"))
    dispatcher = lab.start()
    state = lab.state_of(dispatcher)
    until(lambda: "grep" in lab.tail())
    limits = {"PRUN_STALL_THRESHOLD": "0.5", "PRUN_MONITOR_TIMEOUT": "1.5"}
    assert monitor(lab, state, env={**limits, "PRUN_TOOL_STALL_THRESHOLD": "600"}).statuses == ["growing"]
    assert monitor(lab, state, env=limits).event == "stall"
    dispatcher.terminate()
    lab.finish(dispatcher)


def test_the_result_of_an_older_tool_is_final_once_it_has_been_quiet(lab: Lab) -> None:
    good, fell = (make_unit(lab.root / "state", name, older=True) for name in ("good", "fell"))
    good.writes(age_s=60)
    fell.writes("# fell result (FALLBACK, Codex wrote nothing)\r\n".encode("utf-16"), age_s=60)
    long = {**ONE_LOOK, "PRUN_MONITOR_STABLE_WINDOW": "3600"}
    assert monitor(lab, good.path, fell.path, env=long).statuses == ["finishing", "finishing"]
    told = monitor(lab, good.path, fell.path, env={"PRUN_MONITOR_STABLE_WINDOW": "50"})
    assert (told.event, told.statuses) == ("fail", ["done", "failed(fallback)"])


def test_objects_are_told_one_on_each_line(lab: Lab) -> None:
    lab.plays(do("tool", name="grep"), say(), result())
    run = lab.dispatch()
    told = monitor(lab, run.state, "--json", "--follow")
    start, change, event, unit = (json.loads(line) for line in told.lines)
    assert (start["event"], start["units"], event) == ("start", 1, {"event": "all-done", "exit_status": 0})
    assert {**change, "idle_s": 0} == {**unit, "idle_s": 0}
    assert (unit["unit"], unit["status"], unit["kind"]) == (run.state.name, "done", "ok")
    assert (unit["state_dir"], unit["result_path"]) == (str(run.state), str(run.result))
    assert unit["turns"] == run.outcome["num_turns"]
    assert unit["tokens"] == run.outcome["usage"]["total_tokens"]
    assert unit["last_step"]["state"] == "DONE"


def test_the_units_of_a_batch_are_watched_as_they_appear(lab: Lab) -> None:
    place = lab.caller / ".prun" / "docs-20260102"
    place.mkdir(parents=True)
    watcher = door(lab, "monitor", "--batch", "docs-20260102", "--follow")
    assert watcher.line() == "MONITOR-START units=0 stall-threshold=600s timeout=3600s"
    first = make_unit(place / "agent-io" / "state", "first")
    assert watcher.line() == f"UNIT {first.name} pending"
    second = make_unit(place / "agent-io" / "state", "second")
    second.says(b"x")
    watcher.until(second.name)
    first.ends()
    second.ends(**FAILED)
    told = watcher.end()
    assert (told.code, told.event, told.statuses) == (3, "fail", ["done", "failed(quota)"])


@pytest.mark.parametrize(
    ("words", "env"),
    [
        ([], {}),
        ([""], {}),
        (["--nope"], {}),
        (["x", "--until", "é\nMONITOR-EVENT all-done"], {}),
        (["--batch", "nope\nMONITOR-EVENT all-done"], {}),
        (["x"], {"PRUN_MONITOR_POLL": "0"}),
        (["x"], {"PRUN_MONITOR_POLL": "-1"}),
        (["x"], {"PRUN_STALL_THRESHOLD": "10m"}),
        (["x"], {"PRUN_TOOL_STALL_THRESHOLD": ""}),
        (["x"], {"PRUN_MONITOR_TIMEOUT": "1e3"}),
        (["x"], {"PRUN_MONITOR_STABLE_WINDOW": "nan"}),
    ],
    ids=str,
)
def test_a_call_that_cant_be_carried_out_is_told_on_both_streams(
    words: list[str], env: dict[str, str], lab: Lab
) -> None:
    told = monitor(lab, *words, env=env)
    assert (told.code, told.lines) == (2, ["MONITOR-EVENT usage-error"])
    assert told.stderr.startswith("prun monitor: ")
    assert told.stderr.count("\n") == 1
    for name in env:
        assert name in told.stderr


@pytest.mark.parametrize("what", ["stdout closed", "both closed", "unread", "full"])
def test_a_stream_that_nobody_reads_changes_no_status(what: str, units: list[Made], lab: Lab) -> None:
    paths = [made.path for made in units]
    words = [sys.executable, "-P", "-m", "prun.monitor", *paths, "--follow"]
    if what in {"unread", "full"}:
        if what == "full" and not Path("/dev/full").exists():
            pytest.skip("needs a device that is always full")
        with unread() as writer:
            stream = os.open("/dev/full", os.O_WRONLY) if what == "full" else writer
            told = Listening(lab.command(words, stdout=stream)).end()
            good = Listening(lab.command([*words[:4], paths[0]], stdout=stream)).end()
            refused = Listening(lab.command(words[:4], stdout=stream)).end()
    else:
        if not hasattr(os, "fork"):
            pytest.skip("needs a shell that closes streams")
        closed = ">&-" if what == "stdout closed" else ">&- 2>&-"
        shell = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh"]
        told = Listening(lab.command([*shell, *words])).end()
        good = Listening(lab.command([*shell, *words[:4], paths[0]])).end()
        refused = Listening(lab.command([*shell, *words[:4]])).end()
    assert [each.code for each in (told, good, refused)] == [3, 0, 2]
    assert (told.lines, told.stderr, good.stderr) == ([], "", "")
    check_silent(refused)


def test_a_reader_that_goes_away_while_it_watches_changes_no_status(lab: Lab) -> None:
    made = make_unit(lab.root / "state")
    watcher = door(lab, "monitor", made.path)
    watcher.until("MONITOR-START")
    assert watcher.process.stdout is not None
    watcher.process.stdout.close()
    watcher.process.stdout = None
    made.ends(**FAILED)
    told = watcher.end()
    assert (told.code, told.stderr) == (3, "")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-16"])
def test_names_are_told_in_utf8_whatever_the_encoding(encoding: str, units: list[Made], lab: Lab) -> None:
    told = monitor(lab, *(made.path for made in units), env={"PYTHONIOENCODING": encoding})
    assert told.code == 3
    assert f"UNIT {units[1].name} failed(quota)" in told.lines
    assert told.stderr == ""
    refused = monitor(lab, "--batch", "é\u2028", env={"PYTHONIOENCODING": encoding})
    assert (refused.code, refused.lines) == (2, ["MONITOR-EVENT usage-error"])
    assert refused.stderr.startswith("prun monitor: there is no batch é\\u2028")


@can_fork
def test_an_interrupted_monitor_ends_without_a_word(lab: Lab) -> None:
    made = make_unit(lab.root / "state")
    watcher = door(lab, "monitor", made.path, "--follow")
    watcher.until("pending")
    watcher.process.send_signal(signal.SIGINT)
    told = watcher.end()
    assert (told.code, told.stderr) == (130, "")


@needs_fifos
@needs_sockets
@needs_symlinks
def test_hostile_state_holds_up_nothing_and_the_others_are_told(lab: Lab) -> None:
    names = ("tail", "outcome.json", "owner.1.json", "result-file", "tail.stderr-tmp", "agy.log")
    hostile = [make_unit(lab.root / f"{number}" / "state") for number in range(2 * len(names))]
    deeds: tuple[Callable[[Path], None], ...] = (make_fifo, Path.mkdir)
    for number, name in enumerate(names):
        for made, make in zip(hostile[2 * number :], deeds, strict=False):
            path = made.state.root / name
            path.unlink(missing_ok=True)
            make(path)
    fifo = make_unit(lab.root / "fifo" / "state")
    make_fifo(fifo.result)
    circle = make_unit(lab.root / "circle" / "state")
    circle.state.tail.symlink_to(circle.state.tail.name)
    far = make_unit(lab.root / "far" / "state")
    far.put(far.state.result_file, b"/" + b"x" * 65_536)
    wide = make_unit(lab.root / "wide" / "state")
    wide.put(wide.state.result_file, "/results/u1.md\n".encode("utf-16"))
    with chdir(lab.root):
        make_socket("socket").close()
    good = make_unit(lab.root / "good" / "state")
    good.writes()
    good.ends()
    paths = [made.path for made in (*hostile, fifo, circle, far, wide)]
    told = monitor(lab, *paths, lab.root / "socket", good.path, env={"PRUN_MONITOR_TIMEOUT": "5"})
    assert (told.code, told.event, told.statuses[-1]) == (3, "fail", "done")
    assert len(told.statuses) == len(paths) + 2
    assert told.statuses[: len(hostile)] == ["failed(bad-state)"] * len(hostile)
    assert (told.statuses[len(hostile)], told.statuses[-2]) == ("failed(bad-state)", "failed(state-missing)")
    check_silent(told)
