"""What is done with a running worker, look by look."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from prun.core.ending import ReapReason
from prun.core.supervision import LINGER_S, Limits, Look, Progress, Reap, Wait, outdone, supervise

CALM = Look(
    at_s=10.0, grew=False, spoke=False, result_stands=False, quota_stop=False, cancel_asked=False, signal=None
)
LIMITS = Limits(deadline_s=100.0, idle_s=20.0)
FRESH = Progress(grew_at_s=10.0)
STALE = Progress(grew_at_s=0.0)
STOPPED = Progress(grew_at_s=10.0, stopped_at_s=10.0)


@pytest.mark.parametrize(
    ("progress", "look", "limits", "decision"),
    [
        (FRESH, CALM, LIMITS, Wait()),
        # The deadline.
        (Progress(99.0), replace(CALM, at_s=99.9), LIMITS, Wait()),
        (Progress(99.0), replace(CALM, at_s=100.0), LIMITS, Reap(ReapReason.DEADLINE)),
        (Progress(99.0), replace(CALM, at_s=100.0, grew=True), LIMITS, Reap(ReapReason.DEADLINE)),
        (STALE, replace(CALM, at_s=1e9), replace(LIMITS, idle_s=None), Reap(ReapReason.DEADLINE)),
        # A stall, where one is to be reaped.
        (STALE, replace(CALM, at_s=19.9), LIMITS, Wait()),
        (STALE, replace(CALM, at_s=20.0), LIMITS, Reap(ReapReason.STALLED)),
        (STALE, replace(CALM, at_s=20.0, grew=True), LIMITS, Wait()),
        (STALE, replace(CALM, at_s=99.0), replace(LIMITS, idle_s=None), Wait()),
        # A result that stands.
        (STALE, replace(CALM, at_s=LINGER_S - 0.1, result_stands=True), LIMITS, Wait()),
        (STALE, replace(CALM, at_s=LINGER_S, result_stands=True), LIMITS, Reap(ReapReason.LINGERING)),
        (STALE, replace(CALM, at_s=LINGER_S, result_stands=True, grew=True), LIMITS, Wait()),
        (Progress(40.0), replace(CALM, at_s=69.0, result_stands=True), LIMITS, Wait()),
        (Progress(40.0), replace(CALM, at_s=70.0, result_stands=True), LIMITS, Reap(ReapReason.LINGERING)),
        # A quota stop, after the time agy has to end by itself.
        (FRESH, replace(CALM, quota_stop=True), LIMITS, Wait()),
        (STOPPED, replace(CALM, at_s=11.9, quota_stop=True), LIMITS, Wait()),
        (STOPPED, replace(CALM, at_s=12.0, quota_stop=True), LIMITS, Reap(ReapReason.QUOTA)),
        (STOPPED, replace(CALM, at_s=12.0, quota_stop=True, grew=True), LIMITS, Reap(ReapReason.QUOTA)),
        (STOPPED, replace(CALM, at_s=12.0), LIMITS, Reap(ReapReason.QUOTA)),
        # Output without a new stop means that agy got through; with one, the patience starts again.
        (STOPPED, replace(CALM, at_s=12.0, grew=True, spoke=True), LIMITS, Wait()),
        (STOPPED, replace(CALM, at_s=12.0, quota_stop=True, grew=True, spoke=True), LIMITS, Wait()),
        (STOPPED, replace(CALM, at_s=12.0, quota_stop=True, result_stands=True), LIMITS, Wait()),
        # What the caller wants outranks all else, a signal a cancel.
        (FRESH, replace(CALM, cancel_asked=True), LIMITS, Reap(ReapReason.CANCELLED)),
        (FRESH, replace(CALM, signal=15), LIMITS, Reap(ReapReason.INTERRUPTED)),
        (FRESH, replace(CALM, signal=15, cancel_asked=True), LIMITS, Reap(ReapReason.INTERRUPTED)),
        (STALE, replace(CALM, at_s=1e9, quota_stop=True, signal=2), LIMITS, Reap(ReapReason.INTERRUPTED)),
        (
            STALE,
            replace(CALM, at_s=1e9, result_stands=True, cancel_asked=True),
            LIMITS,
            Reap(ReapReason.CANCELLED),
        ),
    ],
    ids=range(27),
)
def test_a_look_leads_to_its_decision(
    progress: Progress, look: Look, limits: Limits, decision: Wait | Reap
) -> None:
    assert supervise(progress, look, limits)[1] == decision


def test_growth_restarts_the_stall_timer() -> None:
    progress, _ = supervise(STALE, replace(CALM, at_s=15.0, grew=True), LIMITS)
    assert progress == Progress(15.0)
    assert supervise(progress, replace(CALM, at_s=34.9), LIMITS) == (progress, Wait())
    assert supervise(progress, replace(CALM, at_s=35.0), LIMITS) == (progress, Reap(ReapReason.STALLED))


def test_the_patience_with_a_quota_stop_runs_from_when_it_was_first_seen() -> None:
    progress, _ = supervise(FRESH, replace(CALM, quota_stop=True), LIMITS)
    assert progress == STOPPED
    assert (
        supervise(progress, replace(CALM, at_s=11.0, quota_stop=True, grew=True), LIMITS)[0].stopped_at_s
        == 10.0
    )


def test_a_worker_that_got_through_a_quota_stop_is_not_ended_when_it_pauses_later() -> None:
    progress, _ = supervise(FRESH, replace(CALM, quota_stop=True), LIMITS)
    progress, _ = supervise(progress, replace(CALM, at_s=11.0, grew=True, spoke=True), LIMITS)
    assert supervise(progress, replace(CALM, at_s=20.0), LIMITS) == (progress, Wait())


def test_a_look_without_growth_leaves_the_progress_as_it_was() -> None:
    assert supervise(FRESH, replace(CALM, at_s=90.0), LIMITS)[0] == FRESH


@pytest.mark.parametrize("why", ReapReason)
def test_a_result_of_the_last_moment_outdoes_a_clock_but_not_a_wish(why: ReapReason) -> None:
    wished = why in {ReapReason.INTERRUPTED, ReapReason.CANCELLED}
    assert outdone(why, result_stands=True) is (why if wished else ReapReason.LINGERING)
    assert outdone(why, result_stands=False) is why


LOOKS = [
    Look(at_s, grew, spoke, stands, quota, cancel, signal)
    for at_s, (grew, spoke), stands, quota, cancel, signal in product(
        (5.0, 25.0, 95.0, 100.0, 500.0),
        ((False, False), (True, False), (True, True)),
        (False, True),
        (False, True),
        (False, True),
        (None, 2),
    )
]


@pytest.mark.parametrize("idle_s", [None, 20.0])
def test_no_look_at_or_after_the_deadline_waits_on(idle_s: float | None) -> None:
    for look in LOOKS:
        if look.at_s >= LIMITS.deadline_s:
            assert isinstance(supervise(STALE, look, replace(LIMITS, idle_s=idle_s))[1], Reap), look


def test_a_standing_result_is_never_ended_as_a_stall_or_for_quota() -> None:
    for look in LOOKS:
        decision = supervise(replace(STALE, stopped_at_s=0.0), look, LIMITS)[1]
        if look.result_stands and isinstance(decision, Reap):
            assert decision.why not in {ReapReason.STALLED, ReapReason.QUOTA}, look


def test_without_an_idle_limit_nothing_is_a_stall() -> None:
    for look in LOOKS:
        assert supervise(STALE, look, replace(LIMITS, idle_s=None))[1] != Reap(ReapReason.STALLED), look
