"""One unit's story, from a request to the outcome on disk."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from prun.core.agy_log import LogFindings
from prun.core.complaints import Complaints
from prun.core.ending import Ending, LaunchFailed, Unknown
from prun.core.errors import LaunchError, PrunError
from prun.core.families import contradicts
from prun.core.outcome import TreeState
from prun.core.supervision import Limits
from prun.core.transcript import Transcript
from prun.core.values import dataclass, field
from prun.flow.concluding import Conclusion, conclude
from prun.flow.conversing import give_back, take
from prun.flow.launching import launch
from prun.flow.preflight import Cleared, Refused, clear
from prun.flow.supervising import TERM_GRACE_S, Supervisor
from prun.flow.witness import Testimony
from prun.system.process import TreeEnd

if TYPE_CHECKING:
    from prun.core.outcome import Outcome
    from prun.core.records import Owner
    from prun.core.routing import Route
    from prun.flow.dispatching import Dispatch
    from prun.system.conversations import Lease
    from prun.system.process import Worker

NOTHING_SAID = Testimony(Transcript(), Complaints(), LogFindings())


def run_unit(dispatch: Dispatch, owner: Owner, lease: Lease | None) -> Outcome:
    """Return the outcome of the unit, after its tree was ended, its result published and the outcome written.

    *lease* is the one of the conversation that is resumed. ``OSError`` where the outcome can't be written.
    """
    return conclude(dispatch, _settled(dispatch, _Talk(dispatch, owner, [] if lease is None else [lease])))


@dataclass(frozen=True, slots=True)
class _Talk:
    """The conversations that the unit is at: the one it resumes, and the one that its worker names."""

    dispatch: Dispatch
    owner: Owner
    leases: list[Lease] = field(default_factory=list)

    def named(self, conversation_id: str) -> None:
        state, clock = self.dispatch.state, self.dispatch.clock
        try:
            state.write_text(state.conversation_id, conversation_id, clock)
            if all(lease.conversation_id != conversation_id for lease in self.leases):
                self.leases.append(take(conversation_id, state, self.owner, clock))
        except (PrunError, OSError) as error:
            self.dispatch.note(f"conversation {conversation_id} is not on record: {error}")

    def end(self) -> None:
        for lease in self.leases:
            try:
                give_back(lease, self.dispatch.clock)
            except (PrunError, OSError) as error:
                self.dispatch.complain(f"conversation not given back: {error}")


def _settled(dispatch: Dispatch, talk: _Talk) -> Conclusion:
    """Return what came of the run, its conversations given back: who reads the outcome may go on at once."""
    found = _run(dispatch, talk)
    if found.tree is not TreeState.NOT_PROVED:
        talk.end()
    return found


def _run(dispatch: Dispatch, talk: _Talk) -> Conclusion:
    try:
        cleared = clear(dispatch)
    except OSError as error:
        return _unlaunched(LaunchFailed(f"the preflight can't be recorded: {error}"), "", None)
    if isinstance(cleared, Refused):
        return _unlaunched(cleared.ending, cleared.model, cleared.group)
    route = cleared.route
    if dispatch.stop_asked:
        return _unlaunched(dispatch.stopped(), route.model, _group(route))
    try:
        worker = launch(dispatch, route, cleared.version)
    except (LaunchError, OSError) as error:
        return _unlaunched(LaunchFailed(str(error)), route.model, _group(route))
    try:
        return _supervised(dispatch, talk, cleared, worker)
    except Exception as error:  # noqa: BLE001 - whatever went wrong in here, the unit gets its verdict
        dispatch.note(f"internal error, the worker was ended: {error!r}; please report it")
        return _abandoned(dispatch, route, worker)


def _unlaunched(ending: Ending, model: str, group: str | None) -> Conclusion:
    return Conclusion(ending, NOTHING_SAID, model=model, group=group)


def _abandoned(dispatch: Dispatch, route: Route, worker: Worker) -> Conclusion:
    """Return what can still be said of a worker whose supervision failed; its tail keeps what it did."""
    try:
        tree = worker.end(TERM_GRACE_S, dispatch.clock)
    except Exception:  # noqa: BLE001 - it may be what failed before
        tree = TreeEnd(None, TreeState.NOT_PROVED, survivors=(f"worker ({worker.identity.pid})",))
    return Conclusion(
        Unknown(),
        NOTHING_SAID,
        model=route.model,
        group=_group(route),
        tree=tree.state,
        leftovers=tree.leftovers or tree.survivors,
    )


def _group(route: Route) -> str | None:
    return None if route.group is None else route.group.value


def _supervised(dispatch: Dispatch, talk: _Talk, cleared: Cleared, worker: Worker) -> Conclusion:
    request, state, route = dispatch.request, dispatch.state, cleared.route
    limits = Limits(
        deadline_s=float(request.timeout_s + request.reap_grace_s),
        idle_s=float(request.reap_idle_s) if request.reap_idle_s else None,
    )
    supervisor = Supervisor(worker, state, dispatch.clock, dispatch.signals, talk.named)
    watched = supervisor.watch(limits, end_leftovers=request.reap_leftovers)
    said = watched.testimony.transcript.model
    contradicted = said if said is not None and contradicts(route.model, said) else None
    if contradicted is not None:
        with suppress(OSError):  # the outcome says it too
            state.write_text(state.model, contradicted, dispatch.clock)
    if watched.tree.survivors:
        dispatch.note(f"processes not proved gone: {', '.join(watched.tree.survivors)}")
    return Conclusion(
        watched.ending,
        watched.testimony,
        model=contradicted or route.model,
        group=_group(route),
        model_contradicted=contradicted,
        tree=watched.tree.state,
        leftovers=watched.tree.leftovers or watched.tree.survivors,
    )
