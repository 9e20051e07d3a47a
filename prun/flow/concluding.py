"""The end of a unit: judge it, put its document in place, and commit the outcome last."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.concluding import Closing, outcome_of
from prun.core.document import SHOWN_BYTES, fallback_document, response_path, result_document
from prun.core.evidence import Evidence
from prun.core.outcome import Author, TreeState
from prun.core.records import Publication, encode_outcome, encode_publication
from prun.core.values import dataclass, replace
from prun.core.verdict import Judgement, author_due, judge, unpublished
from prun.system.files import PRIVATE, SHARED, publish_new, publish_over_blank, set_aside
from prun.system.files import replace as replace_file
from prun.system.marks import Mark, mark_of
from prun.system.reading import Standing, read_end, standing
from prun.system.slot import commit_slot

if TYPE_CHECKING:
    from prun.core.ending import Ending
    from prun.core.outcome import Outcome, QuotaStop
    from prun.flow.dispatching import Dispatch
    from prun.flow.witness import Testimony

FOREIGN_TRIES = 3


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the earlier steps hand over to be judged; *tree* and *leftovers* tell of its processes.

    *result* is what stood at the result path before prun ended anything, ``None`` where nothing ran.
    """

    ending: Ending
    testimony: Testimony
    model: str
    group: str | None
    model_contradicted: str | None = None
    tree: TreeState = TreeState.GONE
    leftovers: tuple[str, ...] = ()
    blocked_by: QuotaStop | None = None
    result: Mark | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """What stands at the result path, and where a response beside it was kept."""

    judgement: Judgement
    author: Author
    response_path: str | None


def conclude(dispatch: Dispatch, found: Conclusion) -> Outcome:
    """Return the outcome of the unit, after its document and then ``outcome.json`` are in place."""
    request = dispatch.request
    now = mark_of(Path(request.result_file))
    before = now if found.result is None else found.result
    if now != before:
        dispatch.note(
            f"result file: it changed while processes were ended and may be incomplete: {now.standing}"
        )
    judgement = judge(
        Evidence(
            ending=found.ending,
            now=dispatch.clock.utc(),
            mode=request.mode,
            min_result_bytes=request.min_result_bytes,
            transcript=found.testimony.transcript,
            stderr=found.testimony.stderr,
            log=found.testimony.log,
            worker_wrote_result=before.standing is Standing.CONTENT,
            continued_id=request.continued_id,
            group=found.group,
            blocked_by=found.blocked_by,
            model_contradicted=found.model_contradicted,
        )
    )
    found = _without_response(found)
    wrote = now.standing is Standing.CONTENT
    published = _publish(dispatch, judgement, found.testimony, worker_wrote=wrote)
    return _committed(dispatch, found, published)


def _without_response(found: Conclusion) -> Conclusion:
    """Return *found* without the response, which the judgement has: it can be 16 MiB, and once is enough."""
    transcript = replace(found.testimony.transcript, response=None)
    return replace(found, testimony=replace(found.testimony, transcript=transcript))


def _committed(dispatch: Dispatch, found: Conclusion, published: Published) -> Outcome:
    """Return the outcome once it is on disk; what another put in its place is moved aside."""
    state, clock = dispatch.state, dispatch.clock
    for tries_left in reversed(range(FOREIGN_TRIES)):
        try:
            while os.path.lexists(state.outcome):
                aside = set_aside(state.outcome, state.foreign_outcome, clock)
                dispatch.note(f"foreign outcome: outcome.json was another's; it was moved to {aside.name}")
            outcome = _outcome(dispatch, found, published)
            commit_slot(state.outcome_slot, state.outcome, encode_outcome(outcome), clock)
        except (FileExistsError, FileNotFoundError):
            # Another came in between, or took it away: with leftovers let be, that can happen again.
            if not tries_left:
                raise
        else:
            return outcome
    raise AssertionError("the last try returns or raises")


