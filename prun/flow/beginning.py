"""A unit's first moment: what it needs alone is reserved, and its state directory appears."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from prun import __version__
from prun.core.command import child_env
from prun.core.document import response_path
from prun.core.errors import PrunError, UsageError
from prun.core.records import Owner, encode_owner, encode_request
from prun.core.scrub import scrub
from prun.core.timestamps import parse_rfc3339
from prun.core.values import dataclass
from prun.flow.dispatching import Dispatch
from prun.flow.leasing import conversation, give_back, result, take
from prun.system import process
from prun.system.creation import Beginning, create_state_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prun.core.request import Request
    from prun.flow.intake import Intake
    from prun.system.clock import Clock
    from prun.system.leases import Lease
    from prun.system.signals import Signals
    from prun.system.state_dir import StateDir

NO_ROOM_KEPT = "the file system promises no room for the outcome: on a full disk it may be lost"


@dataclass(frozen=True, slots=True)
class Begun:
    """A unit on record: nothing of it runs yet."""

    dispatch: Dispatch
    owner: Owner
    leases: tuple[Lease, ...]


def begin(
    intake: Intake,
    keep_env: frozenset[str],
    env: Mapping[str, str],
    *,
    clock: Clock,
    signals: Signals,
    complain: Callable[[str], None],
) -> Begun:
    """Return the unit with its state directory on disk, or raise ``PrunError`` and leave nothing behind."""
    request, state = intake.request, intake.state
    owner = Owner(process.myself(), __version__)
    leases: list[Lease] = []
    try:
        unreserved = _reserve(request, state, owner, clock, leases)
        promised = create_state_dir(state, _beginning(request, owner, clock), clock)
    except BaseException:
        for lease in leases:
            give_back(lease, clock)
        raise
    process.become_subreaper()
    scrubbed = scrub(env, keep_env)
    dispatch = Dispatch(
        request=request,
        prompt=intake.prompt,
        state=state,
        env=env,
        child_env=child_env(scrubbed, request.worker_token),
        withheld=scrubbed.withheld,
        clock=clock,
        signals=signals,
        complain=complain,
    )
    for aside in unreserved if promised else [*unreserved, NO_ROOM_KEPT]:
        dispatch.note(aside)
    return Begun(dispatch, owner, tuple(leases))


def _beginning(request: Request, owner: Owner, clock: Clock) -> Beginning:
    began = parse_rfc3339(request.started_at) or clock.utc()
    return Beginning(
        started_epoch_s=int(began.timestamp()),
        result_file=request.result_file,
        pid=os.getpid(),
        interpreter=sys.executable,
        request=encode_request(request),
        owner=encode_owner(owner),
    )


def _reserve(request: Request, state: StateDir, owner: Owner, clock: Clock, taken: list[Lease]) -> list[str]:
    """Take the leases that the unit needs into *taken* and return what could not be reserved.

    Raises ``UsageError`` where another unit has one: two that write to one place would take each other's
    document for their worker's. A conversation must be reserved; a result where records can't be kept is not.
    """
    if request.continued_id is not None:
        try:
            taken.append(take(conversation(request.continued_id), state, owner, clock))
        except PrunError as error:
            # Nothing was started, and without its one lease nothing may be.
            raise UsageError(str(error)) from error
    try:
        for path in (request.result_file, response_path(request.result_file)):
            taken.append(take(result(path), state, owner, clock))  # noqa: PERF401 - each is on record at once
    except UsageError:
        raise
    except PrunError as error:
        return [f"the result path is not reserved: {error}"]
    return []
