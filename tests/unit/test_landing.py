"""When a result file has landed."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from prun.core.identity import Life
from prun.core.landing import Gate, LandingState, gate_of, landed, resumed
from prun.core.unit_snapshot import NO_RESULT, Document, Found, ResultLook, UnitSnapshot
from tests.support.sightings import OLDER, RUNNING, at, epoch, outcome, result

ENDED = replace(RUNNING, outcome=outcome())
DEAD = replace(RUNNING, owner=Life.DEAD)
BLANK = ResultLook(Document.BLANK, (1, 1, 3, 0), epoch(-99))
DIRECTORY = ResultLook(Document.IRREGULAR)
WINDOW_S = 10.0


def landings(*looks: tuple[float, ResultLook], gate: Gate, state: LandingState | None = None) -> list[bool]:
    state = LandingState() if state is None else state
    found = []
    for seconds, look in looks:
        state, there = landed(state, look, gate, at(seconds), WINDOW_S)
        found.append(there)
    return found


@pytest.mark.parametrize(
    ("units", "gate"),
    [
        ([], Gate.NONE),
        ([RUNNING], Gate.SHUT),
        ([replace(RUNNING, owner=Life.UNKNOWN)], Gate.SHUT),
        ([replace(RUNNING, place=Found.UNKNOWN)], Gate.SHUT),
        ([ENDED], Gate.OPEN),
        ([replace(ENDED, owner=Life.DEAD)], Gate.OPEN),
        ([replace(ENDED, outcome=outcome("failed", "quota"))], Gate.OPEN),
        ([DEAD], Gate.NONE),
        ([replace(DEAD, outcome_hidden=True)], Gate.NONE),
        ([OLDER], Gate.NONE),
        ([UnitSnapshot(Found.MISSING)], Gate.NONE),
        ([UnitSnapshot(Found.IRREGULAR)], Gate.NONE),
        # A result path that is used again.
        ([ENDED, RUNNING], Gate.SHUT),
        ([ENDED, DEAD], Gate.OPEN),
        ([OLDER, RUNNING], Gate.SHUT),
        ([DEAD, OLDER], Gate.NONE),
    ],
    ids=range(16),
)
def test_units_say_whether_their_result_is_final(units: list[UnitSnapshot], gate: Gate) -> None:
    assert {gate_of(order) for order in permutations(units)} == {gate}


def test_without_a_unit_a_result_lands_once_it_was_quiet_for_the_window() -> None:
    first, more = result(1), result(9, size=200)
    looks = [(0, NO_RESULT), (1, first), (9, more), (18.9, more), (19, more)]
    assert landings(*looks, gate=Gate.NONE) == [False, False, False, False, True]


def test_a_result_older_than_the_window_lands_at_the_first_look() -> None:
    assert landings((0, result(-10)), gate=Gate.NONE) == [True]
    assert landings((0, result(-9.9)), (0.1, result(-9.9)), gate=Gate.NONE) == [False, True]


@pytest.mark.parametrize("written", [-5000.0, 5000.0])
def test_what_comes_later_is_quiet_by_what_was_seen_alone(written: float) -> None:
    late = result(written)
    assert landings((0, NO_RESULT), (1, late), (10.9, late), (11, late), gate=Gate.NONE) == [
        False,
        False,
        False,
        True,
    ]


def test_a_result_of_tomorrow_is_new_at_the_first_look() -> None:
    late = result(86_400)
    assert landings((0, late), (9.9, late), (10, late), gate=Gate.NONE) == [False, False, True]


@pytest.mark.parametrize("look", [NO_RESULT, BLANK, DIRECTORY, ResultLook(Document.UNKNOWN)], ids=str)
@pytest.mark.parametrize("gate", Gate)
def test_what_is_no_regular_file_that_says_something_never_lands(look: ResultLook, gate: Gate) -> None:
    assert landings((0, look), (500, look), gate=gate) == [False, False]


def test_a_result_that_was_blank_is_quiet_from_when_it_says_something() -> None:
    assert landings((0, BLANK), (5, result(-99)), (14.9, result(-99)), gate=Gate.NONE) == [False] * 3


def test_a_unit_with_an_outcome_fires_at_once_and_a_live_one_without_never() -> None:
    new, old = result(0), result(-500)
    assert landings((0, new), gate=Gate.OPEN) == [True]
    assert landings((0, old), (500, old), gate=Gate.SHUT) == [False, False]


def test_what_was_seen_while_the_unit_lived_counts_once_it_is_dead() -> None:
    late = result(0)
    state, there = landed(LandingState(), late, Gate.SHUT, at(0), WINDOW_S)
    assert not there
    assert landings((9, late), (10, late), gate=Gate.NONE, state=state) == [False, True]


def test_a_gather_that_stood_still_takes_nothing_for_quiet_that_it_did_not_watch() -> None:
    late = result(0)
    state, _ = landed(LandingState(), late, Gate.NONE, at(0), WINDOW_S)
    assert landings((99, late), gate=Gate.NONE, state=state) == [True]
    assert landings((99, late), (108.9, late), (109, late), gate=Gate.NONE, state=resumed(state, at(99))) == [
        False,
        False,
        True,
    ]
    assert resumed(LandingState(), at(5)) == LandingState()
