"""The loop behind monitor and gather: how often it looks, and when it stops."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from prun.flow.looking import WHOLE_S, look_until
from tests.support.clocks import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from prun.core.moment import Moment


class Seen:
    """What is looked at: remembers each look, which takes as many seconds as *costs* tells."""

    def __init__(
        self,
        clock: ManualClock,
        found: Callable[[float], str | None] = lambda _: None,
        *,
        unfinished: int = 1,
        costs: Callable[[bool], float] = lambda _: 0.0,
    ) -> None:
        self.clock = clock
        self.began_s = clock.monotonic()
        self.unfinished = unfinished
        self.looks: list[tuple[float, bool]] = []
        self.resumed_s: list[float] = []
        self.used_s = 0.0
        self._found = found
        self._costs = costs

    def take(self, now: Moment, *, whole: bool) -> str | None:
        at_s = now.monotonic_s - self.began_s
        self.looks.append((at_s, whole))
        self.clock.used_s += self._costs(whole)
        self.clock.advance(self._costs(whole))
        return self._found(at_s)

    def resume(self, now: Moment) -> None:
        self.resumed_s.append(now.monotonic_s - self.began_s)


def gaps(looks: list[tuple[float, bool]]) -> list[float]:
    times = [at_s for at_s, _ in looks]
    return [later - earlier for earlier, later in pairwise(times)]


def test_no_time_is_one_whole_look() -> None:
    clock = ManualClock()
    seen = Seen(clock)
    assert look_until(seen, clock, 15, 0) is None
    assert seen.looks == [(0.0, True)]
    assert clock.slept == []


def test_what_is_found_ends_it_at_once() -> None:
    clock = ManualClock()
    seen = Seen(clock, lambda at_s: "found" if at_s >= 7.1 else None)
    assert look_until(seen, clock, 15, 3600) == "found"
    assert 7.1 <= seen.looks[-1][0] <= 7.1 + 0.25


def test_the_last_look_is_whole_and_at_the_end_of_the_time() -> None:
    clock = ManualClock()
    seen = Seen(clock)
    assert look_until(seen, clock, 15, 10.1) is None
    at_s, whole = seen.looks[-1]
    assert at_s == pytest.approx(10.1)
    assert whole


def test_something_may_still_be_found_by_the_last_look() -> None:
    clock = ManualClock()
    assert look_until(Seen(clock, lambda at_s: "found" if at_s >= 10 else None), clock, 15, 10) == "found"


def test_there_are_four_looks_a_second_and_one_of_them_is_whole() -> None:
    clock = ManualClock()
    seen = Seen(clock, unfinished=1000)
    look_until(seen, clock, 15, 60)
    assert max(gaps(seen.looks)) <= 0.25 + 1e-9
    assert len(seen.looks) == pytest.approx(241, abs=2)
    assert max(gaps([look for look in seen.looks if look[1]])) <= WHOLE_S + 1e-6


@pytest.mark.parametrize("poll_s", [0.05, 0.2, 0.9])
def test_a_poll_below_a_second_makes_every_whole_look_as_frequent(poll_s: float) -> None:
    clock = ManualClock()
    seen = Seen(clock)
    look_until(seen, clock, poll_s, 10)
    assert max(gaps([look for look in seen.looks if look[1]])) <= poll_s + 1e-6


def test_thousands_of_units_are_looked_at_rarer() -> None:
    clock = ManualClock()
    seen = Seen(clock, unfinished=10_000)
    look_until(seen, clock, 15, 60)
    assert min(gaps(seen.looks)[:-1]) >= 1.0
    assert max(gaps(seen.looks)) <= 2.5 + 1e-9


def test_looking_takes_a_tenth_of_a_processor_at_most() -> None:
    clock = ManualClock()
    seen = Seen(clock, unfinished=10_000, costs=lambda whole: 0.3 if whole else 0.05)
    look_until(seen, clock, 60, 600)
    assert clock.used_s <= 60 + 0.3
    assert seen.resumed_s == []


def test_never_is_there_longer_than_a_poll_between_two_looks() -> None:
    clock = ManualClock()
    seen = Seen(clock, unfinished=100_000, costs=lambda _: 0.5)
    look_until(seen, clock, 2, 60)
    assert max(gaps(seen.looks)) <= 2 + 0.5 + 1e-9


def test_a_standstill_is_told_once_and_a_common_pause_is_not() -> None:
    clock = ManualClock()

    def stand_still(at_s: float) -> None:
        if 20 <= at_s < 20.25:
            clock.advance(100)

    seen = Seen(clock, stand_still)
    look_until(seen, clock, 5, 300)
    assert len(seen.resumed_s) == 1
    assert seen.resumed_s[0] == pytest.approx(120, abs=1)


def test_a_suspended_machine_is_noticed_by_the_time_of_day() -> None:
    clock = ManualClock()

    def suspend(at_s: float) -> None:
        if 20 <= at_s < 20.25:
            clock.step(3600)

    seen = Seen(clock, suspend)
    look_until(seen, clock, 5, 60)
    assert len(seen.resumed_s) == 1


def test_a_clock_that_is_set_back_is_no_standstill() -> None:
    clock = ManualClock()
    seen = Seen(clock, lambda at_s: clock.step(-86_400) if at_s == 0 else None)
    look_until(seen, clock, 5, 60)
    assert seen.resumed_s == []


def test_looks_that_always_take_long_are_no_standstill_for_ever() -> None:
    clock = ManualClock()
    seen = Seen(clock, costs=lambda _: 2.0)
    look_until(seen, clock, 0.1, 300)
    assert len(seen.resumed_s) <= 5
