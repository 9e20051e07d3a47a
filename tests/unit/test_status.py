"""How a unit stands: each row of the table of statuses, and each sentence about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from prun.core.identity import Life
from prun.core.status import (
    Done,
    Failed,
    Finishing,
    Growing,
    Pending,
    Stalled,
    Status,
    Thresholds,
    WatchState,
    idle_s,
    refreshed,
    resumed,
    status_of,
    wants_tail,
)
from prun.core.unit_snapshot import NO_FILE, Document, FileLook, Found, ResultLook, Said, UnitSnapshot
from tests.support.sightings import (
    AFTER_TOOL,
    IN_TOOL,
    OLDER,
    RUNNING,
    SILENT,
    START,
    THRESHOLDS,
    at,
    epoch,
    grown,
    outcome,
    result,
    walk,
    words,
)

GONE = UnitSnapshot(Found.MISSING)
DEAD = replace(RUNNING, owner=Life.DEAD)
OLDER_DEAD = replace(OLDER, owner=Life.DEAD)
BAD = replace(RUNNING, bad=("tail is a FIFO",))
LONG_AGO = replace(RUNNING, tail=grown(10, -1200), place_mtime_s=epoch(-1200), timestamp_s=epoch(-1300))
HIDDEN_RESULT = ResultLook(Document.UNKNOWN)
BLANK_RESULT = ResultLook(Document.BLANK, (1, 1, 3, 0), epoch(-100))
HIDDEN_FILE = FileLook(Found.UNKNOWN)


# The table, row by row.


ROWS = [
    (replace(RUNNING, outcome=outcome()), "done"),
    (replace(RUNNING, outcome=outcome("failed", "quota")), "failed(quota)"),
    (replace(RUNNING, outcome=outcome("blocked", "quota")), "failed(quota)"),
    (replace(RUNNING, outcome=outcome("cancelled", "cancelled")), "failed(cancelled)"),
    (replace(RUNNING, outcome=outcome("failed", "of-a-newer-prun")), "failed(of-a-newer-prun)"),
    (replace(RUNNING, outcome=outcome("of-a-newer-prun", "odd")), "failed(odd)"),
    (replace(RUNNING, outcome=outcome("failed", "")), "failed(unknown)"),
    (replace(OLDER, result=result(-10)), "done"),
    (replace(OLDER_DEAD, result=result(-10)), "done"),
    (replace(OLDER, result=result(-10, fallback=True)), "failed(fallback)"),
    (replace(OLDER_DEAD, result=result(-10, fallback=True)), "failed(fallback)"),
    (replace(DEAD, tail=NO_FILE, place_mtime_s=epoch(-2)), "failed(dispatch-dead)"),
    (replace(LONG_AGO, owner=Life.DEAD), "failed(dispatch-dead)"),
    (replace(LONG_AGO, owner=Life.DEAD, worker=Life.DEAD), "failed(dispatch-dead)"),
    (replace(LONG_AGO, owner=Life.DEAD, result=result(-700)), "failed(dispatch-dead)"),
    (replace(LONG_AGO, owner=Life.DEAD, result=result(-700, fallback=True)), "failed(fallback)"),
    (replace(LONG_AGO, owner=Life.DEAD, worker=Life.ALIVE), "failed(orphaned)"),
    (replace(LONG_AGO, owner=Life.DEAD, worker=Life.ALIVE, result=result(-700)), "failed(orphaned)"),
    (replace(LONG_AGO, owner=Life.DEAD, worker=Life.UNKNOWN), "failed(orphaned)"),
    (replace(LONG_AGO, older=True, owner=Life.DEAD), "failed(dispatch-dead)"),
    (BAD, "failed(bad-state)"),
    (replace(LONG_AGO, owner=Life.DEAD, bad=("tail is a FIFO",)), "failed(bad-state)"),
    (GONE, "failed(state-missing)"),
    (UnitSnapshot(Found.IRREGULAR), "failed(state-missing)"),
    (replace(RUNNING, result=result()), "finishing"),
    (replace(LONG_AGO, result=result(-1000)), "finishing"),
    (replace(LONG_AGO, owner=Life.UNKNOWN, result=result(-1000)), "finishing"),
    (replace(OLDER, result=result(-9.9)), "finishing"),
    (replace(OLDER, result=result(-9.9, fallback=True)), "finishing"),
    (LONG_AGO, "stalled(1200s)"),
    (replace(LONG_AGO, owner=Life.UNKNOWN), "stalled(1200s)"),
    (replace(LONG_AGO, older=True, owner=Life.UNKNOWN), "stalled(1200s)"),
    (replace(LONG_AGO, result=BLANK_RESULT), "stalled(1200s)"),
    (RUNNING, "growing"),
    (replace(RUNNING, tail=grown(10, -599.9)), "growing"),
    (replace(RUNNING, tail=grown(10, -600)), "stalled(600s)"),
    (replace(SILENT, stderr=grown(1)), "growing"),
    (replace(SILENT, tail=NO_FILE, log=grown(1)), "growing"),
    (SILENT, "pending"),
    (replace(SILENT, tail=NO_FILE), "pending"),
    (replace(SILENT, timestamp_s=epoch(-599)), "pending"),
]


@pytest.mark.parametrize(
    ("snapshot", "word"), ROWS, ids=[f"{number} {word}" for number, (_, word) in enumerate(ROWS, start=1)]
)
def test_a_first_look_tells_the_status(snapshot: UnitSnapshot, word: str) -> None:
    assert words((0, snapshot)) == [word]


@pytest.mark.parametrize(
    ("status", "word", "terminal"),
    [
        (Done(), "done", True),
        (Failed("quota", "why"), "failed(quota)", True),
        (Finishing(), "finishing", False),
        (Stalled(0.0), "stalled(0s)", False),
        (Stalled(1200.9), "stalled(1200s)", False),
        (Growing(), "growing", False),
        (Pending(), "pending", False),
    ],
    ids=str,
)
def test_a_status_is_printed_as_the_table_says(status: Status, word: str, *, terminal: bool) -> None:
    assert (status.word, status.terminal) == (word, terminal)


# Outcomes.


@pytest.mark.parametrize(
    "around",
    [BAD, DEAD, LONG_AGO, OLDER_DEAD, replace(OLDER, result=result(-10, fallback=True)), GONE],
    ids=["bad", "dead", "stalled", "an older tool's", "fallback", "gone"],
)
def test_an_outcome_decides_whatever_else_is_there(around: UnitSnapshot) -> None:
    assert words((0, replace(around, outcome=outcome()))) == ["done"]
    assert words((0, replace(around, outcome=outcome("failed", "denied")))) == ["failed(denied)"]


def test_a_failure_tells_why_in_one_line() -> None:
    (status,) = walk([(0, replace(RUNNING, outcome=outcome("failed", "a\nb\x1b[0m", "one\r\ntwo")))])
    assert status == Failed("a b", "one two")
    (status,) = walk([(0, replace(RUNNING, outcome=outcome("failed", "k" * 900, "r" * 9000)))])
    assert isinstance(status, Failed)
    assert len(status.kind) == 60
    assert len(status.reason) == 500


def test_every_failure_has_a_reason() -> None:
    hidden = replace(LONG_AGO, owner=Life.DEAD, outcome_hidden=True, problems=("outcome.json: denied",))
    seen = [GONE, BAD, replace(LONG_AGO, owner=Life.DEAD), hidden, replace(OLDER, result=result(-99))]
    reasons = [status.reason for one in seen for status in walk([(0, one)]) if isinstance(status, Failed)]
    assert len(reasons) == 4
    assert all(reasons)
    assert "outcome.json: denied" in reasons


# A dead owner.


def test_a_death_is_told_after_a_grace_of_one_second_and_not_after_the_threshold() -> None:
    assert words((0, RUNNING), (1, DEAD), (1.9, DEAD), (2, DEAD)) == [
        "growing",
        "growing",
        "growing",
        "failed(dispatch-dead)",
    ]


@pytest.mark.parametrize(
    ("snapshot", "word"),
    [
        (replace(DEAD, tail=grown(10, -1200)), "growing"),
        (replace(DEAD, tail=grown(0), timestamp_s=epoch(-1200)), "pending"),
        (replace(DEAD, tail=grown(10, -1200), result=result()), "finishing"),
        (replace(DEAD, tail=grown(10, -1200), older=True), "growing"),
    ],
    ids=["with output", "without", "with a result", "an older tool's"],
)
def test_within_the_grace_a_unit_is_never_stalled(snapshot: UnitSnapshot, word: str) -> None:
    looks = [(0.0, replace(snapshot, owner=Life.UNKNOWN, result=BLANK_RESULT)), (700.0, snapshot)]
    assert words(*looks)[0].startswith("stalled")
    assert words(*looks, (700.9, snapshot))[1:] == [word, word]
    assert words(*looks, (701.0, snapshot))[2].startswith("failed")


def test_at_a_first_look_the_grace_counts_from_the_last_sign_on_disk() -> None:
    stale = replace(DEAD, tail=grown(10, -5), place_mtime_s=epoch(-5))
    assert words((0, stale)) == ["failed(dispatch-dead)"]
    for fresh in (
        replace(stale, tail=grown(10, -0.5)),
        replace(stale, log=grown(10, -0.5)),
        replace(stale, result=result(-0.5)),
        replace(stale, place_mtime_s=epoch(-0.5)),
        replace(stale, stderr=grown(10, 5000)),
    ):
        assert words((0, fresh), (1, fresh))[0] in {"growing", "finishing"}
        assert words((0, fresh), (1, fresh))[1] == "failed(dispatch-dead)"


def test_a_new_owner_takes_a_dead_unit_back_into_life() -> None:
    stale = replace(LONG_AGO, owner=Life.DEAD)
    adopted = replace(LONG_AGO, place_mtime_s=epoch(1))
    assert words((0, stale), (1, adopted), (2, replace(adopted, outcome=outcome()))) == [
        "failed(dispatch-dead)",
        "stalled(1201s)",
        "done",
    ]


def test_the_grace_begins_anew_with_each_owner_that_dies() -> None:
    assert words((0, DEAD), (1, DEAD), (2, RUNNING), (3, DEAD), (3.9, DEAD), (4, DEAD))[2:] == [
        "growing",
        "growing",
        "growing",
        "failed(dispatch-dead)",
    ]


def test_an_owner_that_is_not_proved_dead_is_not_called_so() -> None:
    unknown = replace(RUNNING, owner=Life.UNKNOWN, worker=Life.DEAD)
    assert words((0, unknown), (5, unknown), (599, unknown), (600, unknown)) == [
        "growing",
        "growing",
        "growing",
        "stalled(600s)",
    ]


def test_nobody_is_called_dead_who_may_have_left_an_outcome_that_can_not_be_read() -> None:
    hidden = replace(DEAD, outcome_hidden=True, problems=("outcome.json: Permission denied",))
    assert words((0, hidden), (1, hidden)) == ["growing", "failed(bad-state)"]


def test_an_older_tools_unit_whose_result_can_not_be_seen_is_not_called_dead() -> None:
    assert words((0, replace(LONG_AGO, older=True, owner=Life.DEAD, result=HIDDEN_RESULT))) == [
        "stalled(1200s)"
    ]


# A result without an outcome.


@pytest.mark.parametrize("owner", [Life.ALIVE, Life.UNKNOWN])
@pytest.mark.parametrize("fallback", [True, False])
def test_a_result_is_finishing_as_long_as_its_owner_may_live(owner: Life, *, fallback: bool) -> None:
    waiting = replace(LONG_AGO, owner=owner, result=result(-1000, fallback=fallback), bad=("log is a FIFO",))
    assert words((0, waiting), (5000, waiting)) == ["finishing", "finishing"]


def test_an_older_tools_result_is_done_once_it_was_quiet_for_the_window() -> None:
    before = replace(OLDER, result=BLANK_RESULT)
    first, second = replace(OLDER, result=result(5)), replace(OLDER, result=result(12, size=99))
    looks = [(0, before), (5, first), (14.9, first), (15, second), (24.9, second), (25, second)]
    assert words(*looks) == ["growing", *["finishing"] * 4, "done"]


def test_quiet_is_what_was_seen_and_not_what_times_of_files_say() -> None:
    # It came between two looks: by its times it is old, or of tomorrow.
    for written in (-5000, 5000):
        late = replace(OLDER, result=result(written))
        assert words((0, OLDER), (1, late), (10.9, late), (11, late)) == [
            "growing",
            "finishing",
            "finishing",
            "done",
        ]


def test_a_first_look_takes_a_result_of_tomorrow_for_new() -> None:
    late = replace(OLDER, result=result(5000))
    assert words((0, late), (9.9, late), (10, late)) == ["finishing", "finishing", "done"]


def test_an_older_tools_dead_unit_without_a_result_is_told_after_the_grace() -> None:
    blank = replace(OLDER_DEAD, result=BLANK_RESULT)
    assert words((0, OLDER), (1, blank), (2, blank)) == ["growing", "growing", "failed(dispatch-dead)"]


# Progress and stalls.


def test_a_restarted_monitor_does_not_forgive_a_stall() -> None:
    assert words((0, LONG_AGO), (100, LONG_AGO)) == ["stalled(1200s)", "stalled(1300s)"]


@pytest.mark.parametrize("name", ["tail", "stderr", "log"])
def test_new_bytes_in_any_output_are_progress(name: str) -> None:
    changes: dict[str, Any] = {name: grown(11, 50)}
    grew = replace(LONG_AGO, **changes)
    assert words((0, LONG_AGO), (50, grew), (649, grew), (650, grew)) == [
        "stalled(1200s)",
        "growing",
        "growing",
        "stalled(600s)",
    ]


def test_a_touched_file_is_no_progress() -> None:
    touched = replace(LONG_AGO, tail=grown(10, 50))
    assert words((0, LONG_AGO), (50, touched)) == ["stalled(1200s)", "stalled(1250s)"]


def test_a_file_that_is_cut_short_or_goes_is_no_progress_and_what_comes_after_is() -> None:
    cut, more = replace(LONG_AGO, tail=grown(4)), replace(LONG_AGO, tail=grown(5))
    for other in (replace(LONG_AGO, tail=NO_FILE), replace(LONG_AGO, tail=HIDDEN_FILE)):
        assert words((0, LONG_AGO), (1, other), (2, LONG_AGO))[1:] == ["stalled(1201s)", "stalled(1202s)"]
    assert words((0, LONG_AGO), (1, cut), (2, more))[1:] == ["stalled(1201s)", "growing"]


def test_bytes_that_could_not_be_looked_at_before_are_no_progress() -> None:
    hidden = replace(LONG_AGO, tail=HIDDEN_FILE)
    assert words((0, hidden), (1, LONG_AGO)) == ["stalled(1300s)", "stalled(1301s)"]


def test_the_first_bytes_are_progress() -> None:
    pending = replace(SILENT, tail=NO_FILE, timestamp_s=epoch(-500))
    assert words((0, pending), (50, replace(pending, tail=grown(1))), (150, pending)) == [
        "pending",
        "growing",
        "pending",
    ]


def test_a_pending_unit_stalls_counted_from_its_timestamp_else_from_its_directory() -> None:
    old = replace(SILENT, timestamp_s=epoch(-700), place_mtime_s=epoch(-650))
    assert words((0, old)) == ["stalled(700s)"]
    assert words((0, replace(old, timestamp_s=None))) == ["stalled(650s)"]
    assert words((0, replace(old, timestamp_s=None, place_mtime_s=None))) == ["pending"]


def test_an_empty_file_that_was_made_late_does_not_make_a_pending_unit_younger() -> None:
    assert words((0, replace(SILENT, tail=grown(0, -1), timestamp_s=epoch(-700)))) == ["stalled(700s)"]


@pytest.mark.parametrize("written", [1.0, 86_400.0, 1e12])
def test_a_time_in_the_future_neither_makes_a_stall_nor_hides_one(written: float) -> None:
    for unit, word in (
        (replace(LONG_AGO, tail=grown(10, written)), "growing"),
        (replace(SILENT, timestamp_s=epoch(written)), "pending"),
    ):
        assert words((0, unit), (599, unit), (600, unit)) == [word, word, "stalled(600s)"]


@pytest.mark.parametrize("stepped_s", [-1e6, -3600.0, 3600.0, 1e6])
def test_a_step_of_the_clock_neither_makes_a_stall_nor_hides_one(stepped_s: float) -> None:
    state, _ = status_of(WatchState(), RUNNING, at(0), THRESHOLDS)
    state, status = status_of(state, RUNNING, at(599, stepped_s=stepped_s), THRESHOLDS)
    assert status == Growing()
    state, status = status_of(state, RUNNING, at(600, stepped_s=stepped_s), THRESHOLDS)
    assert status == Stalled(600.0)


def test_a_fresh_watch_gives_a_new_window_and_still_counts_from_the_last_progress() -> None:
    fresh = refreshed(WatchState(), at(0))
    assert words((0, LONG_AGO), (599, LONG_AGO), (600, LONG_AGO), state=fresh) == [
        "growing",
        "growing",
        "stalled(1800s)",
    ]


def test_a_watcher_that_stood_still_gives_a_new_window_to_stalls_and_to_quiet() -> None:
    finishing = replace(OLDER, result=result(0))
    state, _ = status_of(WatchState(), finishing, at(0), THRESHOLDS)
    state = resumed(state, at(9))
    assert words((10, finishing), (18.9, finishing), (19, finishing), state=state) == [
        "finishing",
        "finishing",
        "done",
    ]
    state, _ = status_of(WatchState(), RUNNING, at(0), THRESHOLDS)
    state = resumed(state, at(500))
    assert words((600, RUNNING), (1099, RUNNING), (1100, RUNNING), state=state) == [
        "growing",
        "growing",
        "stalled(1100s)",
    ]
    assert idle_s(state, at(500)) == 500.0


def test_a_threshold_of_nothing_stalls_at_once() -> None:
    assert words((0, RUNNING), thresholds=replace(THRESHOLDS, stall_s=0.0, tool_stall_s=0.0)) == [
        "stalled(0s)"
    ]


# Tool calls.

PATIENT = Thresholds(stall_s=600.0, tool_stall_s=3000.0, stable_window_s=10.0)
HASTY = Thresholds(stall_s=600.0, tool_stall_s=100.0, stable_window_s=10.0)


@pytest.mark.parametrize(
    ("thresholds", "said", "word"),
    [
        (PATIENT, IN_TOOL, "growing"),
        (PATIENT, AFTER_TOOL, "stalled(1200s)"),
        (PATIENT, None, "stalled(1200s)"),
        (HASTY, IN_TOOL, "stalled(1200s)"),
    ],
    ids=["in a tool", "after it", "not read", "in a tool, less patient"],
)
def test_an_open_tool_call_has_a_threshold_of_its_own(
    thresholds: Thresholds, said: Said | None, word: str
) -> None:
    assert words((0, replace(LONG_AGO, said=said)), thresholds=thresholds) == [word]


def test_an_open_tool_call_stalls_in_its_own_time() -> None:
    in_tool = replace(RUNNING, said=IN_TOOL)
    assert words((0, in_tool), (2999, in_tool), (3000, in_tool), thresholds=PATIENT)[1:] == [
        "growing",
        "stalled(3000s)",
    ]
    assert words((0, in_tool), (99, in_tool), (100, in_tool), thresholds=HASTY)[1:] == [
        "growing",
        "stalled(100s)",
    ]


@pytest.mark.parametrize(
    ("seconds", "snapshot", "thresholds", "wanted"),
    [
        (600, RUNNING, PATIENT, True),
        (599, RUNNING, PATIENT, False),
        (100, RUNNING, HASTY, True),
        (99, RUNNING, HASTY, False),
        (600, RUNNING, THRESHOLDS, False),
        (600, replace(RUNNING, said=IN_TOOL), PATIENT, False),
        (600, replace(RUNNING, outcome=outcome()), PATIENT, False),
        (600, SILENT, PATIENT, False),
    ],
    ids=range(8),
)
def test_the_tails_end_is_wanted_only_where_a_stall_turns_on_it(
    seconds: float, snapshot: UnitSnapshot, thresholds: Thresholds, *, wanted: bool
) -> None:
    state, _ = status_of(WatchState(), snapshot, at(0), thresholds)
    assert wants_tail(state, snapshot, at(seconds), thresholds) is wanted


def test_no_tail_is_wanted_before_a_fresh_window_is_over() -> None:
    state, _ = status_of(refreshed(WatchState(), at(0)), LONG_AGO, at(0), PATIENT)
    assert not wants_tail(state, LONG_AGO, at(599), PATIENT)
    assert wants_tail(state, LONG_AGO, at(600), PATIENT)


# What is kept between looks.


def test_a_look_that_found_nothing_new_leaves_what_was_seen_as_it_was() -> None:
    state, _ = status_of(WatchState(), RUNNING, START, THRESHOLDS)
    assert status_of(state, RUNNING, at(5), THRESHOLDS)[0] is state
