"""One live dispatch a conversation and a result path: leases taken, and given back when that is safe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.identity import Life
from prun.core.records import decode_owner, decode_worker
from prun.system import process
from prun.system.leases import Lease, claim, in_use, release
from prun.system.private import private_state_dir
from prun.system.reading import Contents, Missing, is_directory, read_bounded
from prun.system.state_dir import StateDir

if TYPE_CHECKING:
    from prun.core.records import Owner
    from prun.system.clock import Clock

WAIT_S = 10.0
RECORD_LIMIT_BYTES = 64 * 1024


def conversation(conversation_id: str) -> str:
    """Return the subject of the lease of *conversation_id*."""
    return f"conversation {conversation_id}"


def result(path: str) -> str:
    """Return the subject of the lease of the result *path*, the same for every way to write that path."""
    parent, name = os.path.split(path)
    return f"result {os.path.normcase(Path(os.path.realpath(parent), name))}"


def take(subject: str, state: StateDir, owner: Owner, clock: Clock) -> Lease:
    """Return the lease of *subject* for the unit in *state*; ``InUseError`` where another has it.

    Another ``PrunError`` where it can't be had for a reason of the system's.
    """
    lease = Lease(subject, str(state.root), owner)
    claim(private_state_dir(), lease, _is_free, WAIT_S, clock)
    return lease


def give_back(lease: Lease, clock: Clock) -> None:
    """End *lease*, so that whoever comes next need not look whether its owner lives."""
    release(private_state_dir(), lease, clock)


def check_over(state: StateDir, conversation_id: str) -> None:
    """Raise ``InUseError`` where the unit in *state* may still be at the conversation that began there.

    It may be at it without a lease: its dispatcher can have died before it heard of the conversation.
    """
    if os.path.lexists(state.outcome):  # its lease, if it kept one, tells the rest
        return
    found = read_bounded(_last_owner(state), RECORD_LIMIT_BYTES)
    if isinstance(found, Missing):  # no unit of prun's, or not all of it: nothing is known to run
        return
    owner = decode_owner(found.data) if isinstance(found, Contents) else None
    if owner is None or not _is_over(state, owner):
        raise in_use(conversation(conversation_id), str(state.root))


def _last_owner(state: StateDir) -> Path:
    number = 1
    while os.path.lexists(state.owner(number + 1)):
        number += 1
    return state.owner(number)


def _is_free(lease: Lease) -> bool:
    state = StateDir(Path(lease.state_dir))
    if is_directory(state.root):
        return _is_over(state, lease.owner)
    # Who the worker was went with the directory: only another boot proves that it is dead too.
    there, here = lease.owner.identity.machine, process.this_machine()
    rebooted = there.host == here.host and None not in {there.boot, here.boot} and there.boot != here.boot
    return rebooted and process.life_of(lease.owner.identity) is Life.DEAD


def _is_over(state: StateDir, owner: Owner) -> bool:
    """Return whether the unit's *owner* and its worker are proved dead."""
    if process.life_of(owner.identity) is not Life.DEAD:
        return False
    found = read_bounded(state.worker, RECORD_LIMIT_BYTES)
    if isinstance(found, Missing):
        # Its owner died before there was a worker.
        return True
    worker = decode_worker(found.data) if isinstance(found, Contents) else None
    return worker is not None and process.life_of(worker.identity) is Life.DEAD
