"""The outcome of a unit, put together from all that is known at its end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, assert_never

from prun.core.ending import Ending, Exited, LaunchFailed, NotLaunched, Reaped, Signalled, Unknown
from prun.core.outcome import Author, Outcome, TreeState
from prun.core.records import encode_outcome
from prun.core.timestamps import rfc3339
from prun.core.values import dataclass, replace

if TYPE_CHECKING:
    from datetime import datetime

    from prun.core.request import Request
    from prun.core.transcript import Transcript
    from prun.core.verdict import Judgement

SLOT_BYTES = 16 * 1024

_CUT = "cut: lists of this outcome were shortened to fit its file"


@dataclass(frozen=True, slots=True)
class Closing:
    """What only the flow knows at a unit's end.

    *model* is the one that ran; *response_path* where a response beside the result was kept; *leftovers*
    names the processes that outlived the worker or could not be proved gone.
    """

    ending: Ending
    model: str
    author: Author
    response_path: str | None
    tree: TreeState
    leftovers: tuple[str, ...]
    ended_at: datetime
    duration_s: float
    adopted: bool = False


def outcome_of(request: Request, judgement: Judgement, transcript: Transcript, closing: Closing) -> Outcome:
    """Return the outcome, short enough for the 16 KiB kept free for it; a list cut for that is said to be."""
    worker_exit, worker_signal = _how_the_worker_ended(closing.ending)
    duration_s = closing.duration_s if math.isfinite(closing.duration_s) else 0.0
    outcome = Outcome(
        unit=request.unit,
        attempt=request.attempt,
        verdict=judgement.verdict.value,
        kind=judgement.kind.value,
        reason=judgement.reason,
        exit_code=judgement.exit_code,
        result_path=request.result_file,
        result_author=closing.author.value,
        model=closing.model,
        tree=closing.tree.value,
        started_at=request.started_at,
        ended_at=rfc3339(closing.ended_at),
        duration_s=round(max(0.0, duration_s), 3),
        worker_exit=worker_exit,
        worker_signal=worker_signal,
        status=judgement.status,
        response_path=closing.response_path,
        conversation_id=transcript.conversation_id,
        model_asked=request.model_asked,
        usage=None if transcript.usage is None else dict(transcript.usage),
        num_turns=transcript.num_turns,
        denied_actions=transcript.denied_actions,
        warnings=judgement.warnings,
        quota=judgement.quota,
        leftovers=closing.leftovers,
        adopted=closing.adopted,
    )
    return _fitted(outcome)


def _how_the_worker_ended(ending: Ending) -> tuple[int | None, int | None]:
    match ending:
        case Exited(code):
            return code, None
        case Signalled(number):
            return None, number
        case Reaped(code=code, died_of=died_of):
            return code, died_of
        case NotLaunched() | LaunchFailed() | Unknown():
            return None, None
        case _:
            assert_never(ending)


def _fitted(outcome: Outcome) -> Outcome:
    if _fits(outcome):
        return outcome
    outcome = replace(outcome, warnings=(_CUT, *outcome.warnings))
    while outcome.leftovers and not _fits(outcome):
        outcome = replace(outcome, leftovers=outcome.leftovers[: len(outcome.leftovers) // 2])
    while outcome.denied_actions and not _fits(outcome):
        outcome = replace(outcome, denied_actions=outcome.denied_actions[: len(outcome.denied_actions) // 2])
    while len(outcome.warnings) > 1 and not _fits(outcome):
        outcome = replace(outcome, warnings=outcome.warnings[: len(outcome.warnings) // 2])
    return outcome if _fits(outcome) else replace(outcome, usage=None)


def _fits(outcome: Outcome) -> bool:
    return len(encode_outcome(outcome)) <= SLOT_BYTES
