"""Making a unit's state directory, which appears with everything that it begins with."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.errors import PrunError, UsageError
from prun.core.plain import visible
from prun.core.values import dataclass
from prun.system.files import write_new
from prun.system.placing import patiently, sync_directory
from prun.system.reading import is_directory
from prun.system.slot import allocate
from prun.system.state_dir import StateDir, make_private_dir, text_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prun.system.clock import Clock

_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENFILE, errno.EMFILE})


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a state directory holds from its first moment; *request* and *owner* are encoded records."""

    started_epoch_s: int
    result_file: str
    pid: int
    interpreter: str
    request: bytes
    owner: bytes


def temporary_root(env: Mapping[str, str]) -> Path:
    """Return the system's temporary directory, as ``tempfile`` finds it, mostly without loading that."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        if env.get(name) and _is_usable(Path(env[name])):
            return Path(env[name])
    if sys.platform != "win32" and _is_usable(Path("/tmp")):  # noqa: S108 - the directory itself
        return Path("/tmp")  # noqa: S108
    from tempfile import gettempdir

    return Path(gettempdir())


def _is_usable(directory: Path) -> bool:
    return directory.is_absolute() and is_directory(directory) and os.access(directory, os.W_OK | os.X_OK)


def create_state_dir(state: StateDir, beginning: Beginning, clock: Clock) -> bool:
    """Make *state* as *beginning* says and return whether its outcome slot is promised its room.

    It is filled under a name that no reader looks for and appears complete, by one rename: a dispatcher
    killed in here leaves no state directory without an owner. Flushed to the disk are the two records that
    others judge by and both directories; the small texts only repeat the request, the slot is still empty.
    Raises ``UsageError`` where the state root is no place for it, ``PrunError`` where the disk refuses.
    """
    root = state.root.parent
    staging = root / f".prun-new-{os.urandom(8).hex()}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        try:
            make_private_dir(staging)
            promised = _fill(StateDir(staging), beginning)
            patiently(partial(_appear, staging, state.root), clock)
        except BaseException:
            _remove(staging)
            raise
    except OSError as error:
        raise _refusal(root, error) from error
    sync_directory(root)
    return promised


def _fill(state: StateDir, beginning: Beginning) -> bool:
    texts = {
        state.timestamp: str(beginning.started_epoch_s),
        state.pre_mtime: "0",
        state.result_file: beginning.result_file,
        state.dispatch_pid: str(beginning.pid),
        state.python_interpreter: beginning.interpreter,
    }
    for path, value in texts.items():
        write_new(path, text_line(value), durable=False)
    promised = allocate(state.outcome_slot)
    write_new(state.request, beginning.request)
    write_new(state.owner(1), beginning.owner)
    sync_directory(state.root)
    return promised


def _appear(staging: Path, root: Path) -> None:
    if os.path.lexists(root):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(root))
    staging.rename(root)


def _remove(staging: Path) -> None:
    with suppress(OSError):
        for path in staging.iterdir():
            path.unlink()
        staging.rmdir()


def _refusal(root: Path, error: OSError) -> PrunError:
    cannot = f"cannot make a state directory in {visible(str(root))}: {error.strerror or error}"
    if error.errno in _DISK:
        return PrunError(f"{cannot}; make room on the disk that holds it, or set PRUN_STATE_ROOT to another")
    return UsageError(f"{cannot}; set PRUN_STATE_ROOT to a directory that you can write to")
