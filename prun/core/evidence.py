"""What a judge is given of one run, and what it amounts to before any rule is applied."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prun.core.agy_log import LogFindings
from prun.core.blank import stripped
from prun.core.complaints import Complaints
from prun.core.ending import Ending, Exited, LaunchFailed, NotLaunched, Reaped, ReapReason, Signalled, Unknown
from prun.core.failures import Failure, classify
from prun.core.plain import one_line, utf8
from prun.core.transcript import Transcript
from prun.core.values import dataclass, field

if TYPE_CHECKING:
    from datetime import datetime

    from prun.core.outcome import QuotaStop

_STATUS_LIMIT = 60
_NAME_LIMIT = 80


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known of a run; where prun ended the worker, as it stood before its first signal.

    *worker_wrote_result* tells of a file at the result path that is not blank and not prun's own.
    *continued_id* is the conversation asked for, *group* the model's quota group, *blocked_by* the stop
    that kept the unit from being launched, *model_contradicted* the model that ``init`` names where it is
    of another family.
    """

    ending: Ending
    now: datetime
    mode: str
    min_result_bytes: int
    transcript: Transcript = field(default_factory=Transcript)
    stderr: Complaints = field(default_factory=Complaints)
    log: LogFindings = field(default_factory=LogFindings)
    worker_wrote_result: bool = False
    continued_id: str | None = None
    group: str | None = None
    blocked_by: QuotaStop | None = None
    model_contradicted: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """The evidence weighed: *ending* as it is judged, *status* as text, *response* stripped and never blank.

    *answered* means there is any result at all, *usable* one at or above the floor; *denied* names what
    agy refused to do; *cause* is the back end's failure, looked for only where the run did fail, or where
    its answer is not usable and nothing that was denied explains that.
    """

    evidence: Evidence
    ending: Ending
    status: str | None
    succeeded: bool
    response: str | None
    answered: bool
    usable: bool
    denied: tuple[str, ...]
    cause: Failure | None

    @property
    def died(self) -> bool:
        """Whether the worker exited non-zero or of a signal, by itself."""
        return _died(self.ending)


def case_of(evidence: Evidence) -> Case:
    """Return what *evidence* amounts to."""
    transcript = evidence.transcript
    ending = _as_judged(evidence.ending)
    response = stripped(transcript.response or "") or None
    answered = evidence.worker_wrote_result or response is not None
    enough = response is not None and _has_bytes(response, evidence.min_result_bytes)
    usable = evidence.worker_wrote_result or enough
    succeeded = not transcript.has_status or is_success(transcript.status)
    denied = _denied(evidence, answered=answered)
    return Case(
        evidence=evidence,
        ending=ending,
        status=_status_text(transcript.status) if transcript.has_status else None,
        succeeded=succeeded,
        response=response,
        answered=answered,
        usable=usable,
        denied=denied,
        cause=_cause(evidence, ending, succeeded=succeeded, explained=usable or bool(denied)),
    )


def _has_bytes(text: str, least: int) -> bool:
    # A character has one byte at least: a long text need not be encoded to be measured.
    return len(text) >= least or len(utf8(text)) >= least


def is_success(status: Any) -> bool:
    """Return whether agy's raw *status* value means success: blank or ``SUCCESS``, in any case."""
    return isinstance(status, str) and stripped(status).upper() in {"", "SUCCESS"}


def _as_judged(ending: Ending) -> Ending:
    # A complete result stood: that the process then lingered is a flaw, not a failure.
    return Exited(0) if isinstance(ending, Reaped) and ending.why is ReapReason.LINGERING else ending


def _died(ending: Ending) -> bool:
    return isinstance(ending, Signalled) or (isinstance(ending, Exited) and ending.code != 0)


def _status_text(status: Any) -> str:
    try:
        text = status if isinstance(status, str) else json.dumps(status)
    except (ValueError, RecursionError):  # a number of thousands of digits, a tower of brackets
        text = f"of type {type(status).__name__}"
    return one_line(text, _STATUS_LIMIT)


def _denied(evidence: Evidence, *, answered: bool) -> tuple[str, ...]:
    names = [_action_name(action) for action in evidence.transcript.denied_actions]
    names += [one_line(refused.tool, _NAME_LIMIT) for refused in evidence.transcript.refused_tools]
    if not names and not answered:
        names += evidence.stderr.denied
    return tuple(dict.fromkeys(name or "an action without a name" for name in names))


def _action_name(action: dict[str, str] | str) -> str:
    if isinstance(action, str):
        return one_line(action, _NAME_LIMIT)
    name, shown = action.get("action", ""), action.get("display_name", "")
    return one_line(f"{name} ({shown})" if name and shown else name or shown, _NAME_LIMIT)


def _cause(evidence: Evidence, ending: Ending, *, succeeded: bool, explained: bool) -> Failure | None:
    transcript = evidence.transcript
    match ending:
        case NotLaunched() | LaunchFailed():
            return None
        case Reaped():
            return evidence.log.quota_stop
        case Unknown() if not transcript.result_seen:
            pass
        case _ if succeeded and explained and not _died(ending):
            # What else was printed is noise: the run has its answer, or says itself why it has none.
            return None
        case _:
            pass
    error = None if transcript.has_status and succeeded else transcript.error
    # A log tells of every attempt; where an answer followed, the attempts before it prove nothing.
    recovered = succeeded and transcript.response is not None
    return classify(error, evidence.stderr.failures, () if recovered else evidence.log.failures)
