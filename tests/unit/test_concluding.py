"""The outcome holds what is known at a unit's end and fits the room kept for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from prun.core.concluding import SLOT_BYTES, Closing, outcome_of
from prun.core.ending import Ending, Exited, LaunchFailed, NotLaunched, Reaped, ReapReason, Signalled, Unknown
from prun.core.outcome import Author, Outcome, QuotaStop, TreeState
from prun.core.records import decode_outcome, encode_outcome
from prun.core.request import Request
from prun.core.verdict import judge
from tests.support.runs import DENIED, QUOTA_429, evidence, failed, init, stream

REQUEST = Request(
    unit="u",
    attempt=2,
    batch=None,
    prompt_file="/w/p.md",
    result_file="/w/u.md",
    mode="accept-edits",
    work_dir="/s/work",
    work_dir_made=True,
    add_dirs=(),
    continued_id=None,
    agy="/usr/bin/agy",
    model_asked="gemini-3.1-pro",
    effort_asked=None,
    timeout_s=2700,
    reap_idle_s=0,
    reap_grace_s=60,
    reap_leftovers=True,
    min_result_bytes=20,
    preflight="auto",
    preflight_timeout_s=60,
    sandbox=False,
    session="session",
    worker_token="0123456789abcdef",
    started_at="2026-09-17T11:59:54.000Z",
    started_monotonic_s=12.5,
    boot=None,
    versions={},
)
CLOSING = Closing(
    ending=Exited(3),
    model="gemini-3.8-flash-high",
    author=Author.FALLBACK,
    response_path="/w/u.response.md",
    tree=TreeState.LEFTOVERS,
    leftovers=("sh (12)",),
    ended_at=datetime(2026, 9, 17, 12, 0, 0, 250_000, UTC),
    duration_s=6.25049,
)
USAGE = {"input_tokens": 12, "total_tokens": 20}
RUN = stream(init(), failed(QUOTA_429, "half of it", usage=USAGE, denied_actions=DENIED))


def concluded(closing: Closing = CLOSING) -> Outcome:
    return outcome_of(REQUEST, judge(evidence(RUN, closing.ending, group="gemini")), RUN, closing)


def test_an_outcome_is_put_together_from_all_that_is_known() -> None:
    assert concluded() == Outcome(
        unit="u",
        attempt=2,
        verdict="failed",
        kind="quota",
        reason=f"Agy reported status ERROR: {QUOTA_429}",
        exit_code=3,
        result_path="/w/u.md",
        result_author="fallback",
        model="gemini-3.8-flash-high",
        tree="leftovers",
        started_at="2026-09-17T11:59:54.000Z",
        ended_at="2026-09-17T12:00:00.250Z",
        duration_s=6.25,
        worker_exit=3,
        worker_signal=None,
        status="ERROR",
        response_path="/w/u.response.md",
        conversation_id="5e0c0b1a-0000-4000-8000-000000000001",
        model_asked="gemini-3.1-pro",
        usage=USAGE,
        num_turns=1,
        denied_actions=({"action": "command", "display_name": "RunCommand"},),
        warnings=(),
        quota=QuotaStop("gemini", "2026-09-17T12:34:07.000Z", QUOTA_429),
        leftovers=("sh (12)",),
        adopted=False,
    )


@pytest.mark.parametrize(
    ("ending", "worker_exit", "worker_signal"),
    [
        (Exited(0), 0, None),
        (Signalled(9), None, 9),
        (Reaped(ReapReason.DEADLINE, 6.0, code=1), 1, None),
        (Reaped(ReapReason.DEADLINE, 6.0, died_of=15), None, 15),
        (NotLaunched("no"), None, None),
        (LaunchFailed("no"), None, None),
        (Unknown(), None, None),
    ],
    ids=str,
)
def test_how_the_worker_ended_is_told_even_where_it_is_no_evidence(
    ending: Ending, worker_exit: int | None, worker_signal: int | None
) -> None:
    outcome = concluded(replace(CLOSING, ending=ending))
    assert (outcome.worker_exit, outcome.worker_signal) == (worker_exit, worker_signal)


@pytest.mark.parametrize(
    ("measured", "told"), [(-1.0, 0.0), (float("nan"), 0.0), (float("inf"), 0.0), (2, 2.0)]
)
def test_a_duration_is_a_finite_number_of_seconds(measured: float, told: float) -> None:
    assert concluded(replace(CLOSING, duration_s=measured)).duration_s == told


def test_an_outcome_too_long_for_its_room_is_cut_and_says_so() -> None:
    many = tuple(f"grüße-{number:04d} ({number})" for number in range(2000))
    outcome = concluded(replace(CLOSING, leftovers=many, adopted=True))
    data = encode_outcome(outcome)
    assert len(data) <= SLOT_BYTES
    assert decode_outcome(data) == outcome
    assert outcome.warnings[0].startswith("cut: ")
    assert 0 < len(outcome.leftovers) < len(many)
    assert outcome.leftovers == many[: len(outcome.leftovers)]
    assert outcome.adopted


def test_what_a_reader_must_know_outlives_every_list() -> None:
    warnings = tuple("w" * 300 for _ in range(20))
    judgement = replace(judge(evidence(RUN, Exited(3))), warnings=warnings)
    told = replace(
        RUN,
        denied_actions=tuple("d" * 200 for _ in range(100)),
        usage=dict.fromkeys(map(str, range(2000)), 1),
    )
    outcome = outcome_of(REQUEST, judgement, told, CLOSING)
    assert len(encode_outcome(outcome)) <= SLOT_BYTES
    assert (outcome.kind, outcome.conversation_id) == ("quota", RUN.conversation_id)
    assert outcome.warnings[0].startswith("cut: ")
