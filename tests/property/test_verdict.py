"""Whatever a run leaves behind has a verdict, and nothing is called completed that has no result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.ending import Ending, Exited, LaunchFailed, NotLaunched, Reaped, ReapReason, Signalled, Unknown
from prun.core.evidence import Evidence
from prun.core.failures import failure_in, rank
from prun.core.outcome import Kind, Verdict
from prun.core.rules import (
    RULES,
    Rule,
    crashed,
    cut_by_print_timeout,
    ended_by_prun,
    quota_stop,
    refused_permission,
    reported_error,
    silent,
    too_short,
)
from prun.core.verdict import REASON_LIMIT, WARNING_LIMIT, Judgement, judge
from tests.support.known_bad import assert_caught
from tests.support.runs import (
    ANSWER,
    BAD_MODEL,
    BUSY,
    CHECK_QUOTA,
    CONVERSATION,
    CREDITS,
    CUT,
    DENIAL,
    DENIED,
    NETWORK,
    NOT_FOUND,
    QUOTA,
    QUOTA_429,
    REVOKED,
    evidence,
    failed,
    init,
    log,
    payload,
    refused,
    result,
    said,
    stderr,
    stream,
)

Judge = Callable[[Evidence], Judgement]

ERRORS = [QUOTA_429, CREDITS, CHECK_QUOTA, BUSY, NETWORK, REVOKED, BAD_MODEL]
OTHER_ERRORS = ["timeout waiting for response", "interrupted", "oops", "", "a\nb\x00\x1b[31m"]
STATUSES: list[Any] = ["SUCCESS", " success ", "", ..., "ERROR", "CANCELED", None, 0, ["SUCCESS"]]
RESPONSES: list[Any] = [ANSWER, QUOTA, "done", "", " \n", "\ufeff", ..., None]
LINES = [
    *(f"error: {text}" for text in ERRORS),
    payload(CHECK_QUOTA, "RESOURCE_EXHAUSTED", 429),
    QUOTA,
    "error: oops",
]
NOTICES = [CUT, DENIAL, NOT_FOUND, ""]
MESSAGES = [
    *(f"agent executor error: {text}" for text in ERRORS),
    f"Run: attempt 1 failed ({QUOTA_429}), retrying in 1s",
]
TORN = [b"", b"", b'{"event":"result","result":{"status":"SUCC', b"\xff\x00{"]

results = st.builds(
    lambda response, status, error, denied, turns: result(
        response, status=status, error=error, denied_actions=denied, num_turns=turns
    ),
    st.sampled_from(RESPONSES),
    st.sampled_from(STATUSES),
    st.sampled_from([..., *ERRORS, *OTHER_ERRORS]),
    st.sampled_from([..., [], DENIED, "junk"]),
    st.sampled_from([0, 1]),
)
events = st.one_of(
    st.just(init()),
    st.just(init("c0ffee", permission_mode="always-proceed")),
    st.just(said("working")),
    st.just(refused("run_command")),
    st.just(result()),
    st.sampled_from([failed(error) for error in ERRORS]),
    results,
)
launched: st.SearchStrategy[Ending] = st.one_of(
    st.builds(Exited, st.sampled_from([0, 0, 0, 1, 2, 3, 9, 70, 75, 124, 143, 255, 3221225477])),
    st.builds(Signalled, st.sampled_from([1, 2, 9, 11, 15])),
    st.builds(
        Reaped,
        st.sampled_from(ReapReason),
        st.floats(0, 1e6),
        signal=st.sampled_from([None, 1, 2, 15, 21]),
        code=st.sampled_from([None, 0, 1]),
    ),
    st.just(Unknown()),
)
unlaunched: st.SearchStrategy[Ending] = st.one_of(
    st.builds(NotLaunched, st.just("not\nlisted"), timed_out=st.booleans(), blocked=st.booleans()),
    st.just(LaunchFailed("exec format error")),
)


@st.composite
def runs(draw: st.DrawFn) -> Evidence:
    ran = draw(st.integers(0, 9)) > 0
    told = draw(st.lists(events, max_size=4)) if ran else []
    return evidence(
        stream(*told, torn=draw(st.sampled_from(TORN)) if ran else b""),
        draw(launched if ran else unlaunched),
        stderr=stderr(*draw(st.lists(st.sampled_from([*LINES, *NOTICES]), max_size=2)) if ran else ()),
        log=log(*draw(st.lists(st.sampled_from(MESSAGES), max_size=1)) if ran else ()),
        worker_wrote_result=ran and draw(st.booleans()),
        continued_id=draw(st.sampled_from([None, None, CONVERSATION, "c0ffee"])),
        mode=draw(st.sampled_from(["plan", "accept-edits"])),
        min_result_bytes=draw(st.sampled_from([20, 20, 0, 10**6])),
    )


def answer(run: Evidence) -> bytes:
    return (run.transcript.response or "").strip().removeprefix("\ufeff").strip().encode()


def failing_status(run: Evidence) -> bool:
    status = run.transcript.status
    fine = isinstance(status, str) and status.strip().upper() in {"", "SUCCESS"}
    return run.transcript.has_status and not fine


def causes_named(run: Evidence) -> set[Kind]:
    """Return the causes that are named anywhere; whether they count is another matter."""
    error = failure_in(run.transcript.error or "")
    named = (*run.stderr.failures, *run.log.failures, *([] if error is None else [error]))
    return {failure.kind for failure in named}


def faults(run: Evidence) -> set[Kind]:
    """Return the kinds that are plain from a run as the specification words them, the noise apart."""
    told = run.transcript
    match run.ending:
        case NotLaunched(blocked=True):
            return {Kind.QUOTA}
        case NotLaunched():
            return {Kind.PREFLIGHT}
        case LaunchFailed():
            return {Kind.LAUNCH}
        case Reaped(why) if why is not ReapReason.LINGERING:
            return {Kind.TIMEOUT if why is ReapReason.DEADLINE else Kind(why.value)}
    died = isinstance(run.ending, Signalled) or (isinstance(run.ending, Exited) and run.ending.code != 0)
    usable = run.worker_wrote_result or len(answer(run)) >= max(run.min_result_bytes, 1)
    cause = failure_in(told.error or "") if failing_status(run) else None
    found = {
        Kind.TIMEOUT: run.stderr.print_timeout is not None and not failing_status(run),
        Kind.RESUME_MISMATCH: run.continued_id not in {None, told.conversation_id}
        and (told.conversation_id is not None or run.stderr.conversation_not_found),
        Kind.DENIED: bool(told.denied_actions or told.refused_tools) and not usable,
        Kind.CRASHED: died and not failing_status(run),
        Kind.ERROR: failing_status(run),
        Kind.SILENT: not answer(run) and not run.worker_wrote_result,
        Kind.SHORT: not usable,
    }
    return {kind for kind, holds in found.items() if holds} | ({cause.kind} if cause is not None else set())


def check_nothing_is_completed_without_a_result(judging: Judge, run: Evidence) -> None:
    if not judging(run).completed:
        return
    assert run.worker_wrote_result or len(answer(run)) >= max(run.min_result_bytes, 1)
    assert run.worker_wrote_result or run.transcript.result_seen
    assert not failing_status(run)
    match run.ending:
        case Reaped(why):
            assert why is ReapReason.LINGERING
        case Unknown():
            assert run.transcript.result_seen
        case ending:
            assert ending == Exited(0)


def check_zero_means_completed(judging: Judge, run: Evidence) -> None:
    found = judging(run)
    assert (found.exit_code == 0) is found.completed is (found.kind is Kind.OK)
    assert (found.verdict is Verdict.CANCELLED) is (found.kind in {Kind.INTERRUPTED, Kind.CANCELLED})
    assert (found.verdict is Verdict.BLOCKED) is (found.exit_code == 75)


def check_no_plain_fault_is_passed_over(judging: Judge, run: Evidence) -> None:
    found = judging(run)
    plain, named = faults(run), causes_named(run)
    # A crash is no reason where agy names one, be it the lesser kind.
    due = {Kind.ERROR} if plain and min(plain, key=rank) is Kind.CRASHED and Kind.ERROR in named else plain
    assert not due or rank(found.kind) <= min(map(rank, due))
    # Nothing makes a kind but a fault that shows, a cause that is named, or a notice.
    notices = {Kind.DENIED} if run.stderr.denied else set()
    unseen = {Kind.SILENT} if isinstance(run.ending, Unknown) and not run.transcript.result_seen else set()
    assert found.kind in plain | named | notices | unseen | {Kind.OK}
    assert plain or found.kind is Kind.OK or isinstance(run.ending, Unknown)


def check_every_text_is_one_printable_line(judging: Judge, run: Evidence) -> None:
    found = judging(run)
    for text, limit in ((found.reason, REASON_LIMIT), *((text, WARNING_LIMIT) for text in found.warnings)):
        assert text
        assert len(text) <= limit
        assert text.isprintable()


def check_a_response_is_never_lost(judging: Judge, run: Evidence) -> None:
    assert (judging(run).response or "").encode() == answer(run)


CHECKS = [
    check_nothing_is_completed_without_a_result,
    check_zero_means_completed,
    check_no_plain_fault_is_passed_over,
    check_every_text_is_one_printable_line,
    check_a_response_is_never_lost,
]


@pytest.mark.parametrize("check", CHECKS)
@given(run=runs())
def test_it_holds_for_every_run(check: Callable[[Judge, Evidence], None], run: Evidence) -> None:
    check(judge, run)


def without(rule: Rule) -> Judge:
    return partial(judge, rules=[other for other in RULES if other is not rule])


def moved(rule: Rule, before: Rule) -> Judge:
    rules = [other for other in RULES if other is not rule]
    rules.insert(rules.index(before), rule)
    return partial(judge, rules=rules)


def check_all(judging: Judge, run: Evidence) -> None:
    for check in CHECKS:
        check(judging, run)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_judge_without_one_of_the_rules_is_caught(rule: Rule) -> None:
    assert_caught(partial(check_all, without(rule)), runs())


@pytest.mark.parametrize(
    ("rule", "before"),
    [
        (reported_error, quota_stop),
        (crashed, quota_stop),
        (silent, cut_by_print_timeout),
        (too_short, refused_permission),
        (crashed, ended_by_prun),
        (too_short, silent),
    ],
    ids=lambda rule: rule.__name__,
)
def test_a_judge_with_two_rules_in_the_wrong_order_is_caught(rule: Rule, before: Rule) -> None:
    assert_caught(partial(check_all, moved(rule, before)), runs())
