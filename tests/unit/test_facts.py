"""Agy is asked once for all dispatchers that start together, and again once its answer is old."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from prun.core.timestamps import rfc3339
from prun.system.clock import SystemClock
from prun.system.facts import KEPT, Subject, facts_of, subject_of
from prun.system.locks import locked
from prun.system.probes import Facts, ProbeFailed
from tests.support.capabilities import make_fifo, needs_fifos, needs_modes, needs_symlinks
from tests.support.children import ROOT, line_of, python, tell
from tests.support.clocks import EPOCH, ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

SUBJECT = Subject("/bin/agy", 1234, 10**18 + 7, "/home/ü")
OTHERS = [
    replace(SUBJECT, path="/opt/agy"),
    replace(SUBJECT, size_bytes=1235),
    replace(SUBJECT, mtime_ns=10**18 + 8),
    replace(SUBJECT, home="/home/other"),
]
FAILURE = ProbeFailed("not signed in", timed_out=False, printed="sign in")


class Agy:
    """Answers with a number that grows, or as told, and counts."""

    def __init__(self, *answers: Facts | ProbeFailed) -> None:
        self.answers = list(answers)
        self.times = 0

    def __call__(self) -> Facts | ProbeFailed:
        self.times += 1
        return self.answers.pop(0) if self.answers else facts(self.times)


def facts(number: int) -> Facts:
    return Facts(f"1.3.{number}\n", "gemini-3.8-flash-high\tü\n", "$ agy --version\n\x1b[1m\ufffd\n")


def look(
    place: Path, agy: Agy, clock: ManualClock, *, force: bool = False, subject: Subject = SUBJECT
) -> Facts | ProbeFailed:
    return facts_of(subject, agy, place, good=is_good, force=force, wait_s=5.0, clock=clock)


def is_good(facts: Facts) -> bool:
    return facts.models != ""


def kept(number: int) -> Facts:
    return replace(facts(number), kept=True)


def record_of(place: Path) -> Path:
    (record,) = place.glob("facts-*.json")
    return record


def test_a_second_look_asks_nobody(tmp_path: Path) -> None:
    agy, clock = Agy(), ManualClock()
    assert look(tmp_path, agy, clock) == facts(1)
    assert look(tmp_path, agy, clock) == kept(1)
    assert agy.times == 1


@pytest.mark.parametrize(
    ("later", "times"),
    [
        (timedelta(0), 1),
        (KEPT - timedelta(seconds=1), 1),
        (KEPT + timedelta(seconds=1), 2),
        (timedelta(days=400), 2),
        (timedelta(seconds=-1), 2),
        (timedelta(days=-400), 2),
    ],
    ids=str,
)
def test_an_answer_is_good_for_ten_minutes_and_not_before_it_was_given(
    tmp_path: Path, later: timedelta, times: int
) -> None:
    agy = Agy()
    look(tmp_path, agy, ManualClock(utc=EPOCH))
    found = look(tmp_path, agy, ManualClock(utc=EPOCH + later))
    assert found == (kept(1) if times == 1 else facts(times))


@pytest.mark.parametrize("other", OTHERS, ids=["path", "size", "time of change", "home"])
def test_an_answer_about_another_program_or_home_does_not_count(tmp_path: Path, other: Subject) -> None:
    agy, clock = Agy(), ManualClock()
    look(tmp_path, agy, clock)
    assert look(tmp_path, agy, clock, subject=other) == facts(2)
    assert look(tmp_path, agy, clock) == kept(1)


def test_an_answer_that_another_got_meanwhile_is_a_new_one(tmp_path: Path) -> None:
    agy = Agy()
    look(tmp_path, agy, ManualClock())
    record = record_of(tmp_path)
    answered = record.read_bytes()
    record.unlink()

    class Meanwhile(ManualClock):
        """Another's answer is kept once this one has looked in vain."""

        looks = 0

        def utc(self) -> datetime:
            self.looks += 1
            if self.looks == 2:
                record.write_bytes(answered)
            return super().utc()

    assert look(tmp_path, agy, Meanwhile()) == facts(1)
    assert agy.times == 1


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    agy, clock = Agy(FAILURE), ManualClock()
    assert look(tmp_path, agy, clock) == FAILURE
    assert list(tmp_path.glob("facts-*.json")) == []
    assert look(tmp_path, agy, clock) == facts(2)


def test_an_answer_that_is_not_good_is_given_and_not_kept(tmp_path: Path) -> None:
    poor = Facts("1.3.5", "", "sign in")
    agy, clock = Agy(poor, poor, facts(3)), ManualClock()
    assert look(tmp_path, agy, clock) == poor
    assert list(tmp_path.glob("facts-*.json")) == []
    assert look(tmp_path, agy, clock) == poor
    assert look(tmp_path, agy, clock) == facts(3)
    clock.advance(5)
    agy.answers = [poor]
    assert look(tmp_path, agy, clock, force=True) == poor
    assert look(tmp_path, agy, clock) == kept(3)


