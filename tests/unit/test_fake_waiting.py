"""The fake's waits: woken by requests to end, cut by the print timeout, bounded always."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from fake_agy.ends import PrintTimeoutError, TurnInterruptedError
from fake_agy.waiting import Waiter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def waiter() -> Iterator[Waiter]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    made = Waiter()
    made.install()
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_wait_ends_with_what_it_waits_for(waiter: Waiter, tmp_path: Path) -> None:
    assert not waiter.for_file(tmp_path / "file", 0)
    (tmp_path / "file").touch()
    assert waiter.for_file(tmp_path / "file", 60)
    waiter.sleep(0)


def test_the_print_timeout_cuts_a_sleep_but_not_a_hang(waiter: Waiter) -> None:
    waiter.limit(0)
    with pytest.raises(PrintTimeoutError):
        waiter.sleep(60)
    with pytest.raises(PrintTimeoutError):
        waiter.check()
    waiter.hang(0)
    waiter.limit(None)
    waiter.check()


def test_a_request_to_end_is_heard_at_the_next_wait_and_before_the_print_timeout(waiter: Waiter) -> None:
    waiter.limit(0)
    signal.raise_signal(signal.SIGTERM)
    for wait in (waiter.check, lambda: waiter.sleep(60), lambda: waiter.hang(60)):
        with pytest.raises(TurnInterruptedError):
            wait()


def test_a_request_to_end_breaks_into_a_wait(waiter: Waiter) -> None:
    def work() -> bytes:
        signal.raise_signal(signal.SIGTERM)
        os.stat(".")  # noqa: PTH116 - any call: handlers run between bytecodes
        return b"not reached"

    with pytest.raises(TurnInterruptedError):
        waiter.interruptible(work)


def test_a_waiter_that_ignores_hears_nothing(waiter: Waiter) -> None:
    waiter.ignore()
    signal.raise_signal(signal.SIGTERM)
    waiter.check()


def test_a_signal_that_the_caller_ignores_stays_ignored(waiter: Waiter) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    waiter.install()
    signal.raise_signal(signal.SIGTERM)
    waiter.check()
