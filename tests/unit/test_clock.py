from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from prun.system.clock import Clock, SystemClock
from tests.support.clocks import ManualClock


@pytest.mark.parametrize("clock", [SystemClock(), ManualClock()], ids=["system", "manual"])
def test_a_clock_is_aware_and_never_goes_back(clock: Clock) -> None:
    before, moment = clock.monotonic(), clock.utc()
    clock.sleep(0.001)
    assert clock.monotonic() >= before
    assert moment.tzinfo is UTC
    assert clock.utc() >= moment


@pytest.mark.parametrize("seconds", [0.0, -1.0])
@pytest.mark.parametrize("clock", [SystemClock(), ManualClock()], ids=["system", "manual"])
def test_a_sleep_that_is_not_positive_returns_at_once(clock: Clock, seconds: float) -> None:
    clock.sleep(seconds)


def test_the_system_tells_what_this_process_has_used() -> None:
    before_s = SystemClock().cpu()
    sum(range(100_000))
    assert SystemClock().cpu() >= before_s >= 0


def test_a_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(monotonic_s=5.0)
    moment = clock.utc()
    clock.sleep(2.5)
    clock.advance(1.0)
    assert (clock.monotonic(), clock.utc() - moment, clock.slept) == (8.5, timedelta(seconds=3.5), [2.5])


def test_a_stepped_clock_changes_the_time_of_day_alone() -> None:
    clock = ManualClock(monotonic_s=5.0)
    moment = clock.utc()
    clock.step(-3600.0)
    assert (clock.monotonic(), clock.utc() - moment) == (5.0, timedelta(hours=-1))