def test_force_asks_again_and_keeps_the_answer(tmp_path: Path) -> None:
    agy, clock = Agy(), ManualClock()
    look(tmp_path, agy, clock)
    clock.advance(5)
    assert look(tmp_path, agy, clock, force=True) == facts(2)
    assert look(tmp_path, agy, clock) == kept(2)


def test_a_failure_after_force_leaves_the_earlier_answer(tmp_path: Path) -> None:
    agy, clock = Agy(facts(1), FAILURE), ManualClock()
    look(tmp_path, agy, clock)
    clock.advance(5)
    assert look(tmp_path, agy, clock, force=True) == FAILURE
    assert look(tmp_path, agy, clock) == kept(1)


def changed(place: Path, **fields: Any) -> None:
    record = record_of(place)
    record.write_text(json.dumps({**json.loads(record.read_bytes()), **fields}))


BROKEN: dict[str, Callable[[Path], object]] = {
    "empty": lambda place: record_of(place).write_bytes(b""),
    "cut": lambda place: record_of(place).write_bytes(record_of(place).read_bytes()[:-20]),
    "no JSON": lambda place: record_of(place).write_bytes(b"\xff\xfe\x00"),
    "deep": lambda place: record_of(place).write_bytes(b"[" * 200_000),
    "no object": lambda place: record_of(place).write_bytes(b"[]"),
    "huge": lambda place: record_of(place).write_bytes(b" " * 2_000_000),
    "later schema": lambda place: changed(place, schema=2),
    "another path": lambda place: changed(place, path="/elsewhere/agy"),
    "text for a number": lambda place: changed(place, size_bytes="1234"),
    "a number for text": lambda place: changed(place, models=7),
    "no moment": lambda place: changed(place, asked_at=None),
    "nonsense for a moment": lambda place: changed(place, asked_at="yesterday"),
    "from the future": lambda place: changed(place, asked_at=rfc3339(EPOCH + timedelta(hours=1))),
}


@pytest.mark.parametrize("break_it", BROKEN.values(), ids=BROKEN.keys())
def test_a_record_that_is_not_whole_or_not_ours_is_no_answer(
    tmp_path: Path, break_it: Callable[[Path], object]
) -> None:
    agy, clock = Agy(), ManualClock()
    look(tmp_path, agy, clock)
    break_it(tmp_path)
    assert look(tmp_path, agy, clock) == facts(2)
    assert look(tmp_path, agy, clock) == kept(2)


@needs_fifos
def test_a_fifo_is_no_answer_and_gives_way(tmp_path: Path) -> None:
    agy, clock = Agy(), ManualClock()
    look(tmp_path, agy, clock)
    record = record_of(tmp_path)
    record.unlink()
    make_fifo(record)
    assert look(tmp_path, agy, clock) == facts(2)


def test_an_answer_that_can_not_be_kept_is_an_answer(tmp_path: Path) -> None:
    agy, clock = Agy(), ManualClock()
    look(tmp_path, agy, clock)
    record = record_of(tmp_path)
    record.unlink()
    record.mkdir()
    assert look(tmp_path, agy, clock) == facts(2)


def test_a_cache_that_can_not_be_locked_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert look(tmp_path / "file", Agy(), ManualClock()) == facts(1)


