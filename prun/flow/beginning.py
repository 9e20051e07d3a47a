"""A unit's first moment: its conversation is reserved, its state directory appears with its owner in it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from prun import __version__
from prun.core.command import child_env
from prun.core.errors import PrunError, UsageError
from prun.core.records import Owner, encode_owner, encode_request
from prun.core.scrub import scrub
from prun.core.timestamps import parse_rfc3339
from prun.core.values import dataclass
from prun.flow.conversing import give_back, take
from prun.flow.dispatching import Dispatch
from prun.system import process
from prun.system.creation import Beginning, create_state_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prun.core.request import Request
    from prun.flow.intake import Intake
    from prun.system.clock import Clock
    from prun.system.conversations import Lease
    from prun.system.signals import Signals
    from prun.system.state_dir import StateDir

NO_ROOM_KEPT = "the file system promises no room for the outcome: on a full disk it may be lost"


@dataclass(frozen=True, slots=True)
class Begun:
    """A unit on record: nothing of it runs yet."""

    dispatch: Dispatch
    owner: Owner
    lease: Lease | None


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
    lease = None if request.continued_id is None else _reserved(request.continued_id, state, owner, clock)
    try:
        promised = create_state_dir(state, _beginning(request, owner, clock), clock)
    except BaseException:
        if lease is not None:
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
    if not promised:
        dispatch.note(NO_ROOM_KEPT)
    return Begun(dispatch, owner, lease)


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


def _reserved(conversation_id: str, state: StateDir, owner: Owner, clock: Clock) -> Lease:
    try:
        return take(conversation_id, state, owner, clock)
    except PrunError as error:
        # Nothing was started, and without its one lease nothing may be.
        raise UsageError(str(error)) from error
