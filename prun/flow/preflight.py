"""Before a launch: ask agy what it is and what it has, and decide which model runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.ending import Ending, NotLaunched
from prun.core.errors import PrunError
from prun.core.families import group_of
from prun.core.listing import read_models, read_version
from prun.core.plain import utf8
from prun.core.request import Preflight
from prun.core.routing import Route, Routing, Unroutable, choose, route
from prun.core.values import dataclass
from prun.system.files import replace
from prun.system.private import private_cache_dir
from prun.system.probes import Facts, ProbeFailed, probe

if TYPE_CHECKING:
    from datetime import datetime

    from prun.core.listing import Version
    from prun.core.request import Request
    from prun.flow.dispatching import Dispatch

PROBES = 2
LOCK_SLACK_S = 5.0


@dataclass(frozen=True, slots=True)
class Cleared:
    """The unit may be launched: on which route, and on which version of agy where that is known."""

    route: Route
    version: Version | None


@dataclass(frozen=True, slots=True)
class Refused:
    """The unit is not launched; *model* and *group* are those that it would have had."""

    ending: Ending
    model: str
    group: str | None


class _StopAskedError(Exception):
    """Ends a wait because the dispatcher was asked to stop."""


class _Attentive:
    """A clock whose sleep ends with an exception once the dispatcher is asked to stop."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch

    def monotonic(self) -> float:
        return self._dispatch.clock.monotonic()

    def utc(self) -> datetime:
        return self._dispatch.clock.utc()

    def sleep(self, seconds: float) -> None:
        if self._dispatch.stop_asked:
            raise _StopAskedError
        self._dispatch.clock.sleep(seconds)


def clear(dispatch: Dispatch) -> Cleared | Refused:
    """Return the route that the unit takes, or why it is not launched; model and notes are recorded."""
    request, state = dispatch.request, dispatch.state
    planned = route(request.model_asked, request.effort_asked, None)
    _record(dispatch, planned)
    if request.preflight == Preflight.OFF:
        return _decided(dispatch, planned, None)
    try:
        answer = _ask(dispatch, force=request.preflight == Preflight.FORCE)
        if isinstance(answer, Facts) and answer.kept and isinstance(_routed(request, answer), Unroutable):
            # The account may have signed in, or got the model, since that answer was given.
            answer = _ask(dispatch, force=True)
    except _StopAskedError:
        return _refused(dispatch, dispatch.stopped())
    replace(state.preflight_tail, utf8(answer.printed), dispatch.clock, durable=False)
    if isinstance(answer, ProbeFailed):
        return _refused(dispatch, NotLaunched(answer.reason, timed_out=answer.timed_out))
    decided = _routed(request, answer)
    _record(dispatch, decided, planned.notes)
    return _decided(dispatch, decided, read_version(answer.version))


def _routed(request: Request, facts: Facts) -> Routing:
    return route(request.model_asked, request.effort_asked, read_models(facts.models))


def _decided(dispatch: Dispatch, decided: Routing, version: Version | None) -> Cleared | Refused:
    if isinstance(decided, Unroutable):
        return _refused(dispatch, NotLaunched(decided.reason))
    return Cleared(decided, version)


def _refused(dispatch: Dispatch, ending: Ending) -> Refused:
    choice = choose(dispatch.request.model_asked, dispatch.request.effort_asked)
    group = group_of(choice.model)
    return Refused(ending, choice.model, None if group is None else group.value)


def _record(dispatch: Dispatch, decided: Routing, told: tuple[str, ...] = ()) -> None:
    state, clock = dispatch.state, dispatch.clock
    if isinstance(decided, Route):
        state.write_text(state.model, decided.model, clock)
    if decided.notes:
        state.write_text(state.quota_note, "\n".join(decided.notes), clock)
    for note in decided.notes:
        if note not in told:
            dispatch.complain(note)


def _ask(dispatch: Dispatch, *, force: bool) -> Facts | ProbeFailed:
    request, state = dispatch.request, dispatch.state
    attentive = _Attentive(dispatch)
    timeout_s = float(request.preflight_timeout_s)

    def ask() -> Facts | ProbeFailed:
        return probe(request.agy, dispatch.child_env, state.root, timeout_s, attentive)

    from prun.system.facts import facts_of, subject_of

    try:
        subject = subject_of(request.agy, dispatch.env)
    except OSError as error:
        return ProbeFailed(f"{request.agy} is gone: {error.strerror or error}", timed_out=False, printed="")
    try:
        cache_dir = private_cache_dir()
    except PrunError as error:
        # Facts that can't be shared are asked for by each unit alone.
        dispatch.note(f"agy's facts are not shared between units: {error}")
        return ask()
    return facts_of(
        subject,
        ask,
        cache_dir,
        good=lambda facts: read_models(facts.models).readable,
        force=force,
        wait_s=PROBES * timeout_s + LOCK_SLACK_S,
        clock=attentive,
    )
