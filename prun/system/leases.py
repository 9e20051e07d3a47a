"""What one live dispatch at a time may have: a conversation, a result path; it holds the lease of it.

A lease is a record in the user's private directory. A name that nothing has is claimed by exclusive
creation. A record that is there is changed by others only under a lock, and only when its owner is proved
dead; so a living owner may take its own away without one.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from prun.core.codec import Field, dump, load, read_fields, text
from prun.core.errors import PrunError, UsageError
from prun.core.plain import visible
from prun.core.records import Owner, decode_owner, encode_owner
from prun.core.values import dataclass
from prun.system.files import publish_new, replace
from prun.system.placing import patiently
from prun.system.reading import Contents, Missing, read_bounded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prun.system.clock import Clock
    from prun.system.reading import NotRegular, TooBig, Unreadable

_RECORD_LIMIT_BYTES = 64 * 1024
_FIELDS = {"subject": Field(text), "state_dir": Field(text)}


@dataclass(frozen=True, slots=True)
class Lease:
    """The unit in *state_dir*, owned by *owner*, has *subject*, for instance ``conversation <id>``."""

    subject: str
    state_dir: str
    owner: Owner


class InUseError(UsageError):
    """Another dispatch has the subject, or that can't be ruled out."""


def in_use(subject: str, state_dir: str) -> InUseError:
    """Return the error that the unit in *state_dir* has *subject*."""
    return InUseError(
        f"{visible(subject)} is in use by {visible(state_dir)}; wait until that unit has ended, "
        "or make a file `cancel` in there to end it"
    )


def claim(
    private_dir: Path, lease: Lease, is_free: Callable[[Lease], bool], wait_s: float, clock: Clock
) -> None:
    """Make *lease* the one lease of its subject, or raise ``InUseError``.

    *is_free* judges the lease in the way: true only on proof that its owner and worker are dead. A lease of
    the same unit passes to the new owner. Raises another ``PrunError`` where that can't be found out,
    ``LockTimeoutError`` after *wait_s* among them.
    """
    path = _record(private_dir, lease.subject)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not _created(path, lease, clock):
            from prun.system.locks import locked

            with locked(private_dir / "leases.lock", wait_s, clock):
                _take_over(path, lease, is_free, clock)
    except OSError as error:
        where, why = visible(str(path.parent)), error.strerror or error
        raise PrunError(f"cannot keep a lease in {where}: {why}; make that directory writable") from error


def _take_over(path: Path, lease: Lease, is_free: Callable[[Lease], bool], clock: Clock) -> None:
    """Put *lease* in the place of a free one; the caller holds the lock."""
    while not _created(path, lease, clock):
        held = _held(path)
        if isinstance(held, Missing) and not os.path.lexists(path):  # its owner took it away just now
            continue
        if not isinstance(held, Lease):
            raise _unreadable(path, lease)
        if held.state_dir != lease.state_dir and not is_free(held):
            raise in_use(lease.subject, held.state_dir)
        replace(path, _encoded(lease), clock)
        return


def release(private_dir: Path, lease: Lease, clock: Clock) -> None:
    """Give up *lease*, which this process owns; a lease that has another owner by now stays."""
    path = _record(private_dir, lease.subject)
    if _held(path) == lease:
        with suppress(OSError):  # what stays is free once this process is gone
            patiently(path.unlink, clock)


def _record(private_dir: Path, subject: str) -> Path:
    """Return the record's path: a subject is no file name."""
    name = hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return private_dir / "leases" / f"{name}.json"


def _created(path: Path, lease: Lease, clock: Clock) -> bool:
    try:
        publish_new(path, _encoded(lease), clock)
    except FileExistsError:
        return False
    return True


def _encoded(lease: Lease) -> bytes:
    owner = load(encode_owner(lease.owner)) or {}
    return dump({**owner, "subject": lease.subject, "state_dir": lease.state_dir})


def _held(path: Path) -> Lease | Missing | NotRegular | TooBig | Unreadable | None:
    found = read_bounded(path, _RECORD_LIMIT_BYTES)
    if not isinstance(found, Contents):
        return found
    owner = decode_owner(found.data)
    fields = read_fields(load(found.data) or {}, _FIELDS)
    if owner is None or fields is None:
        return None
    return Lease(fields["subject"], fields["state_dir"], owner)


def _unreadable(path: Path, lease: Lease) -> InUseError:
    return InUseError(
        f"{visible(lease.subject)} may be in use: its record {visible(str(path))} can't be read; "
        "remove that file if no dispatch has it"
    )
