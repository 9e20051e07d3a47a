"""A worker's life, look by look, on a clock that the test moves and files that it writes."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from prun.core.ending import Exited, Reaped, ReapReason, Signalled
from prun.core.identity import Identity, Machine
from prun.core.outcome import TreeState
from prun.core.supervision import Limits
from prun.core.transcript import Reader
from prun.flow import witness
from prun.flow.supervising import LOOK_S, Supervisor, Watched
from prun.system.process import Ended, TreeEnd
from prun.system.signals import Signals
from prun.system.state_dir import StateDir
from tests.support.clocks import ManualClock
from tests.support.runs import QUOTA_429, failed, init, result, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMITS = Limits(deadline_s=100.0, idle_s=None)
SIGTERM = 15
RETRIED = f"Run: attempt 1 failed ({QUOTA_429}), retrying in 1s"


class Stage:
    """A worker that does one act of a play at each look, and what it writes to."""

    def __init__(self, place: Path) -> None:
        self.state = StateDir(place)
        self.result = place / "result.md"
        self.clock = ManualClock()
        self.signals = Signals()
        self.named: list[str] = []
        self.acts: dict[int, list[Callable[[], object]]] = {}
        self.looks = 0
        self.ended: Ended | None = None
        self.leftovers: tuple[str, ...] = ()
        self.dying: Callable[[], object] = lambda: None
        self.naming: Callable[[], object] = lambda: None
        self.identity = Identity(Machine("host", None, None), 4242, "1")

    def at(self, look: int, act: Callable[[], object]) -> None:
        """Let *act* happen just before the *look*-th look, from 1."""
        self.acts.setdefault(look, []).append(act)

    def print(self, data: bytes) -> None:
        with self.state.tail.open("ab") as file:
            file.write(data)

    def say(self, *events: dict[str, object]) -> None:
        self.print(b"".join(json.dumps(event).encode() + b"\n" for event in events))

    def log(self, message: str) -> None:
        with self.state.log.open("a", encoding="utf-8") as file:
            file.write(f"E0710 16:10:20.298253 10 log.go:398] {message}\n")

    def complain(self, line: str) -> None:
        with self.state.stderr.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def exit(self, code: int | None = 0, signal: int | None = None) -> None:
        self.ended = Ended(code, signal)

    def signal(self) -> None:
        self.signals._receive(SIGTERM, None)

    # What a supervisor asks of a worker.

    def wait(self, timeout_s: float) -> Ended | None:
        self.clock.advance(timeout_s)
        self.looks += 1
        for act in self.acts.get(self.looks, ()):
            act()
        assert self.looks < 2000, "never ends"
        return self.ended

    def collect(self) -> None:
        """There is nothing to collect."""

    def end(self, grace_s: float, clock: object) -> TreeEnd:
        del grace_s, clock
        own = self.ended
        if own is None or self.leftovers:
            self.dying()
        state = TreeState.LEFTOVERS if self.leftovers else TreeState.GONE
        return TreeEnd(own or Ended(1), state, leftovers=self.leftovers)

    def leave(self) -> TreeEnd:
        return TreeEnd(self.ended, TreeState.LEFTOVERS if self.leftovers else TreeState.GONE)

    def _name(self, conversation_id: str) -> None:
        self.named.append(conversation_id)
        self.naming()

    def watched(self, limits: Limits = LIMITS, *, end_leftovers: bool = True) -> Watched:
        supervisor = Supervisor(
            self,
            self.state,
            self.result,
            clock=self.clock,
            signals=self.signals,
            named=self._name,
        )
        return supervisor.watch(limits, end_leftovers=end_leftovers)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_a_worker_that_ends_by_itself_is_read_to_its_end_and_its_conversation_named_once(
    stage: Stage,
) -> None:
    stage.at(1, partial(stage.say, init("c-1")))
    stage.at(3, partial(stage.say, init("c-2"), said("a"), result()))
    stage.at(3, stage.exit)
    watched = stage.watched()
    assert watched.ending == Exited(0)
    assert watched.testimony.transcript.result_stands
    assert stage.named == ["c-1"]


def test_a_name_that_comes_with_the_end_is_told_too(stage: Stage) -> None:
    stage.at(1, partial(stage.say, init("c-1")))
    stage.at(1, partial(stage.exit, None, 9))
    assert stage.watched().ending == Signalled(9)
    assert stage.named == ["c-1"]


def test_a_worker_is_not_ended_for_one_quota_stop_that_nothing_retries_against(stage: Stage) -> None:
    stage.at(2, partial(stage.log, QUOTA_429))
    stage.at(100, partial(stage.say, result()))
    stage.at(100, stage.exit)
    watched = stage.watched()
    assert watched.ending == Exited(0)
    assert watched.testimony.log.quota_stop is not None


@pytest.mark.parametrize("messages", [[RETRIED], [QUOTA_429, QUOTA_429]], ids=["it says so", "a second stop"])
def test_a_worker_that_retries_against_a_quota_stop_is_ended(messages: list[str], stage: Stage) -> None:
    for message in messages:
        stage.at(2, partial(stage.log, message))
    ending = stage.watched().ending
    assert isinstance(ending, Reaped)
    assert ending.why is ReapReason.QUOTA


def test_a_worker_that_got_through_a_logged_quota_stop_is_not_ended_when_it_pauses(stage: Stage) -> None:
    stage.at(2, partial(stage.log, RETRIED))
    stage.at(5, partial(stage.say, said("got through")))
    stage.at(100, partial(stage.say, result()))
    stage.at(100, stage.exit)
    assert stage.watched().ending == Exited(0)


def test_a_worker_that_stops_again_later_is_ended(stage: Stage) -> None:
    stage.at(2, partial(stage.log, RETRIED))
    stage.at(5, partial(stage.say, said("got through")))
    stage.at(50, partial(stage.log, RETRIED))
    ending = stage.watched().ending
    assert isinstance(ending, Reaped)
    assert ending.why is ReapReason.QUOTA
    assert ending.after_s == pytest.approx(50 * LOOK_S + 2.0)


def test_a_waiting_note_followed_by_work_is_no_result_at_the_deadline(stage: Stage) -> None:
    stage.at(1, partial(stage.say, result("I am waiting for it."), said("more")))
    ending = stage.watched().ending
    assert isinstance(ending, Reaped)
    assert ending.why is ReapReason.DEADLINE


def test_a_result_that_comes_between_the_last_look_and_the_first_signal_stands(stage: Stage) -> None:
    stage.naming = partial(stage.say, result())
    stage.dying = partial(stage.say, failed("interrupted"))
    stage.at(1, partial(stage.say, init()))
    watched = stage.watched(Limits(deadline_s=0.1, idle_s=None))
    assert isinstance(watched.ending, Reaped)
    assert watched.ending.why is ReapReason.LINGERING
    assert watched.testimony.transcript.status == "SUCCESS"


def test_what_is_printed_after_the_first_signal_is_no_evidence(stage: Stage) -> None:
    stage.at(1, partial(stage.say, said("half")))
    stage.at(2, stage.state.cancel.touch)

    def dying() -> None:
        stage.say(failed("interrupted"))
        stage.complain("error: interrupted")
        stage.log(QUOTA_429)

    stage.dying = dying
    watched = stage.watched()
    assert isinstance(watched.ending, Reaped)
    assert (watched.ending.why, watched.ending.code) == (ReapReason.CANCELLED, 1)
    told = watched.testimony
    assert not told.transcript.result_seen
    assert (told.stderr.error, told.log.quota_stop) == (None, None)


@pytest.mark.parametrize("leftovers", [(), ("sleep (7)",)])
def test_what_leftovers_print_when_they_are_ended_is_no_evidence(
    stage: Stage, leftovers: tuple[str, ...]
) -> None:
    stage.leftovers = leftovers
    stage.at(1, partial(stage.say, result()))
    stage.at(1, stage.exit)
    stage.dying = partial(stage.say, failed("interrupted"))
    watched = stage.watched()
    assert watched.ending == Exited(0)
    assert watched.testimony.transcript.status == "SUCCESS"
    assert watched.tree.leftovers == leftovers


def test_a_worker_that_dies_together_with_its_dispatchers_signal_was_interrupted(stage: Stage) -> None:
    stage.at(3, stage.signal)
    stage.at(3, partial(stage.exit, 1))
    ending = stage.watched().ending
    assert isinstance(ending, Reaped)
    assert (ending.why, ending.signal, ending.code) == (ReapReason.INTERRUPTED, SIGTERM, 1)


def test_a_worker_that_finished_before_the_signal_was_seen_has_finished(stage: Stage) -> None:
    stage.at(3, stage.signal)
    stage.at(3, partial(stage.say, result()))
    stage.at(3, stage.exit)
    assert stage.watched().ending == Exited(0)


def test_a_flood_is_read_in_looks_of_bounded_time_and_skipped_at_the_end_but_for_its_last_part(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk = 1000
    monkeypatch.setattr(witness, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(witness, "END_BYTES", 4 * chunk)
    fed: list[int] = []
    feed = Reader.feed

    def slow(reader: Reader, data: bytes) -> None:
        fed.append(len(data))
        stage.clock.advance(0.2)
        feed(reader, data)

    monkeypatch.setattr(Reader, "feed", slow)
    stage.at(1, partial(stage.say, init("c-1"), said("begun")))
    stage.at(1, partial(stage.print, b"x" * 99 * chunk + b"\n"))
    stage.at(1, partial(stage.say, said("in the middle")))
    stage.at(1, partial(stage.print, (b"y" * (chunk - 1) + b"\n") * 100))
    stage.at(1, partial(stage.say, said("at the end"), result()))
    stage.at(4, stage.state.cancel.touch)
    watched = stage.watched()
    assert isinstance(watched.ending, Reaped)
    assert max(fed) <= chunk
    assert len(fed) < 60
    told = watched.testimony.transcript
    assert told.status == "SUCCESS"
    assert told.salvaged == "begunat the end"


def test_a_look_that_left_something_unread_is_followed_by_one_without_a_wait(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness, "CHUNK_BYTES", 10)
    monkeypatch.setattr(witness, "LOOK_READ_S", -1.0)
    stage.at(1, partial(stage.say, result()))
    stage.at(30, stage.exit)
    stage.watched()
    assert stage.clock.monotonic() - 1000.0 < 30 * LOOK_S


def test_the_tree_is_ended_whatever_goes_wrong(stage: Stage) -> None:
    def fails() -> None:
        raise RuntimeError("on purpose")

    stage.at(2, fails)
    ended: list[bool] = []
    stage.dying = lambda: ended.append(True)
    with pytest.raises(RuntimeError, match="on purpose"):
        stage.watched()
    assert ended == [True]
