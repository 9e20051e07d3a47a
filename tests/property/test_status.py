"""What is told of a unit holds whatever lies around it, and whoever looks, in whatever order.

Each property is stated once as a check and run on what is shipped, and on versions that lack one of its
guards or have two rules swapped: on those it must fail.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prun.core import landing, lines, status, watch_state
from prun.core.identity import Life
from prun.core.landing import LandingState, gate_of, landed
from prun.core.lines import MonitorText
from prun.core.moment import Moment
from prun.core.quiet import is_quiet
from prun.core.records import Owner, decode_owner, encode_owner
from prun.core.status import (
    RULES,
    Done,
    Failed,
    Rule,
    Seen,
    Stalled,
    Status,
    WatchState,
    abandoned,
    idle_s,
    resumed,
    stalled,
    status_of,
    with_outcome,
    with_result_and_owner,
    with_result_of_an_older_tool,
)
from prun.core.unit_report import UnitReport
from prun.core.unit_snapshot import (
    NO_FILE,
    NO_RESULT,
    Document,
    FileLook,
    Found,
    ResultLook,
    UnitSnapshot,
)
from prun.system import process, unit_look, unit_owner
from prun.system.lives import Lives
from prun.system.state_dir import StateDir
from prun.system.unit_look import UnitLook
from prun.system.unit_owner import UnitOwner
from tests.support.clocks import ManualClock
from tests.support.known_bad import assert_caught
from tests.support.sightings import (
    AFTER_TOOL,
    IN_TOOL,
    RUNNING,
    START,
    THRESHOLDS,
    epoch,
    grown,
    outcome,
    result,
)
from tests.support.units import nobody

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    Judge = Callable[[WatchState, UnitSnapshot, Moment], tuple[WatchState, Status]]

WRITTEN = [-5000.0, -700.0, -600.0, -10.0, -1.0, 0.0, 5.0, 700.0, 9000.0]

outputs = st.one_of(
    st.just(NO_FILE),
    st.just(FileLook(Found.UNKNOWN)),
    st.just(FileLook(Found.IRREGULAR)),
    st.builds(grown, st.integers(0, 4), st.sampled_from(WRITTEN)),
    st.builds(grown, st.integers(0, 4), st.sampled_from(WRITTEN)),
)
results = st.one_of(
    st.just(NO_RESULT),
    st.just(ResultLook(Document.UNKNOWN)),
    st.just(ResultLook(Document.IRREGULAR)),
    st.just(ResultLook(Document.BLANK, (1, 1, 1, 1), epoch(0))),
    st.builds(result, st.sampled_from(WRITTEN), fallback=st.booleans(), size=st.integers(1, 2)),
    st.builds(result, st.sampled_from(WRITTEN), fallback=st.booleans(), size=st.integers(1, 2)),
)
outcomes = st.one_of(
    st.none(),
    st.none(),
    st.builds(outcome, st.just("completed")),
    st.builds(
        outcome,
        st.sampled_from(["failed", "blocked", "cancelled", "later"]),
        st.sampled_from(["quota", "timeout", "later"]),
    ),
)
bads = st.sampled_from([(), (), (), ("tail is a FIFO",), ("log is a socket", "tail is a FIFO")])
times = st.sampled_from([None, *map(epoch, WRITTEN)])


@st.composite
def snapshots(draw: st.DrawFn, *, place: Found | None = None, older: bool | None = None) -> UnitSnapshot:
    there = draw(st.sampled_from([*[Found.REGULAR] * 6, *Found])) if place is None else place
    if there is not Found.REGULAR:
        return UnitSnapshot(there, outcome=draw(outcomes))
    found = draw(outcomes)
    return UnitSnapshot(
        place=there,
        place_mtime_s=draw(times),
        outcome=found,
        outcome_hidden=found is None and draw(st.integers(0, 5)) == 0,
        result_path="/r/u1.md",
        result=draw(results),
        tail=draw(outputs),
        stderr=draw(outputs),
        log=draw(outputs),
        older=draw(st.booleans()) if older is None else older,
        owner=draw(st.sampled_from([Life.DEAD, *Life])),
        worker=draw(st.sampled_from([None, *Life])),
        timestamp_s=draw(times),
        said=draw(st.sampled_from([None, IN_TOOL, AFTER_TOOL])),
        bad=draw(bads),
    )


@dataclass(frozen=True)
class Look:
    """One look, *after_s* the one before; the time of day is set by *stepped_s* before it."""

    after_s: float
    stepped_s: float
    snapshot: UnitSnapshot
    resumed: bool = False


def histories(snapshot: st.SearchStrategy[UnitSnapshot], max_size: int = 5) -> st.SearchStrategy[list[Look]]:
    one = st.builds(
        Look,
        st.sampled_from([0.0, 0.25, 0.9, 1.0, 9.0, 10.0, 300.0, 600.0]),
        st.sampled_from([0.0, 0.0, 0.0, -4000.0, 4000.0]),
        snapshot,
        st.sampled_from([False, False, False, True]),
    )
    return st.lists(one, min_size=1, max_size=max_size)


def moments(history: Sequence[Look]) -> list[Moment]:
    now, found = START, []
    for look in history:
        now = Moment(now.monotonic_s + look.after_s, now.utc_s + look.after_s + look.stepped_s)
        found.append(now)
    return found


def judge(
    state: WatchState, snapshot: UnitSnapshot, now: Moment, *, rules: Sequence[Rule] = RULES
) -> tuple[WatchState, Status]:
    return status_of(state, snapshot, now, THRESHOLDS, rules=rules)


def without(rule: Rule) -> Judge:
    return partial(judge, rules=[other for other in RULES if other is not rule])


def moved(rule: Rule, before: Rule) -> Judge:
    rules = [other for other in RULES if other is not rule]
    rules.insert(rules.index(before), rule)
    return partial(judge, rules=rules)


def last(rule: Rule) -> Judge:
    return partial(judge, rules=[*(other for other in RULES if other is not rule), rule])


def instead(rule: Rule, by: Rule) -> Judge:
    return partial(judge, rules=[by if other is rule else other for other in RULES])


@contextmanager
def altered(owner: Any, **changes: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in changes.items():
            patch.setattr(owner, name, value)
        yield


def caught_under(
    alteration: AbstractContextManager[None], check: Callable[[Any], None], cases: st.SearchStrategy[Any]
) -> None:
    with alteration:
        assert_caught(check, cases)


# A unit with an outcome has that status, whatever else lies there.


def check_an_outcome_decides(judging: Judge, history: Sequence[Look]) -> None:
    state = WatchState()
    for look, now in zip(history, moments(history), strict=True):
        state, found = judging(state, look.snapshot, now)
        ended = look.snapshot.outcome
        if ended is not None and ended.verdict == "completed":
            assert found == Done()
        elif ended is not None:
            assert found == Failed(ended.kind, ended.reason)


@given(history=histories(snapshots()))
def test_an_outcome_decides_whatever_else_lies_there(history: list[Look]) -> None:
    check_an_outcome_decides(judge, history)


@pytest.mark.parametrize(
    "judging",
    [without(with_outcome), *(moved(with_outcome, rule) for rule in RULES[2:]), last(with_outcome)],
    ids=["no outcome", *(f"only after {rule.__name__}" for rule in RULES[1:])],
)
def test_a_judge_that_looks_at_something_else_first_is_caught(judging: Judge) -> None:
    assert_caught(partial(check_an_outcome_decides, judging), histories(snapshots(), 2))


# Idle time never falls but by new bytes.


class Bytes:
    """Tells which looks show bytes that were not there when their file was last seen."""

    def __init__(self) -> None:
        self._known: list[int | None] = [None, None, None]

    def came(self, seen: UnitSnapshot) -> bool:
        came = False
        for at, file in enumerate((seen.tail, seen.stderr, seen.log)):
            earlier = self._known[at]
            if file.found is Found.REGULAR or (file.found is Found.MISSING and earlier is None):
                came = came or (earlier is not None and file.size_bytes > earlier)
                self._known[at] = file.size_bytes
        return came


sizes_only = st.builds(
    lambda tail, stderr, log: replace(RUNNING, tail=tail, stderr=stderr, log=log), outputs, outputs, outputs
)


def check_idle_falls_by_new_bytes_alone(
    resume: Callable[[WatchState, Moment], WatchState], history: Sequence[Look]
) -> None:
    state, known, before_s = WatchState(), Bytes(), 0.0
    for look, now in zip(history, moments(history), strict=True):
        first = state.snapshot is None
        if look.resumed and not first:
            state = resume(state, now)
        state, found = judge(state, look.snapshot, now)
        came = known.came(look.snapshot)
        now_s = idle_s(state, now)
        assert now_s == 0 if came and not first else first or now_s >= before_s
        if isinstance(found, Stalled):
            assert found.idle_s == now_s
        before_s = now_s


@given(history=histories(sizes_only))
def test_idle_time_never_falls_but_by_new_bytes(history: list[Look]) -> None:
    check_idle_falls_by_new_bytes_alone(resumed, history)


def any_change_is_progress(before: watch_state.Sizes, snapshot: UnitSnapshot) -> bool:
    return before != watch_state._sizes(before, snapshot)


def a_missing_file_is_empty(before: int | None, look: FileLook) -> int | None:
    return before if look.found is Found.UNKNOWN else look.size_bytes


def a_hidden_file_is_empty(before: int | None, look: FileLook) -> int | None:
    return before if look.found is Found.MISSING and before is not None else look.size_bytes


def resumed_forgiving(state: WatchState, now: Moment) -> WatchState:
    return replace(resumed(state, now), progress_at_s=now.monotonic_s)


after_look = watch_state.after_look


def each_look_is_a_first_one(state: WatchState, snapshot: UnitSnapshot, now: Moment) -> WatchState:
    return after_look(replace(state, snapshot=None), snapshot, now)


@pytest.mark.parametrize(
    ("alteration", "resume"),
    [
        (altered(watch_state, _grew=any_change_is_progress), resumed),
        (altered(watch_state, _size=a_missing_file_is_empty), resumed),
        (altered(watch_state, _size=a_hidden_file_is_empty), resumed),
        (altered(status, after_look=each_look_is_a_first_one), resumed),
        (nullcontext(), resumed_forgiving),
    ],
    ids=["any change", "a missing file is empty", "a hidden one is", "times of files count", "suspensions"],
)
def test_a_count_that_forgives_is_caught(
    alteration: AbstractContextManager[None], resume: Callable[[WatchState, Moment], WatchState]
) -> None:
    caught_under(alteration, partial(check_idle_falls_by_new_bytes_alone, resume), histories(sizes_only))


# A stall is told when a window has passed without progress, and never before.


def check_a_stall_needs_its_window(judging: Judge, history: Sequence[Look]) -> None:
    state, known, watched_from_s = WatchState(), Bytes(), START.monotonic_s
    window_from_s = float("-inf")
    for look, now in zip(history, moments(history), strict=True):
        seen, first = look.snapshot, state.snapshot is None
        if look.resumed and not first:
            state, window_from_s = resumed(state, now), now.monotonic_s
        state, found = judging(state, seen, now)
        if known.came(seen) or first:
            watched_from_s = now.monotonic_s
        counted_s = min(idle_s(state, now), now.monotonic_s - window_from_s)
        watched_s = now.monotonic_s - max(watched_from_s, window_from_s)
        if isinstance(found, Stalled):
            assert counted_s >= THRESHOLDS.stall_s
            # An owner that is dead is no stall, and a result that is to be final is none.
            assert seen.owner is not Life.DEAD or seen.older
            assert seen.result.found is not Document.PRESENT
        elif max(counted_s, watched_s) >= THRESHOLDS.stall_s:
            assert found.terminal or seen.owner is Life.DEAD or seen.result.found is Document.PRESENT


@given(history=histories(snapshots()))
def test_a_stall_is_told_when_its_window_has_passed_and_never_before(history: list[Look]) -> None:
    check_a_stall_needs_its_window(judge, history)


@pytest.mark.parametrize(
    ("alteration", "judging"),
    [
        (nullcontext(), without(stalled)),
        (nullcontext(), moved(stalled, abandoned)),
        (nullcontext(), moved(stalled, with_result_and_owner)),
        (nullcontext(), moved(stalled, with_result_of_an_older_tool)),
        (altered(status, waited_s=idle_s), judge),
        (altered(watch_state, age_s=lambda written_s, now: now.utc_s - written_s), judge),
    ],
    ids=[
        "no stall",
        "before a death",
        "before a result",
        "before an older tool's result",
        "fresh windows forgotten",
        "times to come",
    ],
)
def test_a_judge_that_stalls_at_the_wrong_time_is_caught(
    alteration: AbstractContextManager[None], judging: Judge
) -> None:
    caught_under(alteration, partial(check_a_stall_needs_its_window, judging), histories(snapshots(), 3))


# Nothing is called dead without proof.


def check_a_death_is_proved(judging: Judge, history: Sequence[Look]) -> None:
    state, dead_from_s = WatchState(), None
    for look, now in zip(history, moments(history), strict=True):
        seen, first = look.snapshot, state.snapshot is None
        state, found = judging(state, seen, now)
        if seen.owner is not Life.DEAD:
            dead_from_s = None
        elif dead_from_s is None:
            signs = [file.mtime_s for file in (seen.tail, seen.stderr, seen.log, seen.result)]
            age_s = max(0.0, now.utc_s - max(*signs, seen.place_mtime_s or 0.0)) if first else 0.0
            dead_from_s = now.monotonic_s - age_s
        if not isinstance(found, Failed) or found.kind not in {"dispatch-dead", "orphaned"}:
            continue
        assert dead_from_s is not None
        assert now.monotonic_s - dead_from_s >= 1.0
        assert seen.outcome is None
        assert not seen.outcome_hidden
        assert seen.place is Found.REGULAR
        if seen.older:
            assert seen.result.found not in {Document.PRESENT, Document.UNKNOWN}
        assert (found.kind == "orphaned") is (seen.worker in {Life.ALIVE, Life.UNKNOWN})


@given(history=histories(snapshots()))
def test_nothing_is_called_dead_without_proof(history: list[Look]) -> None:
    check_a_death_is_proved(judge, history)


def changed(seen: Seen, **changes: Any) -> Seen:
    return replace(seen, snapshot=replace(seen.snapshot, **changes))


def taking_a_hidden_outcome_for_none(seen: Seen) -> Status | None:
    return abandoned(changed(seen, outcome_hidden=False))


def taking_an_unknown_worker_for_dead(seen: Seen) -> Status | None:
    return abandoned(changed(seen, worker=None) if seen.snapshot.worker is Life.UNKNOWN else seen)


def taking_a_hidden_result_for_none(seen: Seen) -> Status | None:
    return abandoned(
        changed(seen, result=NO_RESULT) if seen.snapshot.result.found is Document.UNKNOWN else seen
    )


def all_but_the_living_are_dead(state: WatchState, snapshot: UnitSnapshot, now: Moment) -> float | None:
    return None if snapshot.owner is Life.ALIVE else state.dead_since_s or now.monotonic_s


def once_dead_always_dead(state: WatchState, snapshot: UnitSnapshot, now: Moment) -> float | None:
    return state.dead_since_s or (now.monotonic_s if snapshot.owner is Life.DEAD else None)


@pytest.mark.parametrize(
    ("alteration", "judging"),
    [
        (nullcontext(), instead(abandoned, taking_a_hidden_outcome_for_none)),
        (nullcontext(), instead(abandoned, taking_an_unknown_worker_for_dead)),
        (nullcontext(), instead(abandoned, taking_a_hidden_result_for_none)),
        (nullcontext(), moved(abandoned, with_outcome)),
        (nullcontext(), moved(abandoned, with_result_of_an_older_tool)),
        (nullcontext(), without(with_result_of_an_older_tool)),
        (altered(status, GRACE_S=0.0), judge),
        (altered(watch_state, _dead_since_s=all_but_the_living_are_dead), judge),
        (altered(watch_state, _dead_since_s=once_dead_always_dead), judge),
    ],
    ids=[
        "a hidden outcome is none",
        "an unknown worker is dead",
        "a hidden result is none",
        "before the outcome",
        "before an older tool's result",
        "without an older tool's result",
        "no grace",
        "unknown is dead",
        "once dead",
    ],
)
def test_a_judge_that_calls_the_living_dead_is_caught(
    alteration: AbstractContextManager[None], judging: Judge
) -> None:
    caught_under(alteration, partial(check_a_death_is_proved, judging), histories(snapshots(), 3))


# Output lines never outnumber units.

odd_text = st.text(
    st.one_of(st.characters(), st.sampled_from("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029 \t\ud800UNIT")),
    max_size=8,
)


def check_each_unit_is_one_line(units: Sequence[tuple[str, str]]) -> None:
    told = []
    for name, kind in units:
        snapshot = replace(RUNNING, outcome=outcome("failed", kind, kind))
        _, found = judge(WatchState(), snapshot, START)
        told.append(MonitorText().unit(UnitReport(name, "/s", found, snapshot, 0.0)))
    printed = "\n".join(told)
    assert len(printed.splitlines()) == len(units)
    assert all(line.startswith("UNIT ") for line in printed.splitlines())
    assert printed.encode("ascii", "backslashreplace").count(b"\n") == max(0, len(units) - 1)


@given(units=st.lists(st.tuples(odd_text, odd_text), max_size=4))
def test_output_lines_never_outnumber_units_whatever_the_names(units: list[tuple[str, str]]) -> None:
    check_each_unit_is_one_line(units)


def as_it_is(text: str, *_: object) -> str:
    return text


def without_line_feeds(text: str, *_: object) -> str:
    return text.replace("\n", " ")


@pytest.mark.parametrize(
    "changes",
    [{"visible": as_it_is}, {"visible": without_line_feeds}, {"as_word": as_it_is}],
    ids=["names as they are", "line feeds only", "kinds as they are"],
)
def test_lines_that_let_a_name_through_are_caught(changes: dict[str, Any]) -> None:
    cases = st.lists(st.tuples(odd_text, odd_text), min_size=1, max_size=3)
    with altered(lines, **changes), altered(status, one_line=as_it_is):
        assert_caught(check_each_unit_is_one_line, cases)


# Monitor and gather agree.


@st.composite
def with_results(draw: st.DrawFn, *, older: bool) -> UnitSnapshot:
    return replace(
        RUNNING,
        outcome_hidden=draw(st.sampled_from([False, False, True])),
        result=draw(results),
        older=older,
        owner=draw(st.sampled_from([Life.DEAD, *Life])),
        worker=draw(st.sampled_from([None, *Life])),
        bad=draw(bads),
    )


@st.composite
def shared_histories(draw: st.DrawFn) -> list[Look]:
    """Draw what monitor and gather both see of one unit: what it is stays, and an outcome stays."""
    history = draw(histories(with_results(older=draw(st.booleans())), 3))
    place = draw(st.sampled_from([*[Found.REGULAR] * 6, *Found]))
    ends_at, ended = draw(st.integers(0, 6)), draw(outcomes)
    found = []
    for at, look in enumerate(history):
        snapshot = look.snapshot
        if place is not Found.REGULAR:
            snapshot = UnitSnapshot(place, result=snapshot.result)
        elif ended is not None and at >= ends_at:
            snapshot = replace(snapshot, outcome=ended, outcome_hidden=False)
        found.append(replace(look, snapshot=snapshot))
    return found


def check_monitor_and_gather_agree(judging: Judge, history: Sequence[Look]) -> None:
    watched, gathered = WatchState(), LandingState()
    window_s = THRESHOLDS.stable_window_s
    for look, now in zip(history, moments(history), strict=True):
        seen = look.snapshot
        watched, found = judging(watched, seen, now)
        gathered, there = landed(gathered, seen.result, gate_of([seen]), now, window_s)
        in_grace = watched.dead_since_s is not None and now.monotonic_s - watched.dead_since_s < 1.0
        if there:
            assert found.terminal or in_grace
        if found.terminal and seen.result.found is Document.PRESENT:
            # What nobody vouches for has to be quiet first.
            assert there or (seen.outcome is None and not is_quiet(gathered.quiet, now, window_s))


@given(history=shared_histories())
def test_monitor_and_gather_agree(history: list[Look]) -> None:
    check_monitor_and_gather_agree(judge, history)


def open_to_all(_unit: UnitSnapshot) -> landing.Gate:
    return landing.Gate.OPEN


def no_gate(_unit: UnitSnapshot) -> landing.Gate:
    return landing.Gate.NONE


def shut_until_the_outcome(unit: UnitSnapshot) -> landing.Gate:
    return landing.Gate.SHUT if unit.outcome is None else landing.Gate.OPEN


def never_open(unit: UnitSnapshot) -> landing.Gate:
    return landing.Gate.NONE if unit.outcome is not None else gate(unit)


gate = landing._gate


def fallback_first(seen: Seen) -> Status | None:
    return status._fallback() if seen.snapshot.result.fallback else with_result_and_owner(seen)


@pytest.mark.parametrize(
    ("alteration", "judging"),
    [
        (altered(landing, _gate=open_to_all), judge),
        (altered(landing, _gate=no_gate), judge),
        (altered(landing, _gate=shut_until_the_outcome), judge),
        (altered(landing, _gate=never_open), judge),
        (altered(landing, is_quiet=lambda *_: True), judge),
        (nullcontext(), without(with_result_of_an_older_tool)),
        (nullcontext(), without(with_result_and_owner)),
        (nullcontext(), moved(status.bad, with_result_and_owner)),
        (nullcontext(), instead(with_result_and_owner, fallback_first)),
        (nullcontext(), without(with_outcome)),
        (nullcontext(), without(abandoned)),
    ],
    ids=[
        "an open gate",
        "no gate",
        "a gate that a death does not open",
        "an outcome that opens nothing",
        "no quiet",
        "no older tools",
        "no owners",
        "bad state first",
        "a FALLBACK before its outcome",
        "no outcome",
        "no deaths",
    ],
)
def test_a_pair_that_disagrees_is_caught(alteration: AbstractContextManager[None], judging: Judge) -> None:
    caught_under(alteration, partial(check_monitor_and_gather_agree, judging), shared_histories())


# The same files give the same status, in whatever order they came.

ALIVE, GONE = process.myself(), nobody()
FILES = {
    "timestamp": b"%d\n" % ManualClock().utc().timestamp(),
    "tail": b"x" * 5,
    "tail.stderr-tmp": b"y",
    "owner.1.json": encode_owner(Owner(GONE, "1")),
    "owner.2.json": encode_owner(Owner(ALIVE, "1")),
    "owner.3.json": encode_owner(Owner(GONE, "1")),
    "worker.json": b"junk",
    "outcome.json": b"junk",
    "dispatch-pid": b"1",
}
BAD_FILES = ("agy.log", "result-file")


@st.composite
def filled(draw: st.DrawFn) -> list[list[str]]:
    """Draw two orders in which the same files are made; a name that ends in a stroke is a directory."""
    names = draw(st.lists(st.sampled_from([*FILES, *(f"{name}/" for name in BAD_FILES)]), unique=True))
    return [draw(st.permutations(names)), draw(st.permutations(names))]


def look_at(place: Path, names: Sequence[str]) -> tuple[UnitSnapshot, str]:
    clock = ManualClock()
    written_s = clock.utc().timestamp() - 60
    place.mkdir()
    for at, name in enumerate(names):
        if name.endswith("/"):
            (place / name).mkdir()
        else:
            (place / name).write_bytes(FILES[name])
        later_s = at if name.startswith("owner.") else 0
        os.utime(place / name, (written_s + later_s, written_s + later_s))
    os.utime(place, (written_s, written_s))
    seen = UnitLook(StateDir(place), Lives(clock)).look()
    _, found = judge(WatchState(), seen, Moment(clock.monotonic(), clock.utc().timestamp()))
    return seen, found.word


def check_order_does_not_matter(orders: Sequence[Sequence[str]]) -> None:
    with TemporaryDirectory() as root:
        one, other = (look_at(Path(root) / f"unit-{at}", names) for at, names in enumerate(orders))
    assert one == other


@settings(max_examples=40)
@given(orders=filled())
def test_the_same_files_give_the_same_status_in_any_order(orders: list[list[str]]) -> None:
    check_order_does_not_matter(orders)


class LastWritten(UnitOwner):
    """Takes the owner record that was written last for that of the last owner."""

    __slots__ = ()

    def refresh(self, timestamp_s: float | None) -> None:
        super().refresh(timestamp_s)
        records = [self._state.owner(number) for number in range(1, self._number + 1)]
        if records:
            newest = max(records, key=lambda path: path.stat().st_mtime_ns)
            self._record = unit_owner._Record(newest, decode_owner, self._lives)


def test_a_look_that_goes_by_the_order_of_files_is_caught() -> None:
    caught_under(altered(unit_look, UnitOwner=LastWritten), check_order_does_not_matter, filled())
