"""The rules of the verdict, in their order: each finds one kind of fault, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from prun.core.ending import Exited, LaunchFailed, NotLaunched, Reaped, ReapReason, Signalled, Unknown
from prun.core.evidence import Case
from prun.core.outcome import Kind
from prun.core.plain import one_line
from prun.core.values import dataclass

_ERROR_LIMIT = 500
_NAMES_SHOWN = 8
_TOO_SHORT = "Agy returned an implausibly short final response"
_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 15: "SIGTERM"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The kind of a fault and its reason, in a sentence without its full stop."""

    kind: Kind
    reason: str


Rule: TypeAlias = Callable[[Case], Finding | None]


def ended_by_prun(case: Case) -> Finding | None:
    """Find that the dispatcher ended the worker before it was done."""
    match case.ending:
        case Reaped(ReapReason.INTERRUPTED, signal=number):
            name = "a signal" if number is None else _SIGNALS.get(number, f"signal {number}")
            return Finding(Kind.INTERRUPTED, f"prun was interrupted by {name} and ended Agy")
        case Reaped(ReapReason.CANCELLED, after_s):
            return Finding(Kind.CANCELLED, f"a cancel request ended Agy after {after_s:.0f} s")
        case Reaped(ReapReason.STALLED, after_s):
            return Finding(Kind.STALLED, f"stalled: Agy stopped printing and was ended after {after_s:.0f} s")
        case Reaped(ReapReason.DEADLINE, after_s):
            return Finding(Kind.TIMEOUT, f"hard-timeout: Agy still ran after {after_s:.0f} s and was ended")
        case _:
            return None


def cut_by_print_timeout(case: Case) -> Finding | None:
    """Find that agy's own time was up: the answer, if any, stops in the middle."""
    if isinstance(case.ending, NotLaunched | LaunchFailed | Reaped):
        return None
    notice = case.evidence.stderr.print_timeout if case.succeeded else None
    if notice is None and case.cause is not None and case.cause.kind is Kind.TIMEOUT:
        notice = case.cause.text
    return None if notice is None else Finding(Kind.TIMEOUT, f"Agy was cut by its print timeout: {notice}")


def not_started(case: Case) -> Finding | None:
    """Find that no worker ran."""
    match case.ending:
        case NotLaunched(reason, blocked=True):
            return Finding(Kind.QUOTA, reason)
        case NotLaunched(reason):
            return Finding(Kind.PREFLIGHT, reason)
        case LaunchFailed(reason):
            return Finding(Kind.LAUNCH, f"Agy could not be started: {reason}")
        case Exited() | Signalled() | Reaped() | Unknown():
            return None
        case _:
            assert_never(case.ending)


def quota_stop(case: Case) -> Finding | None:
    """Find that a quota was used up."""
    if isinstance(case.ending, Reaped) and case.ending.why is ReapReason.QUOTA:
        said = "" if case.cause is None else f": {case.cause.text}"
        return Finding(Kind.QUOTA, f"Agy was ended at a quota stop{said}")
    return _of_cause(case, Kind.QUOTA)


def sign_in(case: Case) -> Finding | None:
    """Find that the account may not be used as it is."""
    return _of_cause(case, Kind.AUTH)


def no_capacity(case: Case) -> Finding | None:
    """Find that the back end had no room just then."""
    return _of_cause(case, Kind.CAPACITY)


def no_network(case: Case) -> Finding | None:
    """Find that the back end could not be reached."""
    return _of_cause(case, Kind.NETWORK)


def other_conversation(case: Case) -> Finding | None:
    """Find that agy started a new conversation in place of the one to continue."""
    asked, seen = case.evidence.continued_id, case.evidence.transcript.conversation_id
    if asked is None or seen == asked or (seen is None and not case.evidence.stderr.conversation_not_found):
        return None
    found = "no conversation" if seen is None else f"conversation {one_line(seen, 100)}"
    return Finding(Kind.RESUME_MISMATCH, f"Agy ran {found} instead of {asked}, the one to continue")


def refused_permission(case: Case) -> Finding | None:
    """Find that agy was refused something and gave no usable answer."""
    if not case.denied or case.usable:
        return None
    names = ", ".join(case.denied[:_NAMES_SHOWN])
    return Finding(Kind.DENIED, f"Agy was denied {names} and gave no usable response")


def crashed(case: Case) -> Finding | None:
    """Find that the worker did not exit with 0, where nothing tells why."""
    told = not case.succeeded or (case.cause is not None and case.cause.kind is Kind.ERROR)
    if not case.died or told:
        return None
    error = case.evidence.stderr.error
    return Finding(Kind.CRASHED, _how_it_ended(case) if error is None else f"{_how_it_ended(case)}; {error}")


def reported_error(case: Case) -> Finding | None:
    """Find that agy says itself that it failed."""
    if not case.succeeded:
        return Finding(Kind.ERROR, _how_it_ended(case))
    return _of_cause(case, Kind.ERROR)


def silent(case: Case) -> Finding | None:
    """Find that there is no result."""
    seen, ending = case.evidence.transcript.result_seen, case.ending
    # An exit nobody saw may have been a crash half-way through a file: only a result event proves an end.
    missing = not seen and (isinstance(ending, Unknown) or not case.evidence.worker_wrote_result)
    return Finding(Kind.SILENT, _how_it_ended(case)) if missing or not case.answered else None


def too_short(case: Case) -> Finding | None:
    """Find that the answer is under the floor."""
    if case.usable:
        return None
    return Finding(Kind.SHORT, _TOO_SHORT)


RULES: tuple[Rule, ...] = (
    ended_by_prun,
    cut_by_print_timeout,
    not_started,
    quota_stop,
    sign_in,
    no_capacity,
    no_network,
    other_conversation,
    refused_permission,
    crashed,
    reported_error,
    silent,
    too_short,
)


def how_it_died(case: Case) -> str | None:
    """Return how the worker came to its end where that was no clean exit, else ``None``."""
    match case.ending:
        case Exited(code) if code != 0:
            return f"Agy exited with code {code}"
        case Signalled(number):
            return f"Agy was killed by signal {number}"
        case _:
            return None


def _of_cause(case: Case, kind: Kind) -> Finding | None:
    if case.cause is None or case.cause.kind is not kind:
        return None
    how = _how_it_ended(case)
    return Finding(kind, how if case.cause.text in how else f"{how}; {case.cause.text}")


def _how_it_ended(case: Case) -> str:
    if not case.succeeded:
        error = one_line(case.evidence.transcript.error or "", _ERROR_LIMIT)
        return f"Agy reported status {case.status}" + (f": {error}" if error else "")
    died = how_it_died(case)
    if died is not None:
        return died
    if case.response is not None and not case.usable:
        return _TOO_SHORT
    unknown = isinstance(case.ending, Unknown)
    how = "Agy ended, nobody saw how," if unknown else "Agy exited 0"
    torn = "; its stream is truncated" if case.evidence.transcript.torn else ""
    return f"{how} without a final result response{torn}"
