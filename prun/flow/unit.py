"""One unit's story, from a request to the outcome on disk."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.agy_log import LogFindings
from prun.core.complaints import Complaints
from prun.core.document import response_path
from prun.core.ending import Ending, LaunchFailed, Unknown
from prun.core.errors import LaunchError, PrunError
from prun.core.families import contradicts
from prun.core.outcome import TreeState
from prun.core.supervision import Limits
from prun.core.transcript import Transcript
from prun.core.values import dataclass
from prun.flow.concluding import Conclusion, conclude
from prun.flow.launching import launch
from prun.flow.leasing import conversation, give_back, result, take
from prun.flow.preflight import Cleared, Refused, clear
from prun.flow.supervising import TERM_GRACE_S, Supervisor
from prun.flow.witness import Testimony
from prun.system.process import TreeEnd

if TYPE_CHECKING:
    from prun.core.outcome import Outcome
    from prun.core.records import Owner
    from prun.core.routing import Route
    from prun.flow.dispatching import Dispatch
    from prun.system.leases import Lease
    from prun.system.process import Worker

NOTHING_SAID = Testimony(Transcript(), Complaints(), LogFindings())


def run_unit(dispatch: Dispatch, owner: Owner, leases: tuple[Lease, ...]) -> Outcome:
    """Return the outcome of the unit, after its tree was ended, its result published and the outcome written.

    *leases* are those of its result and of the conversation that it resumes. ``OSError`` where the outcome
    can't be written.
    """
    held = _Leases(dispatch, owner, list(leases))
    try:
        # Passed on without a name of its own: the answer in it can be 16 MiB, and is let go of in there.
        return conclude(dispatch, _settled(dispatch, held))
    finally:
        held.end()


def _settled(dispatch: Dispatch, held: _Leases) -> Conclusion:
    """Return what came of the run, its conversations given back: who reads the outcome may go on at once."""
    found = _run(dispatch, held)
    if found.tree is TreeState.NOT_PROVED:
        held.keep_all()
    held.end_conversations()
    return found


@dataclass(frozen=True, slots=True)
class _Leases:
    """What the unit has alone: its result's paths, and the conversations that it is at."""

    dispatch: Dispatch
    owner: Owner
    leases: list[Lease]

    def named(self, conversation_id: str) -> None:
        """Record the conversation that the worker names, and take its lease where the unit has it not yet."""
        state, clock = self.dispatch.state, self.dispatch.clock
        subject = conversation(conversation_id)
        try:
            state.write_text(state.conversation_id, conversation_id, clock)
            if all(lease.subject != subject for lease in self.leases):
                self.leases.append(take(subject, state, self.owner, clock))
        except (PrunError, OSError) as error:
            self.dispatch.note(f"{subject} is not on record: {error}")

    def keep_all(self) -> None:
        """Give nothing back: the worker may live, and whoever comes next has to look."""
        self.leases.clear()

    def end_conversations(self) -> None:
        """Give back all but the result's."""
        path = self.dispatch.request.result_file
        kept = {result(path), result(response_path(path))}
        self._give_back([lease for lease in self.leases if lease.subject not in kept])

    def end(self) -> None:
        """Give back all that is left."""
        self._give_back(list(self.leases))

    def _give_back(self, leases: list[Lease]) -> None:
        for lease in leases:
            self.leases.remove(lease)
            try:
                give_back(lease, self.dispatch.clock)
            except (PrunError, OSError) as error:
                self.dispatch.complain(f"lease not given back: {lease.subject}: {error}")


def _run(dispatch: Dispatch, held: _Leases) -> Conclusion:
    try:
        cleared = clear(dispatch)
    except Exception as error:  # noqa: BLE001 - whatever went wrong in here, the unit gets its verdict
        return _unlaunched(LaunchFailed(f"the preflight broke off: {error!r}"), "", None)
    if isinstance(cleared, Refused):
        return _unlaunched(cleared.ending, cleared.model, cleared.group)
    route = cleared.route
    if dispatch.stop_asked:
        return _unlaunched(dispatch.stopped(), route.model, _group(route))
    try:
        worker = launch(dispatch, route, cleared.version)
    except Exception as error:  # noqa: BLE001 - as above
        why = str(error) if isinstance(error, (LaunchError, OSError)) else repr(error)
        return _unlaunched(LaunchFailed(why), route.model, _group(route))
    try:
        return _supervised(dispatch, held, cleared, worker)
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


def _supervised(dispatch: Dispatch, held: _Leases, cleared: Cleared, worker: Worker) -> Conclusion:
    request, state, route = dispatch.request, dispatch.state, cleared.route
    limits = Limits(
        deadline_s=float(request.timeout_s + request.reap_grace_s),
        idle_s=float(request.reap_idle_s) if request.reap_idle_s else None,
    )
    supervisor = Supervisor(
        worker,
        state,
        Path(request.result_file),
        clock=dispatch.clock,
        signals=dispatch.signals,
        named=held.named,
    )
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
        result=watched.result,
    )
