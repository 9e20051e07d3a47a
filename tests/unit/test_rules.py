"""Each way a run can go gets its verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from prun.core.agy_log import LogFindings
from prun.core.complaints import Complaints
from prun.core.ending import Ending, Exited, LaunchFailed, NotLaunched, Reaped, ReapReason, Signalled, Unknown
from prun.core.outcome import Kind, Verdict
from prun.core.transcript import Transcript
from tests.support.runs import (
    ANSWER,
    BAD_MODEL,
    BUSY,
    CHECK_QUOTA,
    CONFLICT,
    CONVERSATION,
    CREDITS,
    CUT,
    DENIAL,
    DENIED,
    DONE,
    GOOD,
    NETWORK,
    NOT_FOUND,
    QUOTA,
    QUOTA_429,
    REVOKED,
    failed,
    init,
    judged,
    log,
    payload,
    refused,
    result,
    said,
    stderr,
    stream,
)

SILENT = "Agy exited 0 without a final result response"
SHORT = "Agy returned an implausibly short final response"


@dataclass(frozen=True)
class Row:
    name: str
    kind: Kind
    exit_code: int
    transcript: Transcript
    ending: Ending = DONE
    reason: str | None = None
    stderr: Complaints = field(default_factory=Complaints)
    log: LogFindings = field(default_factory=LogFindings)
    worker: bool = False
    continued: str | None = None
    verdict: Verdict = Verdict.FAILED


OK = Verdict.COMPLETED
ROWS = [
    Row("ok", Kind.OK, 0, GOOD, verdict=OK),
    Row("capacity_503_then_ok", Kind.OK, 0, GOOD, log=log(f"agent executor error: {BUSY}"), verdict=OK),
    Row("worker_writes_result", Kind.OK, 0, stream(init(), result("done")), worker=True, verdict=OK),
    Row("two_results", Kind.OK, 0, stream(init(), result("waiting for it"), result()), verdict=OK),
    Row("denied_with_answer", Kind.OK, 0, stream(init(), result(denied_actions=DENIED)), verdict=OK),
    Row("linger_after_result", Kind.OK, 0, GOOD, Reaped(ReapReason.LINGERING, 30.0, died_of=15), verdict=OK),
    Row("stderr noise", Kind.OK, 0, GOOD, stderr=stderr(f"error: {QUOTA}"), log=log(QUOTA_429), verdict=OK),
    Row(
        "words in the answer",
        Kind.OK,
        0,
        stream(init(), result(f"{QUOTA}\n{CUT}\nerror: {QUOTA}")),
        verdict=OK,
    ),
    Row("short", Kind.SHORT, 70, stream(init(), result("ok")), reason=SHORT),
    Row(
        "short, after a quota stop on stderr",
        Kind.QUOTA,
        70,
        stream(init(), result("I will look")),
        stderr=stderr(f"error: {QUOTA}", payload(QUOTA, "RESOURCE_EXHAUSTED", 429)),
        reason=f"{SHORT}; RESOURCE_EXHAUSTED (code 429): {QUOTA}",
    ),
    Row(
        "short, after a sign-in that failed",
        Kind.AUTH,
        70,
        stream(init(), result("Hm.")),
        stderr=stderr(f"error: {REVOKED}"),
        reason=f"{SHORT}; {REVOKED}",
    ),
    Row(
        "short, after a mistake that stderr tells of",
        Kind.ERROR,
        70,
        stream(init(), result("Hm.")),
        stderr=stderr(f"error: {CONFLICT}"),
        reason=f"{SHORT}; {CONFLICT}",
    ),
    Row(
        "short, after an attempt that was retried",
        Kind.SHORT,
        70,
        stream(init(), result("Hm.")),
        log=log(f"agent executor error: {BUSY}"),
        reason=SHORT,
    ),
    Row(
        "short beside a file, after a quota stop on stderr",
        Kind.OK,
        0,
        stream(init(), result("done")),
        stderr=stderr(f"error: {QUOTA}"),
        worker=True,
        verdict=OK,
    ),
    Row(
        "short and denied, after a quota stop on stderr",
        Kind.DENIED,
        70,
        stream(init(), result("no", denied_actions=DENIED)),
        stderr=stderr(f"error: {QUOTA}"),
        reason="Agy was denied command (RunCommand) and gave no usable response",
    ),
    Row("empty_success", Kind.SILENT, 70, stream(init(), result("")), reason=SILENT),
    Row("no_result", Kind.SILENT, 70, stream(init(), said("working")), reason=SILENT),
    Row("nothing at all", Kind.SILENT, 70, Transcript(), reason=SILENT),
    Row(
        "torn_last_line",
        Kind.SILENT,
        70,
        stream(init(), torn=b'{"event":"result","result":{"status":"SUCC'),
        reason=f"{SILENT}; its stream is truncated",
    ),
    Row("whole last line", Kind.OK, 0, stream(init(), torn=json.dumps(result()).encode()), verdict=OK),
    Row("blank_second_result", Kind.SILENT, 70, stream(init(), result(), result("")), reason=SILENT),
    Row("zero turns", Kind.SILENT, 70, stream(init(), result("", num_turns=0)), reason=SILENT),
    Row(
        "denied",
        Kind.DENIED,
        70,
        stream(init(), said("I will"), refused("run_command"), result("", denied_actions=DENIED)),
        reason="Agy was denied command (RunCommand), run_command and gave no usable response",
    ),
    Row(
        "denied, told on stderr only",
        Kind.DENIED,
        70,
        stream(init(), result("")),
        stderr=stderr(DENIAL),
        reason="Agy was denied command and gave no usable response",
    ),
    Row(
        "denied before 1.1.20",
        Kind.DENIED,
        70,
        stream(init(), refused("run_command"), result("", status="CANCELED")),
        Exited(1),
        reason="Agy was denied run_command and gave no usable response; Agy exited with code 1",
    ),
    Row(
        "denied amid stderr noise",
        Kind.DENIED,
        70,
        stream(init(), result("", denied_actions=DENIED)),
        stderr=stderr("Error: connect ECONNREFUSED 127.0.0.1:3000"),
    ),
    Row(
        "quota 1.2.2",
        Kind.QUOTA,
        70,
        stream(init(), failed(QUOTA_429)),
        stderr=stderr(CUT),
        reason=f"Agy reported status ERROR: {QUOTA_429}",
    ),
    Row(
        "quota 1.1.15",
        Kind.QUOTA,
        1,
        stream(init(), failed(QUOTA)),
        Exited(1),
        stderr=stderr(f"Error: {QUOTA}"),
    ),
    Row(
        "quota 1.3.5",
        Kind.QUOTA,
        3,
        stream(init(), failed(QUOTA_429)),
        Exited(3),
        stderr=stderr(f"error: {QUOTA}", payload(QUOTA, "RESOURCE_EXHAUSTED", 429)),
    ),
    Row(
        "quota to 1.1.0",
        Kind.QUOTA,
        70,
        Transcript(),
        log=log(f"agent executor error: {QUOTA_429}"),
        reason=f"{SILENT}; agent executor error: {QUOTA_429}",
    ),
    Row("quota after a partial answer", Kind.QUOTA, 3, stream(init(), failed(QUOTA_429, ANSWER)), Exited(3)),
    Row(
        "credits",
        Kind.QUOTA,
        3,
        stream(init(), failed(CHECK_QUOTA)),
        Exited(3),
        stderr=stderr(f"error: {CREDITS}", payload(CHECK_QUOTA, "RESOURCE_EXHAUSTED", 429)),
        reason=f"Agy reported status ERROR: {CHECK_QUOTA}; {CREDITS}",
    ),
    Row(
        "quota_retried_silently",
        Kind.QUOTA,
        70,
        stream(init()),
        Reaped(ReapReason.QUOTA, 1.5, died_of=15),
        log=log(f"Run: attempt 1 failed ({QUOTA_429}), retrying in 1s"),
        reason=f"Agy was ended at a quota stop: Run: attempt 1 failed ({QUOTA_429}), retrying in 1s",
    ),
    Row("per_minute_429", Kind.CAPACITY, 3, stream(init(), failed(CHECK_QUOTA)), Exited(3)),
    Row("capacity_503", Kind.CAPACITY, 3, stream(init(), failed(BUSY)), Exited(3)),
    Row("capacity, exit 0", Kind.CAPACITY, 70, stream(init(), failed(BUSY))),
    Row(
        "network",
        Kind.NETWORK,
        3,
        stream(init(), failed(NETWORK, "I was about to")),
        Exited(3),
        stderr=stderr(f"error: {NETWORK}", payload(NETWORK, "UNKNOWN", 2)),
    ),
    Row(
        "auth_missing",
        Kind.AUTH,
        1,
        Transcript(),
        Exited(1),
        stderr=stderr("Error: authentication required. Run 'agy' to log in, then retry."),
        reason="Agy exited with code 1; authentication required. Run 'agy' to log in, then retry.",
    ),
    Row("auth_revoked_midrun", Kind.AUTH, 1, stream(init(), failed(REVOKED)), Exited(1)),
    Row(
        "bad_model",
        Kind.ERROR,
        1,
        stream(failed(BAD_MODEL, conversation_id="")),
        Exited(1),
        reason=f"Agy reported status ERROR: {BAD_MODEL}",
    ),
    Row(
        "effort_conflict, no result event",
        Kind.ERROR,
        1,
        Transcript(),
        Exited(1),
        stderr=stderr(f"error: {CONFLICT}"),
        reason=f"Agy exited with code 1; {CONFLICT}",
    ),
    Row(
        "location",
        Kind.ERROR,
        3,
        stream(init(), failed("FAILED_PRECONDITION (code 400): User location is not supported")),
        Exited(3),
    ),
    Row("interrupted inside agy", Kind.ERROR, 1, stream(init(), failed("interrupted")), Exited(1)),
    Row(
        "a status without an error",
        Kind.ERROR,
        70,
        stream(init(), result("", status="CANCELED")),
        reason="Agy reported status CANCELED",
    ),
    Row(
        "a status of null",
        Kind.ERROR,
        70,
        stream(init(), result(status=None)),
        reason="Agy reported status null",
    ),
    Row("worker_writes_then_error", Kind.ERROR, 70, stream(init(), failed("oops")), worker=True),
    Row(
        "print_timeout",
        Kind.TIMEOUT,
        124,
        stream(init(), result(ANSWER)),
        stderr=stderr(CUT),
        reason=f"Agy was cut by its print timeout: {CUT}",
    ),
    Row("print_timeout, nothing streamed", Kind.TIMEOUT, 124, stream(init(), result("")), stderr=stderr(CUT)),
    Row("print_timeout with the worker's file", Kind.TIMEOUT, 124, GOOD, stderr=stderr(CUT), worker=True),
    Row(
        "print_timeout to 1.1.27",
        Kind.TIMEOUT,
        124,
        stream(init(), failed("timeout waiting for response")),
        Exited(1),
        reason="Agy was cut by its print timeout: timeout waiting for response; Agy exited with code 1",
    ),
    Row(
        "hang_after_init",
        Kind.TIMEOUT,
        124,
        stream(init()),
        Reaped(ReapReason.DEADLINE, 6.04, died_of=9),
        reason="hard-timeout: Agy still ran after 6 s and was ended",
    ),
    Row(
        "stalled",
        Kind.STALLED,
        124,
        stream(init()),
        Reaped(ReapReason.STALLED, 30.0),
        reason="stalled: Agy stopped printing and was ended after 30 s",
    ),
    Row(
        "crash", Kind.CRASHED, 9, stream(init(), said("working")), Exited(9), reason="Agy exited with code 9"
    ),
    Row(
        "crash with a last word",
        Kind.CRASHED,
        1,
        Transcript(),
        Exited(1),
        stderr=stderr("error: language server gone"),
        reason="Agy exited with code 1; language server gone",
    ),
    Row("result_then_exit_1", Kind.CRASHED, 1, GOOD, Exited(1), reason="Agy exited with code 1"),
    Row("recovered, then exit 1", Kind.CRASHED, 1, GOOD, Exited(1), log=log(f"agent executor error: {BUSY}")),
    Row("killed_by_signal", Kind.CRASHED, 137, GOOD, Signalled(9), reason="Agy was killed by signal 9"),
    Row(
        "killed, nothing said",
        Kind.CRASHED,
        137,
        Transcript(),
        Signalled(9),
        reason="Agy was killed by signal 9",
    ),
    Row("crash with the worker's file", Kind.CRASHED, 9, GOOD, Exited(9), worker=True),
    Row("an unknown flag", Kind.CRASHED, 70, Transcript(), Exited(2), reason="Agy exited with code 2"),
    Row(
        "resume_unknown_id",
        Kind.RESUME_MISMATCH,
        70,
        GOOD,
        stderr=stderr(NOT_FOUND),
        continued="c0ffee",
        reason=f"Agy ran conversation {CONVERSATION} instead of c0ffee, the one to continue",
    ),
    Row(
        "resume_unknown_id without an init",
        Kind.RESUME_MISMATCH,
        70,
        stream(result()),
        stderr=stderr(NOT_FOUND),
        continued="c0ffee",
        reason="Agy ran no conversation instead of c0ffee, the one to continue",
    ),
    Row("resumed", Kind.OK, 0, GOOD, continued=CONVERSATION, verdict=OK),
    Row(
        "no launch",
        Kind.PREFLIGHT,
        70,
        Transcript(),
        NotLaunched("agy models exited 1: sign in"),
        reason="agy models exited 1: sign in",
    ),
    Row(
        "no launch in time", Kind.PREFLIGHT, 124, Transcript(), NotLaunched("agy models hung", timed_out=True)
    ),
    Row(
        "blocked",
        Kind.QUOTA,
        75,
        Transcript(),
        NotLaunched("the gemini group is empty", blocked=True),
        verdict=Verdict.BLOCKED,
    ),
    Row(
        "no program",
        Kind.LAUNCH,
        70,
        Transcript(),
        LaunchFailed("exec format error"),
        reason="Agy could not be started: exec format error",
    ),
    Row(
        "cancelled",
        Kind.CANCELLED,
        70,
        GOOD,
        Reaped(ReapReason.CANCELLED, 3.0),
        verdict=Verdict.CANCELLED,
        reason="a cancel request ended Agy after 3 s",
    ),
    Row("adopted", Kind.OK, 0, GOOD, Unknown(), verdict=OK),
    Row(
        "adopted, no result",
        Kind.SILENT,
        70,
        stream(init()),
        Unknown(),
        reason="Agy ended, nobody saw how, without a final result response",
    ),
    Row("adopted, no result but a file", Kind.SILENT, 70, stream(init()), Unknown(), worker=True),
    Row(
        "adopted, short but a file",
        Kind.OK,
        0,
        stream(init(), result("done")),
        Unknown(),
        worker=True,
        verdict=OK,
    ),
    Row("adopted, failed", Kind.QUOTA, 70, stream(init(), failed(QUOTA_429)), Unknown()),
    Row("adopted, no result, quota", Kind.QUOTA, 70, stream(init()), Unknown(), log=log(QUOTA_429)),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_run_gets_its_verdict(row: Row) -> None:
    found = judged(
        row.transcript,
        row.ending,
        stderr=row.stderr,
        log=row.log,
        worker_wrote_result=row.worker,
        continued_id=row.continued,
    )
    assert (found.verdict, found.kind, found.exit_code) == (row.verdict, row.kind, row.exit_code)
    assert found.completed is (row.verdict is OK)
    if row.reason is not None:
        assert found.reason == row.reason