def _outcome(dispatch: Dispatch, found: Conclusion, published: Published) -> Outcome:
    judgement = published.judgement
    return outcome_of(
        dispatch.request,
        replace(judgement, warnings=(*judgement.warnings, *dispatch.asides)),
        found.testimony.transcript,
        Closing(
            ending=found.ending,
            model=found.model,
            author=published.author,
            response_path=published.response_path,
            tree=found.tree,
            leftovers=found.leftovers,
            ended_at=dispatch.clock.utc(),
            duration_s=dispatch.clock.monotonic() - dispatch.request.started_monotonic_s,
        ),
    )


def _publish(
    dispatch: Dispatch, judgement: Judgement, testimony: Testimony, *, worker_wrote: bool
) -> Published:
    author = author_due(judgement, worker_wrote_result=worker_wrote)
    if author is Author.RESPONSE:
        return _publish_response(dispatch, judgement)
    kept = _kept(dispatch, judgement.response, _beside(dispatch), dispatch.state.response)
    if author is Author.WORKER:
        return Published(judgement, author, kept)
    document = fallback_document(
        dispatch.request.unit,
        judgement.reason,
        salvaged=testimony.transcript.salvaged,
        response_path=kept,
        tail_end=read_end(dispatch.state.tail, SHOWN_BYTES + 1),
        stderr_end=read_end(dispatch.state.stderr, SHOWN_BYTES + 1),
    )
    return _put(dispatch, judgement, author, document, kept)


def _publish_response(dispatch: Dispatch, judgement: Judgement) -> Published:
    response = judgement.response or ""
    published = _put(dispatch, judgement, Author.RESPONSE, result_document(response), None)
    beside, in_state = _beside(dispatch), dispatch.state.response
    match published.author:
        case Author.WORKER:
            return replace(published, response_path=_kept(dispatch, response, beside, in_state))
        case Author.NONE:
            return replace(published, response_path=_kept(dispatch, response, in_state, beside))
        case _:
            return published


def _put(
    dispatch: Dispatch, judgement: Judgement, author: Author, document: bytes, kept: str | None
) -> Published:
    path = Path(dispatch.request.result_file)
    _announce(dispatch, author, document)
    try:
        publish_over_blank(path, document, dispatch.clock, mode=SHARED)
    except FileExistsError:
        if standing(path) is Standing.CONTENT:
            # It came between the look and the publication, and it outranks prun's own.
            return Published(judgement, Author.WORKER, kept)
        reason = f"the result can't be put at {path}: what stands there is no readable file"
    except OSError as error:
        reason = f"the result can't be put at {path}: {error.strerror or error}"
    else:
        return Published(judgement, author, kept)
    dispatch.complain(reason)
    return Published(unpublished(judgement, reason), Author.NONE, kept)


def _announce(dispatch: Dispatch, author: Author, document: bytes) -> None:
    """Record what will stand at the result path; where that fails the result is published all the same."""
    record = Publication(author.value, hashlib.sha256(document).hexdigest(), len(document))
    path = dispatch.state.publication
    try:
        replace_file(path, encode_publication(record), dispatch.clock)
    except OSError as error:
        dispatch.note(f"{path.name} can't be written: {error.strerror or error}")


def _beside(dispatch: Dispatch) -> Path:
    return Path(response_path(dispatch.request.result_file))


def _kept(dispatch: Dispatch, response: str | None, *places: Path) -> str | None:
    """Return where *response* was kept, the first of *places* that could take it."""
    if response is None:
        return None
    for place in places:
        mode = PRIVATE if place == dispatch.state.response else SHARED
        try:
            publish_new(place, result_document(response), dispatch.clock, mode=mode)
        except OSError as error:
            dispatch.note(f"the response could not be kept at {place}: {error.strerror or error}")
        else:
            return str(place)
    dispatch.note(f"the response is in {dispatch.state.tail} only")
    return None
