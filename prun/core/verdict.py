"""The verdict on a unit: what its ending, stream, stderr, log and result file together prove.

Neither exit code nor text is believed alone. The first rule that finds a fault names the kind; a unit in
which no rule finds fault is completed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from prun.core.ending import Exited, NotLaunched, Reaped, ReapReason, Signalled, Unknown
from prun.core.evidence import Case, Evidence, case_of
from prun.core.exit_codes import ExitCode, of_signal, of_worker
from prun.core.outcome import Author, Kind, QuotaStop, Verdict
from prun.core.plain import one_line
from prun.core.request import Mode
from prun.core.rules import RULES, Finding, Rule, how_it_died
from prun.core.timestamps import later, rfc3339
from prun.core.values import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REASON_LIMIT = 1000
WARNING_LIMIT = 300

_DONE = Finding(Kind.OK, "Agy finished")
_EXIT_OF_SIGNAL = {1: ExitCode.HANGUP, 2: ExitCode.INTERRUPTED, 15: ExitCode.TERMINATED}
_SKIPS_PERMISSIONS = "always-proceed"
_WARNINGS_KEPT = 20
# A run cut short while agy retried against a quota stop: the stop is worth remembering all the same.
_CUT_SHORT = frozenset({Kind.INTERRUPTED, Kind.CANCELLED, Kind.STALLED, Kind.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is concluded of a run: *response* is stripped, and there even where the run failed.

    *status* is agy's own word as text; *quota* the stop that was met, if any.
    """

    verdict: Verdict
    kind: Kind
    reason: str
    exit_code: int
    status: str | None
    response: str | None
    warnings: tuple[str, ...]
    quota: QuotaStop | None

    @property
    def completed(self) -> bool:
        """Whether the unit is done."""
        return self.verdict is Verdict.COMPLETED


def judge(evidence: Evidence, rules: Sequence[Rule] = RULES) -> Judgement:
    """Return the verdict that *evidence* proves under *rules*, of which the first to find a fault decides."""
    case = case_of(evidence)
    finding = next((found for rule in rules if (found := rule(case)) is not None), _DONE)
    exit_code = _exit_code(finding.kind, case)
    return Judgement(
        verdict=_verdict(finding.kind, case),
        kind=finding.kind,
        reason=_reason(finding, case, exit_code),
        exit_code=exit_code,
        status=case.status,
        response=case.response,
        warnings=tuple(_warnings(case))[:_WARNINGS_KEPT],
        quota=_quota(finding, case),
    )


def unpublished(judgement: Judgement, reason: str) -> Judgement:
    """Return *judgement* after its document could not be put in place, *reason* telling why."""
    line = one_line(reason, REASON_LIMIT)
    if judgement.completed:
        code = int(ExitCode.FAILED)
        return replace(judgement, verdict=Verdict.FAILED, kind=Kind.PUBLISH, reason=line, exit_code=code)
    warning = one_line(f"not published: {line}", WARNING_LIMIT)
    return replace(judgement, warnings=(*judgement.warnings, warning))


def author_due(judgement: Judgement, *, worker_wrote_result: bool) -> Author:
    """Return whose document belongs at the result path; a worker's own file outranks prun's."""
    if worker_wrote_result:
        return Author.WORKER
    return Author.RESPONSE if judgement.completed else Author.FALLBACK


def _verdict(kind: Kind, case: Case) -> Verdict:
    match kind:
        case Kind.OK:
            return Verdict.COMPLETED
        case Kind.INTERRUPTED | Kind.CANCELLED:
            return Verdict.CANCELLED
        case Kind.QUOTA if isinstance(case.ending, NotLaunched):
            return Verdict.BLOCKED
        case _:
            return Verdict.FAILED


def _exit_code(kind: Kind, case: Case) -> int:
    match kind:
        case Kind.OK:
            return int(ExitCode.OK)
        case Kind.INTERRUPTED:
            number = case.ending.signal if isinstance(case.ending, Reaped) else None
            return int(_EXIT_OF_SIGNAL.get(number or 0, ExitCode.TERMINATED))
        case Kind.STALLED | Kind.TIMEOUT:
            return int(ExitCode.TIMEOUT)
        case Kind.PREFLIGHT:
            late = isinstance(case.ending, NotLaunched) and case.ending.timed_out
            return int(ExitCode.TIMEOUT if late else ExitCode.FAILED)
        case Kind.QUOTA if isinstance(case.ending, NotLaunched):
            return int(ExitCode.BLOCKED)
        case Kind.QUOTA | Kind.AUTH | Kind.CAPACITY | Kind.NETWORK | Kind.CRASHED | Kind.ERROR:
            return of_worker(_worker_status(case))
        case (
            Kind.CANCELLED
            | Kind.LAUNCH
            | Kind.RESUME_MISMATCH
            | Kind.DENIED
            | Kind.SILENT
            | Kind.SHORT
            | Kind.PUBLISH
        ):
            return int(ExitCode.FAILED)
        case _:
            assert_never(kind)


def _worker_status(case: Case) -> int:
    match case.ending:
        case Exited(code):
            return code
        case Signalled(number):
            return of_signal(number)
        case _:
            return int(ExitCode.FAILED)


def _reason(finding: Finding, case: Case, exit_code: int) -> str:
    died = how_it_died(case)
    hidden = died is not None and exit_code != _worker_status(case) and died not in finding.reason
    return one_line(f"{finding.reason}; {died}" if hidden else finding.reason, REASON_LIMIT)


def _quota(finding: Finding, case: Case) -> QuotaStop | None:
    evidence = case.evidence
    if finding.kind is Kind.QUOTA and isinstance(case.ending, NotLaunched):
        return evidence.blocked_by or QuotaStop(evidence.group, None, one_line(finding.reason, REASON_LIMIT))
    met = case.cause if finding.kind is Kind.QUOTA else None
    if met is None and (finding.kind in _CUT_SHORT or finding.kind is Kind.QUOTA):
        met = evidence.log.quota_stop
    if met is None:
        return None
    resets_at = None if met.reset_s is None else later(evidence.now, met.reset_s)
    return QuotaStop(evidence.group, None if resets_at is None else rfc3339(resets_at), met.text)


def _warnings(case: Case) -> Iterator[str]:
    evidence, transcript = case.evidence, case.evidence.transcript
    match evidence.ending:
        case Reaped(ReapReason.LINGERING, after_s):
            yield f"lingering: Agy did not exit after its result and was ended after {after_s:.0f} s"
        case Unknown():
            yield "exit unknown: nobody saw how Agy ended"
        case _:
            pass
    if case.usable:
        for name in case.denied:
            yield f"denied: {name}"
    if evidence.mode == Mode.PLAN and transcript.permission_mode == _SKIPS_PERMISSIONS:
        yield f"permissions: plan was asked for, but Agy ran with {_SKIPS_PERMISSIONS}"
    if evidence.model_contradicted is not None:
        text = f"model: Agy says it ran {evidence.model_contradicted}, not the model asked for"
        yield one_line(text, WARNING_LIMIT)
    if transcript.num_turns == 0 and case.answered:
        yield "no turns: Agy counts no turn for this response"
    if transcript.torn and case.answered:
        yield "truncated: the stream stops in the middle of a line"
