"""What a judgement says besides its kind, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from prun.core.ending import Ending, Exited, NotLaunched, Reaped, ReapReason, Signalled, Unknown
from prun.core.outcome import Author, Kind, QuotaStop, Verdict
from prun.core.transcript import Transcript
from prun.core.verdict import REASON_LIMIT, author_due, judge, unpublished
from tests.support.runs import (
    ANSWER,
    CREDITS,
    CUT,
    DENIAL,
    DENIED,
    GOOD,
    QUOTA_429,
    evidence,
    failed,
    init,
    judged,
    log,
    refused,
    result,
    stderr,
    stream,
)


@pytest.mark.parametrize(
    ("number", "exit_code", "name"),
    [
        (1, 129, "SIGHUP"),
        (2, 130, "SIGINT"),
        (15, 143, "SIGTERM"),
        (21, 143, "signal 21"),
        (None, 143, "a signal"),
    ],
)
def test_an_interrupt_is_named_and_passed_on(number: int | None, exit_code: int, name: str) -> None:
    found = judged(GOOD, Reaped(ReapReason.INTERRUPTED, 1.0, signal=number))
    assert (found.verdict, found.kind, found.exit_code) == (Verdict.CANCELLED, Kind.INTERRUPTED, exit_code)
    assert found.reason == f"prun was interrupted by {name} and ended Agy"
    assert found.response == ANSWER.strip()


@pytest.mark.parametrize("why", [why for why in ReapReason if why is not ReapReason.LINGERING])
def test_how_a_reaped_worker_exits_is_no_evidence(why: ReapReason) -> None:
    plain = judged(GOOD, Reaped(why, 1.0))
    assert plain == judged(GOOD, Reaped(why, 1.0, code=1))
    assert plain == judged(GOOD, Reaped(why, 1.0, died_of=9))
    assert not plain.completed


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [(2, 70), (70, 70), (75, 70), (124, 70), (129, 70), (130, 70), (143, 70), (71, 71), (255, 255)],
)
def test_a_worker_can_not_exit_in_our_name(code: int, exit_code: int) -> None:
    found = judged(stream(init(), failed("oops")), Exited(code))
    assert found.exit_code == exit_code
    assert (f"Agy exited with code {code}" in found.reason) is (code != exit_code)


def test_a_death_by_one_of_our_signals_that_we_did_not_send_is_70_and_told() -> None:
    found = judged(stream(init(), failed(QUOTA_429)), Signalled(15))
    assert (found.kind, found.exit_code) == (Kind.QUOTA, 70)
    assert found.reason.endswith("; Agy was killed by signal 15")


def test_a_quota_stop_names_group_reset_and_words() -> None:
    found = judged(stream(init(), failed(QUOTA_429)), group="gemini")
    assert found.quota == QuotaStop("gemini", "2026-09-17T12:34:07.000Z", QUOTA_429)


def test_a_stop_without_a_reset_and_one_past_the_calendar_have_none() -> None:
    assert judged(stream(init(), failed(CREDITS))).quota == QuotaStop(None, None, CREDITS)
    late = evidence(stream(init(), failed(QUOTA_429)), now=datetime.max.replace(tzinfo=UTC))
    assert judge(late).quota == QuotaStop(None, None, QUOTA_429)


def test_a_blocked_unit_tells_of_the_stop_that_blocked_it() -> None:
    ending = NotLaunched("both are empty", blocked=True)
    stop = QuotaStop("gemini", "2026-09-17T13:00:00.000Z", "Resets in 1h")
    assert judged(Transcript(), ending, blocked_by=stop).quota == stop
    assert judged(Transcript(), ending, group="gemini").quota == QuotaStop("gemini", None, "both are empty")


@pytest.mark.parametrize("why", [ReapReason.DEADLINE, ReapReason.INTERRUPTED, ReapReason.STALLED])
def test_a_run_cut_short_at_a_live_stop_still_tells_of_it(why: ReapReason) -> None:
    found = judged(stream(init()), Reaped(why, 6.0), log=log(QUOTA_429))
    assert found.kind is not Kind.QUOTA
    assert found.quota == QuotaStop(None, "2026-09-17T12:34:07.000Z", QUOTA_429)


def test_a_completed_unit_has_no_stop() -> None:
    assert judged(GOOD, log=log(QUOTA_429)).quota is None


@pytest.mark.parametrize(
    ("transcript", "changes", "warnings"),
    [
        (GOOD, {}, []),
        (GOOD, {"ending": Reaped(ReapReason.LINGERING, 30.0)}, ["lingering: "]),
        (GOOD, {"ending": Unknown()}, ["exit unknown: "]),
        (
            stream(init(), refused("run_command"), result(denied_actions=DENIED)),
            {},
            ["denied: command (RunCommand)", "denied: run_command"],
        ),
        (
            stream(init(), result("done", denied_actions=["mcp"])),
            {"worker_wrote_result": True},
            ["denied: mcp"],
        ),
        (stream(init(), result("", denied_actions=["mcp"])), {}, []),
        (stream(init(permission_mode="always-proceed"), result()), {"mode": "plan"}, ["permissions: plan "]),
        (stream(init(permission_mode="always-proceed"), result()), {}, []),
        (stream(init(permission_mode="request-review"), result()), {"mode": "plan"}, []),
        (GOOD, {"model_contradicted": "gemini-3.1-pro"}, ["model: Agy says it ran gemini-3.1-pro"]),
        (stream(init(), result(num_turns=0)), {}, ["no turns: "]),
        (stream(init(), result(), torn=b'{"event":"res'), {}, ["truncated: "]),
        (GOOD, {"stderr": stderr(DENIAL)}, []),
    ],
    ids=[
        *("none", "lingering", "unknown", "denied", "denied, file", "denied, no answer", "plan", "not plan"),
        *("kept plan", "model", "zero turns", "torn", "notice beside an answer"),
    ],
)
def test_what_is_odd_but_no_failure_is_a_warning(
    transcript: Transcript, changes: dict[str, Any], warnings: list[str]
) -> None:
    found = judge(evidence(transcript, **changes)).warnings
    assert len(found) == len(warnings)
    assert all(text.startswith(start) for text, start in zip(found, warnings, strict=True))


def test_reasons_and_warnings_are_single_bounded_lines_whatever_agy_says() -> None:
    nasty = "a\x1b[31m\r\nb\x00\u202e" + "x" * 5_000
    found = judged(stream(init(), failed(nasty, status=nasty, denied_actions=[nasty] * 80)))
    assert found.kind is Kind.DENIED
    assert found.reason.isprintable()
    assert len(found.reason) <= REASON_LIMIT
    found = judged(stream(init(), failed(nasty, status=nasty)))
    assert found.kind is Kind.ERROR
    assert found.reason.isprintable()
    assert len(found.reason) <= REASON_LIMIT
    shown = judge(evidence(stream(init(), result(denied_actions=[f"{n}{nasty}" for n in range(80)]))))
    assert 0 < len(shown.warnings) <= 20
    assert all(text.isprintable() and len(text) <= 300 for text in shown.warnings)


def test_an_error_text_is_folded_and_cut_in_the_reason() -> None:
    found = judged(stream(init(), failed("first\nsecond " + "x" * 1000)))
    assert found.reason.startswith("Agy reported status ERROR: first second xxx")
    assert found.reason.endswith("…")
    assert len(found.reason) < 540


def test_a_failed_run_keeps_its_response() -> None:
    runs = (judged(GOOD, Exited(1)), judged(GOOD, stderr=stderr(CUT)), judged(GOOD, continued_id="c0ffee"))
    assert [(found.completed, found.response) for found in runs] == [(False, ANSWER.strip())] * 3


def test_a_completed_unit_that_can_not_be_published_has_failed() -> None:
    found = unpublished(judged(GOOD), "cannot write /w/u.md: no space left\non device")
    assert (found.verdict, found.kind, found.exit_code) == (Verdict.FAILED, Kind.PUBLISH, 70)
    assert found.reason == "cannot write /w/u.md: no space left on device"
    assert found.response == ANSWER.strip()


def test_a_failed_unit_that_can_not_be_published_keeps_its_kind() -> None:
    before = judged(GOOD, Exited(9))
    after = unpublished(before, "no space")
    assert after == replace(before, warnings=("not published: no space",))


@pytest.mark.parametrize(
    ("ending", "worker", "author"),
    [
        (Exited(0), False, Author.RESPONSE),
        (Exited(0), True, Author.WORKER),
        (Exited(1), True, Author.WORKER),
        (Exited(1), False, Author.FALLBACK),
    ],
)
def test_a_workers_own_file_outranks_pruns(ending: Ending, worker: bool, author: Author) -> None:
    found = judged(GOOD, ending, worker_wrote_result=worker)
    assert author_due(found, worker_wrote_result=worker) is author