@needs_modes
def test_what_is_kept_is_private(tmp_path: Path) -> None:
    look(tmp_path, Agy(), ManualClock())
    assert {oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {"0o600"}


def test_a_look_at_what_is_kept_loads_no_lock(tmp_path: Path) -> None:
    look(tmp_path, Agy(), ManualClock())
    script = f"""
import sys
from datetime import datetime, timezone
from pathlib import Path
from prun.system.clock import SystemClock
from prun.system.facts import Subject, facts_of
class Clock:
    def utc(self): return datetime({EPOCH.year}, {EPOCH.month}, {EPOCH.day}, 3, 5, tzinfo=timezone.utc)
kept = facts_of({SUBJECT!r}, None, Path(sys.argv[1]), good=None, force=False, wait_s=0.0, clock=Clock())
heavy = ["filelock", "platformdirs", "subprocess", "tempfile"]
print(ascii([kept.version, [name for name in heavy if name in sys.modules]]))
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", script, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.stdout.split() == rb"['1.3.1\n', []]".split(), done.stderr


# Asks when told; says when it is asked. The answer carries who gave it.
DISPATCHER = """
import sys
from pathlib import Path
from prun.system.clock import SystemClock
from prun.system.clock import SystemClock
from prun.system.facts import Subject, facts_of
from prun.system.probes import Facts, ProbeFailed

def ask():
    print("asked", flush=True)
    return ProbeFailed("no", False, "") if sys.stdin.readline() == "fail\\n" else Facts(sys.argv[2], "", "")

print("ready", flush=True)
sys.stdin.readline()
subject = Subject("agy", 1, 2, "home")
place = Path(sys.argv[1])
found = facts_of(subject, ask, place, good=bool, force=False, wait_s=50.0, clock=SystemClock())
print(getattr(found, "version", None) or found.reason)
"""


def test_dispatchers_that_start_together_ask_once(tmp_path: Path) -> None:
    place = str(tmp_path)
    with (
        python(DISPATCHER, place, "one") as one,
        python(DISPATCHER, place, "two") as two,
        python(DISPATCHER, place, "three") as three,
    ):
        for child in (one, two, three):
            assert line_of(child) == "ready"
        tell(one, "go")
        assert line_of(one) == "asked"  # and holds the lock
        tell(two, "go")
        tell(three, "go")
        tell(one, "answer")
        assert [line_of(child) for child in (one, two, three)] == ["one"] * 3


# Says when its call has begun, and notes down in a file that it asks.
FORCING = """
import sys
from pathlib import Path
from prun.system.clock import SystemClock
from prun.system.clock import SystemClock
from prun.system.facts import Subject, facts_of
from prun.system.probes import Facts

class Clock(SystemClock):
    begun = False

    def utc(self):
        now = super().utc()
        if not self.begun:
            self.begun = True
            print("begun", flush=True)
        return now

def ask():
    with open(sys.argv[2], "a") as asked:
        asked.write("asked\\n")
    return Facts("an answer", "", "")

place, subject = Path(sys.argv[1]), Subject("agy", 1, 2, "home")
found = facts_of(subject, ask, place, good=bool, force=True, wait_s=50.0, clock=Clock())
print(found.version)
"""


def test_one_answer_serves_all_who_forced_it_before_it_was_asked_for(tmp_path: Path) -> None:
    cache, asked = tmp_path / "cache", tmp_path / "asked"
    cache.mkdir()
    subject = Subject("agy", 1, 2, "home")
    facts_of(subject, Agy(), cache, good=is_good, force=False, wait_s=0.0, clock=SystemClock())
    lock = record_of(cache).with_suffix(".lock")
    with (
        python(FORCING, str(cache), str(asked)) as one,
        python(FORCING, str(cache), str(asked)) as two,
        python(FORCING, str(cache), str(asked)) as three,
    ):
        with locked(lock, 0.0, ManualClock()):
            assert [line_of(child) for child in (one, two, three)] == ["begun"] * 3
        assert [line_of(child) for child in (one, two, three)] == ["an answer"] * 3
    assert asked.read_text().split() == ["asked"]


def test_the_next_one_asks_where_the_first_one_failed_or_died(tmp_path: Path) -> None:
    place = str(tmp_path)
    with (
        python(DISPATCHER, place, "one") as one,
        python(DISPATCHER, place, "two") as two,
        python(DISPATCHER, place, "three") as three,
    ):
        for child in (one, two, three):
            assert line_of(child) == "ready"
        tell(one, "go")
        assert line_of(one) == "asked"
        tell(two, "go")
        one.kill()
        assert line_of(two) == "asked"
        tell(three, "go")
        tell(two, "fail")
        assert line_of(two) == "no"
        assert line_of(three) == "asked"
        tell(three, "answer")
        assert line_of(three) == "three"


def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    place = str(tmp_path)
    with python(DISPATCHER, place, "one") as one:
        assert line_of(one) == "ready"
        tell(one, "go")
        assert line_of(one) == "asked"
        agy = Agy()
        subject, clock = Subject("agy", 1, 2, "home"), ManualClock()
        waited = facts_of(subject, agy, tmp_path, good=is_good, force=False, wait_s=70.0, clock=clock)
        assert isinstance(waited, ProbeFailed)
        assert waited.timed_out
        assert "70 s" in waited.reason
        assert agy.times == 0


def test_the_subject_is_the_file_as_it_is_now(tmp_path: Path) -> None:
    program = tmp_path / "agy"
    program.write_bytes(b"12345")
    os.utime(program, ns=(1, 1_700_000_000_123_456_700))
    env = {"HOME": "home", "USERPROFILE": "home"}
    assert subject_of(str(program), env) == Subject(str(program), 5, program.stat().st_mtime_ns, "home")
    with pytest.raises(FileNotFoundError):
        subject_of(str(tmp_path / "gone"), env)


@needs_symlinks
def test_an_update_behind_a_link_is_another_subject(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"1")
    (tmp_path / "new").write_bytes(b"22")
    link = tmp_path / "agy"
    link.symlink_to(tmp_path / "old")
    before = subject_of(str(link), {})
    link.unlink()
    link.symlink_to(tmp_path / "new")
    assert subject_of(str(link), {}) != before
