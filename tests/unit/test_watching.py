"""What wakes a monitor, whether it stood still, and how often it looks."""

from __future__ import annotations

from itertools import permutations

import pytest

from prun.core.status import Done, Failed, Finishing, Growing, Pending, Stalled, Status
from prun.core.watching import Event, event_of, exit_status, pause_s, suspended
from tests.support.sightings import at

DONE, FAIL, STALL = Done(), Failed("quota", "why"), Stalled(700.0)
GOING: list[Status] = [Growing(), Pending(), Finishing()]


@pytest.mark.parametrize(
    ("statuses", "event"),
    [
        ([], Event.ALL_DONE),
        ([DONE], Event.ALL_DONE),
        ([DONE, DONE], Event.ALL_DONE),
        *(([DONE, going], None) for going in GOING),
        *(([going, STALL], Event.STALL) for going in GOING),
        *(([going, FAIL], Event.FAIL) for going in GOING),
        ([DONE, STALL], Event.STALL),
        ([DONE, FAIL], Event.FAIL),
        ([DONE, STALL, FAIL], Event.FAIL),
    ],
    ids=range(15),
)
def test_a_failure_comes_before_a_stall_and_a_stall_before_all_done(
    statuses: list[Status], event: Event | None
) -> None:
    units = [(f"u{number}", status) for number, status in enumerate(statuses)]
    assert {event_of(order, ()) for order in permutations(units)} == {event}


@pytest.mark.parametrize(
    ("excepted", "event"),
    [
        ((), Event.FAIL),
        (("a",), Event.STALL),
        (("a", "b"), None),
        (("a", "b", "c"), Event.ALL_DONE),
        (("d",), Event.FAIL),
        (("a", "b", "c", "d", "nobody"), Event.ALL_DONE),
    ],
    ids=str,
)
def test_an_excepted_unit_counts_for_nothing(excepted: tuple[str, ...], event: Event | None) -> None:
    assert event_of([("a", FAIL), ("b", STALL), ("c", Growing()), ("d", DONE)], excepted) == event


@pytest.mark.parametrize(
    ("statuses", "event"),
    [
        ([DONE, DONE], Event.ALL_DONE),
        ([DONE, FAIL], Event.FAIL),
        ([FAIL, STALL], None),
        ([FAIL, Growing()], None),
        ([DONE, Finishing()], None),
    ],
    ids=str,
)
def test_a_watch_until_all_tells_nothing_before_all_have_ended(
    statuses: list[Status], event: Event | None
) -> None:
    units = [(f"u{number}", status) for number, status in enumerate(statuses)]
    assert event_of(units, (), until_all=True) == event


def test_a_watch_until_all_does_not_wait_for_an_excepted_unit() -> None:
    assert event_of([("a", DONE), ("b", STALL)], ("b",), until_all=True) == Event.ALL_DONE


def test_each_event_has_its_word_and_its_exit_status() -> None:
    assert {event.value: exit_status(event) for event in Event} == {
        "all-done": 0,
        "stall": 3,
        "fail": 3,
        "timeout": 2,
        "usage-error": 2,
    }


@pytest.mark.parametrize(
    ("seconds", "stepped_s", "stood_still"),
    [
        (15.0, 0.0, False),
        (45.0, 0.0, False),
        (45.1, 0.0, True),
        # A suspend that stops the monotonic clock shows on the other one.
        (1.0, 44.0, False),
        (1.0, 44.1, True),
        (1.0, 86_400.0, True),
        (1.0, -86_400.0, False),
        (45.1, -86_400.0, True),
    ],
)
def test_a_gap_of_more_than_three_polls_by_either_clock_is_a_suspension(
    seconds: float, stepped_s: float, *, stood_still: bool
) -> None:
    assert suspended(at(0), at(seconds, stepped_s=stepped_s), 15.0) is stood_still


@pytest.mark.parametrize(
    ("unfinished", "cost_s", "poll_s", "pause"),
    [
        (0, 0.0, 15.0, 0.25),
        (1, 0.0001, 15.0, 0.25),
        (1000, 0.02, 15.0, 0.25),
        (2000, 0.02, 15.0, 0.5),
        (10_000, 0.2, 15.0, 2.5),
        (10_000, 0.5, 15.0, 4.5),
        (1, 1.0, 15.0, 9.0),
        (1, 60.0, 15.0, 15.0),
        (1, 0.0, 0.1, 0.1),
    ],
)
def test_looks_come_four_times_a_second_unless_that_costs_too_much(
    unfinished: int, cost_s: float, poll_s: float, pause: float
) -> None:
    assert pause_s(unfinished, cost_s, poll_s) == pytest.approx(pause)
