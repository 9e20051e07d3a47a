"""Looks at state directories: what is told, what is read again, and what no hostile state can do to them."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from prun.core.identity import Life
from prun.core.records import decode_outcome
from prun.core.status import Thresholds, WatchState, status_of
from prun.core.unit_snapshot import NO_RESULT, Document, Found, UnitSnapshot
from prun.system import process
from prun.system.clock import SystemClock
from prun.system.lives import LOOK_S, Lives
from prun.system.state_dir import StateDir
from prun.system.unit_look import UnitLook, moment
from tests.support.capabilities import (
    make_fifo,
    make_socket,
    needs_denial,
    needs_fifos,
    needs_odd_names,
    needs_sockets,
    needs_symlinks,
)
from tests.support.clocks import EPOCH, ManualClock
from tests.support.processes import KILL, SLEEPS, STOP, can_fork, stranger, until
from tests.support.units import ANSWER, FALLBACK, Made, make_unit, nobody

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prun.core.identity import Identity

TOOL = b'{"event":"step_update","step_update":{"step_index":3,"state":"ACTIVE","step_type":"tool"}}\n'
NOW_S = EPOCH.timestamp()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def made(tmp_path: Path, clock: ManualClock) -> Made:
    return make_unit(tmp_path / "state", clock=clock)


@pytest.fixture
def older(tmp_path: Path, clock: ManualClock) -> Made:
    return make_unit(tmp_path / "state", clock=clock, older=True)


def looking(made: Made) -> UnitLook:
    return UnitLook(made.state, Lives(made.clock))


def look(made: Made) -> UnitSnapshot:
    return looking(made).look()


def word(made: Made, snapshot: UnitSnapshot, waited_s: float = 0.0) -> str:
    """Return the status that *snapshot* has at a first look, and after *waited_s* without another change."""
    now = moment(made.clock)
    state, status = status_of(WatchState(), snapshot, now, Thresholds())
    if waited_s:
        later = replace(now, monotonic_s=now.monotonic_s + waited_s, utc_s=now.utc_s + waited_s)
        state, status = status_of(state, snapshot, later, Thresholds())
    return status.word


# What a look tells.


def test_a_moment_is_told_by_both_clocks(clock: ManualClock) -> None:
    now = moment(clock)
    assert (now.monotonic_s, now.utc_s) == (clock.monotonic(), NOW_S)


def test_a_running_unit_is_told_field_by_field(made: Made) -> None:
    made.says(b"12345", age_s=3)
    made.put(made.state.stderr, b"123", age_s=2)
    made.put(made.state.log, b"1", age_s=1)
    os.utime(made.state.root, (NOW_S - 9, NOW_S - 9))
    seen = look(made)
    assert seen.place is Found.REGULAR
    assert seen.place_mtime_s == NOW_S - 9
    assert (seen.outcome, seen.outcome_hidden) == (None, False)
    assert (seen.result_path, seen.result) == (str(made.result), NO_RESULT)
    outputs = (seen.tail, seen.stderr, seen.log)
    assert [(one.found, one.size_bytes, one.mtime_s) for one in outputs] == [
        (Found.REGULAR, 5, NOW_S - 3),
        (Found.REGULAR, 3, NOW_S - 2),
        (Found.REGULAR, 1, NOW_S - 1),
    ]
    assert (seen.older, seen.owner, seen.worker) == (False, Life.ALIVE, None)
    assert seen.timestamp_s == NOW_S
    assert (seen.said, seen.bad, seen.problems) == (None, (), ())


def test_an_outcome_is_told_as_soon_as_it_is_there(made: Made) -> None:
    looks = looking(made)
    assert not looks.glance()
    assert looks.look().outcome is None
    made.ends(verdict="failed", kind="quota")
    assert looks.glance()
    assert looks.look().outcome == decode_outcome(made.state.outcome.read_bytes())
    assert word(made, looks.look()) == "failed(quota)"
    made.ends()
    assert word(made, looks.look()) == "done"
    made.state.outcome.unlink()
    assert looks.look().outcome is None


def test_a_result_is_told_by_what_it_says(made: Made) -> None:
    looks = looking(made)
    made.writes(b" \n")
    assert looks.look().result.found is Document.BLANK
    made.writes(ANSWER)
    assert (looks.look().result.found, looks.look().result.fallback) == (Document.PRESENT, False)
    made.writes(FALLBACK)
    assert (looks.look().result.found, looks.look().result.fallback) == (Document.PRESENT, True)


def test_a_look_that_finds_nothing_new_is_the_same_object(made: Made) -> None:
    made.says(TOOL)
    looks = looking(made)
    first = looks.look()
    assert looks.look() is first
    os.utime(made.state.tail, (5, 5))
    touched = looks.look()
    assert touched is not first
    assert touched.tail.size_bytes == first.tail.size_bytes
    made.says(b"more")
    assert looks.look() is not touched


def test_the_end_of_the_tail_is_read_when_asked_for_and_again_when_it_grew(made: Made) -> None:
    made.says(TOOL)
    looks = looking(made)
    assert looks.look().said is None
    said = looks.look(tail=True).said
    assert said is not None
    assert said.last_step is not None
    assert said.last_step.tool_open
    assert looks.look().said is said
    made.says(TOOL.replace(b"ACTIVE", b"DONE"))
    assert looks.look().said is None
    said = looks.look(tail=True).said
    assert said is not None
    assert said.last_step is not None
    assert not said.last_step.tool_open


# Owners and workers.


@contextmanager
def ended(place: Path) -> Iterator[Identity]:
    """Give a process that has ended and was waited for."""
    del place
    with stranger(SLEEPS) as child:
        identity = process.identify(child.pid)
        assert identity is not None
        child.kill()
        child.wait()
        yield identity


def test_the_highest_owner_is_the_owner(made: Made) -> None:
    made.owned_by(nobody(), 1)
    assert look(made).owner is Life.DEAD
    made.owned_by(nobody(), 2)
    made.owned_by(process.myself(), 3)
    assert look(made).owner is Life.ALIVE


def test_an_adopter_is_seen_as_soon_as_he_has_claimed_the_unit(made: Made) -> None:
    made.owned_by(nobody())
    looks = looking(made)
    assert looks.look().owner is Life.DEAD
    made.owned_by(process.myself(), 2)
    assert looks.look().owner is Life.ALIVE


def test_a_dead_owner_is_noticed_after_two_seconds(made: Made, clock: ManualClock) -> None:
    with stranger(SLEEPS) as child:
        identity = process.identify(child.pid)
        assert identity is not None
        made.owned_by(identity)
        looks = looking(made)
        assert looks.look().owner is Life.ALIVE
        child.kill()
        child.wait()
        assert looks.look().owner is Life.ALIVE
        clock.advance(LOOK_S)
        assert looks.look().owner is Life.DEAD


@can_fork
def test_a_zombie_is_dead_and_a_stopped_owner_is_not(made: Made) -> None:
    with stranger(SLEEPS) as child:
        identity = process.identify(child.pid)
        assert identity is not None
        made.owned_by(identity)
        os.kill(child.pid, STOP)
        until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_STOPPED)
        assert look(made).owner is Life.ALIVE
        os.kill(child.pid, KILL)
        until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
        assert look(made).owner is Life.DEAD


def test_another_process_under_the_owners_pid_is_not_the_owner(made: Made) -> None:
    me = process.myself()
    made.owned_by(replace(me, start="1"))
    assert look(made).owner is Life.DEAD
    made.owned_by(replace(me, machine=replace(me.machine, host="elsewhere")))
    assert look(made).owner is Life.UNKNOWN


def test_a_worker_is_looked_at_once_the_owner_is_dead(made: Made) -> None:
    made.worked_by(process.myself())
    assert look(made).worker is None
    made.owned_by(nobody())
    assert look(made).worker is Life.ALIVE
    assert word(made, look(made), 5) == "failed(orphaned)"
    made.worked_by(nobody())
    assert look(made).worker is Life.DEAD
    made.state.worker.unlink()
    assert look(made).worker is None
    assert word(made, look(made), 5) == "failed(dispatch-dead)"
    made.put(made.state.worker, b"junk")
    assert look(made).worker is Life.UNKNOWN
    assert look(made).problems == ("worker.json is no record of a process",)


def test_the_outcome_is_looked_at_once_more_before_anyone_is_called_dead(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies_having_written(identity: Identity) -> Life:
        del identity
        if not made.state.outcome.exists():
            made.ends()
        return Life.DEAD

    monkeypatch.setattr(process, "life_of", dies_having_written)
    seen = look(made)
    assert seen.owner is Life.DEAD
    assert seen.outcome is not None
    assert word(made, seen) == "done"


@pytest.mark.parametrize("data", [b"", b"junk", b"{}", b"[" * 9000, b"\xff\xfe" + "{}".encode("utf-16-le")])
def test_a_record_that_names_nobody_makes_an_owner_unknown(made: Made, data: bytes) -> None:
    made.put(made.state.owner(1), data)
    looks = looking(made)
    assert (looks.look().older, looks.look().owner) == (False, Life.UNKNOWN)
    assert looks.look().problems == ("owner.1.json is no record of a process",)
    made.owned_by(process.myself())
    assert (looks.look().owner, looks.look().problems) == (Life.ALIVE, ())


# Older tools.


@pytest.mark.parametrize(
    ("pid", "life", "problems"),
    [
        (b"%d\n", Life.ALIVE, ()),
        (b"\xef\xbb\xbf%d\r\n", Life.ALIVE, ()),
        *(
            (data, Life.UNKNOWN, ("dispatch-pid names no process",))
            for data in (b"", b"0", b"-1", b"12 34", b"abc", b"9" * 20, "\u0663".encode(), b"\xff\xfe")
        ),
        (b"4294967295", Life.UNKNOWN, ()),
        (b"9" * (64 * 1024 + 1), Life.UNKNOWN, ("dispatch-pid is larger than 65536 bytes",)),
    ],
    ids=range(12),
)
def test_an_older_tools_owner_is_told_by_its_pid_and_junk_is_unknown(
    older: Made, pid: bytes, life: Life, problems: tuple[str, ...]
) -> None:
    older.put(older.state.timestamp, b"%d" % time.time())
    older.put(older.state.dispatch_pid, pid.replace(b"%d", str(os.getpid()).encode()))
    seen = look(older)
    assert (seen.older, seen.owner, seen.problems) == (True, life, problems)


def test_an_older_tools_pid_that_is_gone_or_another_is_dead(older: Made, tmp_path: Path) -> None:
    older.put(older.state.timestamp, b"%d" % time.time())
    with ended(tmp_path) as gone:
        older.put(older.state.dispatch_pid, b"%d" % gone.pid)
        assert look(older).owner is Life.DEAD
    with stranger(SLEEPS) as child:
        older.put(older.state.dispatch_pid, b"%d" % child.pid)
        older.put(older.state.timestamp, b"%d" % (time.time() - 3600))
        assert look(older).owner is Life.DEAD
        assert child.poll() is None


def test_a_pid_that_was_half_written_when_it_was_read_kills_nobody(older: Made) -> None:
    older.put(older.state.timestamp, b"%d" % time.time())
    with stranger(SLEEPS) as child:
        child.kill()
        child.wait()
        older.put(older.state.dispatch_pid, b"%d" % child.pid)
        looks = looking(older)
        assert looks.look().owner is Life.DEAD
        older.put(older.state.dispatch_pid, b"%d" % os.getpid())
        assert looks.look().owner is Life.ALIVE


def test_an_older_tools_directory_that_fills_up_is_followed(
    tmp_path: Path, clock: ManualClock, older: Made
) -> None:
    for path in older.state.root.iterdir():
        path.unlink()
    looks = looking(older)
    seen = looks.look()
    assert (seen.place, seen.older, seen.owner, seen.bad) == (Found.REGULAR, True, Life.UNKNOWN, ())
    assert (seen.result_path, seen.result, seen.timestamp_s) == (None, NO_RESULT, None)
    older.put(older.state.result_file, b"\n")
    older.put(older.state.dispatch_pid, b"%d\n" % os.getpid())
    clock.advance(LOOK_S)
    assert looks.look().result_path is None
    older.put(older.state.result_file, os.fsencode(tmp_path / "r.md"))
    older.put(older.state.timestamp, b"%d\n" % NOW_S)
    (tmp_path / "r.md").write_bytes(ANSWER)
    clock.advance(LOOK_S)
    seen = looks.look()
    assert seen.result_path == str(tmp_path / "r.md")
    assert seen.result.found is Document.PRESENT
    assert seen.timestamp_s == NOW_S


# Where the result is.


def test_a_pointer_that_is_no_absolute_path_is_bad(made: Made) -> None:
    for data in (b"out/u1.md\n", b"\n/x/u1.md\n", b"x" * 5000, "\ufeffC:u1.md".encode("utf-16-le")):
        made.put(made.state.result_file, data)
        seen = look(made)
        assert (seen.result_path, seen.result.found) == (None, Document.UNKNOWN)
        assert seen.bad[0].startswith("result-file names no absolute path: ")
        assert len(seen.bad[0]) <= 300
        assert word(made, seen) == "failed(bad-state)"


def test_a_pointer_with_a_nul_is_bad_and_one_that_is_too_long_is_a_problem(made: Made) -> None:
    made.put(made.state.result_file, b"/x/\0\n")
    assert look(made).bad == ("result-file holds a NUL: that is no path",)
    made.put(made.state.result_file, b"/" * (64 * 1024 + 1))
    seen = look(made)
    assert seen.result.found is Document.UNKNOWN
    assert seen.bad == ("result-file is larger than 65536 bytes",)
    made.put(made.state.result_file, os.fsencode(made.result.parent) + b"/" + b"n" * 60_000)
    seen = look(made)
    assert (seen.bad, seen.result.found in {Document.UNKNOWN, Document.MISSING}) == ((), True)


def test_a_pointer_is_read_less_one_line_end(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "\u00fc n1.md"
    path.write_bytes(ANSWER)
    for end in ("", "\n", "\r\n"):
        made.put(made.state.result_file, (str(path) + end).encode())
        assert look(made).result_path == str(path)
        assert look(made).result.found is Document.PRESENT
    made.put(made.state.result_file, ("\ufeff" + str(path) + "\r\n").encode("utf-16-le"))
    assert look(made).result.found is Document.PRESENT


@needs_odd_names
def test_a_result_whose_name_is_not_utf_8_is_found(made: Made, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.md"
    Path(os.fsdecode(name)).write_bytes(ANSWER)
    made.put(made.state.result_file, name + b"\n")
    assert look(made).result.found is Document.PRESENT


# Directories that are not there.


def test_a_directory_that_is_not_there_is_missing_and_seen_when_it_comes(made: Made, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    made.says(b"x")
    looks = looking(made)
    assert looks.look().place is Found.REGULAR
    made.state.root.rename(aside)
    assert looks.look() == UnitSnapshot(Found.MISSING)
    assert looks.look() == UnitSnapshot(Found.MISSING)
    assert word(made, looks.look()) == "failed(state-missing)"
    aside.rename(made.state.root)
    seen = looks.look()
    assert (seen.place, seen.owner, seen.tail.size_bytes) == (Found.REGULAR, Life.ALIVE, 1)


@pytest.mark.parametrize("name", ["gone", "file", "file/deeper", "n" * 300, "a\0b"])
def test_what_is_no_directory_is_told_as_missing(tmp_path: Path, made: Made, name: str) -> None:
    (tmp_path / "file").touch()
    looks = UnitLook(StateDir(tmp_path / name), Lives(made.clock))
    assert not looks.glance()
    assert word(made, looks.look()) == "failed(state-missing)"


@needs_symlinks
def test_a_link_that_leads_in_a_circle_is_no_directory(tmp_path: Path, clock: ManualClock) -> None:
    make_circle(tmp_path / "unit")
    made = Made(StateDir(tmp_path / "unit"), tmp_path / "r.md", clock)
    assert word(made, look(made)) == "failed(state-missing)"


def test_an_empty_directory_is_pending_and_stalls(tmp_path: Path, clock: ManualClock) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    os.utime(root, (NOW_S - 50, NOW_S - 50))
    made = Made(StateDir(root), tmp_path / "r.md", clock)
    assert word(made, look(made)) == "pending"
    os.utime(root, (NOW_S - 700, NOW_S - 700))
    assert word(made, look(made)) == "stalled(700s)"


@needs_denial
def test_a_directory_that_may_not_be_looked_into_is_neither_missing_nor_dead(made: Made) -> None:
    made.owned_by(nobody())
    made.state.root.chmod(0o000)
    try:
        seen = look(made)
        assert (seen.place, seen.older, seen.owner) == (Found.REGULAR, False, Life.UNKNOWN)
        assert seen.result.found is Document.UNKNOWN
        assert any(problem.startswith("tail: ") for problem in seen.problems)
        assert word(made, seen, 1) == "pending"
        above = UnitLook(StateDir(made.state.root / "deeper"), Lives(made.clock)).look()
        assert above.place is Found.UNKNOWN
    finally:
        made.state.root.chmod(0o700)


@needs_denial
def test_an_outcome_that_may_not_be_read_hides_no_death_and_makes_none(made: Made) -> None:
    made.ends()
    made.owned_by(nobody())
    made.state.outcome.chmod(0o000)
    seen = look(made)
    assert seen.outcome_hidden
    assert word(made, seen, 5) == "failed(bad-state)"
    made.owned_by(process.myself(), 2)
    assert word(made, look(made)) == "pending"


# Hostile state.


def make_directory(path: Path) -> None:
    path.mkdir()


def make_circle(path: Path) -> None:
    path.symlink_to(path.with_name("circle"))
    path.with_name("circle").symlink_to(path)


def make_endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_fifo_link(path: Path) -> None:
    make_fifo(path.with_name("a fifo"))
    path.symlink_to(path.with_name("a fifo"))


def make_bound_socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's name must be short
    try:
        with closing(make_socket(path.name)):
            pass
    finally:
        os.chdir(before)


IRREGULAR = [
    pytest.param(make_directory, id="directory"),
    pytest.param(make_fifo, id="FIFO", marks=needs_fifos),
    pytest.param(make_bound_socket, id="socket", marks=needs_sockets),
    pytest.param(make_endless, id="endless device", marks=[needs_symlinks, needs_fifos]),
    pytest.param(make_circle, id="circle of links", marks=needs_symlinks),
    pytest.param(make_fifo_link, id="link to a FIFO", marks=[needs_symlinks, needs_fifos]),
]
PLACES: dict[str, Callable[[Made], Path]] = {
    "outcome": lambda made: made.state.outcome,
    "pointer": lambda made: made.state.result_file,
    "result": lambda made: made.result,
    "tail": lambda made: made.state.tail,
    "stderr": lambda made: made.state.stderr,
    "log": lambda made: made.state.log,
    "owner": lambda made: made.state.owner(1),
    "timestamp": lambda made: made.state.timestamp,
    "pid": lambda made: made.state.dispatch_pid,
}


@pytest.mark.parametrize("make", IRREGULAR)
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("is_older", [False, True], ids=["prun's", "an older tool's"])
def test_what_stands_where_a_file_belongs_is_bad_and_hides_no_other_unit(
    tmp_path: Path, clock: ManualClock, make: Callable[[Path], None], where: str, *, is_older: bool
) -> None:
    made = make_unit(tmp_path / "state", clock=clock, older=is_older)
    other = make_unit(tmp_path / "state", "u2", clock=clock)
    other.ends()
    path = PLACES[where](made)
    path.unlink(missing_ok=True)
    make(path)
    lives = Lives(clock)
    seen, fine = (UnitLook(one.state, lives).look(tail=True) for one in (made, other))
    assert len(seen.bad) == 1
    assert seen.bad[0].startswith(f"{path.name} is ")
    assert word(made, seen) == "failed(bad-state)"
    assert word(other, fine) == "done"
    made.put(made.state.root / "ok", b"")
    if where != "outcome":
        made.ends()
        assert word(made, look(made)) == "done"


@pytest.mark.parametrize("make", IRREGULAR)
def test_a_worker_record_that_is_no_file_is_bad_once_it_is_needed(
    made: Made, make: Callable[[Path], None]
) -> None:
    make(made.state.worker)
    assert look(made).bad == ()
    made.owned_by(nobody())
    assert word(made, look(made)) == "failed(bad-state)"


@pytest.mark.parametrize("make", IRREGULAR)
def test_whatever_comes_and_goes_between_two_looks_is_told_and_forgotten(
    made: Made, make: Callable[[Path], None]
) -> None:
    looks = looking(made)
    for path in (made.state.tail, made.result, made.state.outcome):
        before = looks.look()
        make(path)
        assert word(made, looks.look()) == "failed(bad-state)"
        with ExitStack() as stack:
            stack.callback(lambda: path.rmdir() if path.is_dir() else path.unlink())  # noqa: B023 - at once
        path.with_name("circle").unlink(missing_ok=True)
        path.with_name("a fifo").unlink(missing_ok=True)
        assert looks.look().bad == ()
        assert word(made, looks.look()) == word(made, before)


def test_files_may_vanish_between_any_two_calls(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made.says(TOOL)
    made.writes()
    made.owned_by(nobody())
    made.worked_by(nobody())
    real, calls = os.stat, 0

    def vanishing(path: Any, **options: Any) -> os.stat_result:
        nonlocal calls
        calls -= 1
        found = real(path, **options)
        if calls == 0:
            for one in (*made.state.root.iterdir(), made.result):
                one.unlink(missing_ok=True)
            made.state.root.rmdir()
        return found

    for step in range(1, 40):
        calls = step
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", vanishing)
            looks = looking(made)
            first = looks.look(tail=True)
            assert word(made, first)
        if made.state.root.exists():
            break
        assert word(made, looks.look()) == "failed(state-missing)"
        made = make_unit(made.state.root.parent, clock=made.clock)
        made.says(TOOL)
        made.writes()
        made.owned_by(nobody())
        made.worked_by(nobody())
    assert step > 8


@pytest.mark.parametrize(
    "data",
    [b"", b"junk", b"\xff\xfe{\x00}\x00", b"[" * 100_000, b"{" * 2_000_000, b'{"verdict":"completed"}'],
)
def test_an_outcome_that_is_none_is_passed_over_and_told(made: Made, data: bytes) -> None:
    made.put(made.state.outcome, data)
    seen = look(made)
    assert (seen.outcome, seen.outcome_hidden, seen.bad) == (None, False, ())
    assert len(seen.problems) == 1
    assert word(made, seen) == "pending"
    made.owned_by(nobody())
    assert word(made, look(made), 5) == "failed(dispatch-dead)"


def test_a_real_clock_will_do(tmp_path: Path) -> None:
    made = make_unit(tmp_path / "state", clock=SystemClock())
    made.says(b"x")
    assert word(made, look(made)) == "growing"
