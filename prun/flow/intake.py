"""From a command line and an environment to a request: every look that must come before anything starts."""

from __future__ import annotations

import codecs
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prun import __version__
from prun.core.arguments import mode_of
from prun.core.conversation_id import valid_conversation_id
from prun.core.document import response_path
from prun.core.errors import UsageError
from prun.core.plain import visible
from prun.core.records import decode_request
from prun.core.request import Request
from prun.core.routing import check_effort
from prun.core.timestamps import rfc3339
from prun.core.transcript import read
from prun.flow.conversing import check_over
from prun.system import process
from prun.system.agy import find_agy
from prun.system.creation import temporary_root
from prun.system.reading import Contents, Missing, is_directory, read_bounded, read_start
from prun.system.state_dir import StateDir, name_state_dir
from prun.system.writable import check_fresh, check_writable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prun.core.request import Arguments, Settings
    from prun.system.clock import Clock

PROMPT_LIMIT_BYTES = 64 * 1024 * 1024
ID_LIMIT_BYTES = 4096
REQUEST_LIMIT_BYTES = 1024 * 1024
INIT_LIMIT_BYTES = 1024 * 1024
TOKEN_BYTES = 8


@dataclass(frozen=True, slots=True)
class Intake:
    """A unit that may start: its request, its prompt, and where its state directory will be."""

    request: Request
    prompt: str
    state: StateDir


@dataclass(frozen=True, slots=True)
class Earlier:
    """The unit whose conversation goes on: the conversation's id, and its scratch if that is still there."""

    conversation_id: str
    scratch: str | None


def take_in(asked: Arguments, settings: Settings, env: Mapping[str, str], cwd: Path, clock: Clock) -> Intake:
    """Return the unit that *asked* and *settings* describe, looked at from the caller's directory *cwd*.

    Nothing is started and nothing left behind, save the result's directory and a scratch that was named.
    Raises ``UsageError`` or ``MissingProgramError``.
    """
    began, began_s = clock.utc(), clock.monotonic()
    mode = mode_of(asked, settings)
    check_effort(settings.model, settings.effort)
    prompt = read_prompt(cwd / asked.prompt_file)
    add_dirs = tuple(_directory(cwd, path) for path in asked.add_dirs)
    earlier = None if asked.continue_from is None else read_earlier(cwd, asked.continue_from)
    agy = find_agy(settings.agy, env, cwd)
    result = _absolute(cwd, asked.result_file)
    check_fresh(Path(result))
    check_writable(Path(result), [Path(response_path(result)).name])
    root = _state_root(cwd, settings, env)
    state = name_state_dir(root, str(cwd), asked.unit, os.getpid(), secrets.token_hex(TOKEN_BYTES))
    work_dir, made = _work_dir(cwd, settings, earlier, state)
    request = Request(
        unit=asked.unit,
        attempt=1,
        batch=None,
        prompt_file=_absolute(cwd, asked.prompt_file),
        result_file=result,
        mode=mode.value,
        work_dir=work_dir,
        work_dir_made=made,
        add_dirs=add_dirs,
        continued_id=None if earlier is None else earlier.conversation_id,
        agy=agy,
        model_asked=settings.model,
        effort_asked=settings.effort,
        timeout_s=settings.timeout_s,
        reap_idle_s=settings.reap_idle_s,
        reap_grace_s=settings.reap_grace_s,
        reap_leftovers=settings.reap_leftovers,
        min_result_bytes=settings.min_result_bytes,
        preflight=settings.preflight.value,
        preflight_timeout_s=settings.preflight_timeout_s,
        sandbox=settings.sandbox,
        session=settings.session.value,
        worker_token=secrets.token_hex(TOKEN_BYTES),
        started_at=rfc3339(began),
        started_monotonic_s=began_s,
        boot=process.this_machine().boot,
        versions={"prun": __version__, "python": sys.version.split(maxsplit=1)[0]},
    )
    return Intake(request, prompt, state)


def read_prompt(path: Path) -> str:
    """Return the prompt in the file *path*, without a leading BOM; ``UsageError`` where it can't be read."""
    shown = visible(str(path))
    found = read_bounded(path, PROMPT_LIMIT_BYTES)
    if not isinstance(found, Contents):
        raise UsageError(f"cannot read the prompt file {shown}: {found.describe()}; name a UTF-8 text file")
    try:
        return found.data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the prompt file {shown} is not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from error


def read_earlier(cwd: Path, named: str) -> Earlier:
    """Return what a follow-up of the unit in the state directory *named* needs, or raise ``UsageError``."""
    root = Path(_absolute(cwd, named))
    if not is_directory(root):
        raise UsageError(f"--continue-from {visible(str(root))}: no such directory; name a state directory")
    state = StateDir(root)
    found = read_bounded(state.conversation_id, ID_LIMIT_BYTES)
    if isinstance(found, Contents):
        conversation_id = valid_conversation_id(found.data, visible(str(state.conversation_id)))
    elif isinstance(found, Missing):
        conversation_id = _id_in_tail(state)
    else:
        raise UsageError(
            f"cannot read {visible(str(state.conversation_id))}: {found.describe()}; "
            "continue from another state directory"
        )
    check_over(state, conversation_id)
    return Earlier(conversation_id, _scratch(state))


def _id_in_tail(state: StateDir) -> str:
    conversation_id = read([read_start(state.tail, INIT_LIMIT_BYTES)]).conversation_id
    if conversation_id is None:
        raise UsageError(
            f"--continue-from {visible(str(state.root))}: no conversation id there, "
            "neither in conversation-id nor in tail; dispatch without --continue-from"
        )
    return valid_conversation_id(conversation_id.encode(), visible(str(state.tail)))


def _scratch(state: StateDir) -> str | None:
    found = read_bounded(state.request, REQUEST_LIMIT_BYTES)
    request = decode_request(found.data) if isinstance(found, Contents) else None
    reusable = request is not None and request.work_dir_made and is_directory(Path(request.work_dir))
    return request.work_dir if request is not None and reusable else None


def _work_dir(cwd: Path, settings: Settings, earlier: Earlier | None, state: StateDir) -> tuple[str, bool]:
    """Return the worker's directory and whether it is the dispatcher's own to make and to hand on."""
    if settings.scratch is not None:
        return _made(Path(_absolute(cwd, settings.scratch))), False
    if earlier is not None and earlier.scratch is not None:
        return earlier.scratch, True
    return str(state.work), True


def _made(scratch: Path) -> str:
    """Return the directory *scratch* that was named for the worker, made where it is missing."""
    try:
        scratch.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"PRUN_SCRATCH_CWD is {visible(str(scratch))}, which can't be made a directory: "
            f"{error.strerror or error}; name another, or unset it"
        ) from error
    return str(scratch)


def _state_root(cwd: Path, settings: Settings, env: Mapping[str, str]) -> Path:
    root = temporary_root(env) if settings.state_root is None else Path(_absolute(cwd, settings.state_root))
    if "\n" in str(root) or "\r" in str(root):
        raise UsageError(
            f"a state directory can't be in {visible(str(root))}: STATE-DIR has to fit on one line; "
            "set PRUN_STATE_ROOT to a path without a line break"
        )
    return root


def _directory(cwd: Path, named: str) -> str:
    path = _absolute(cwd, named)
    if not is_directory(Path(path)):
        raise UsageError(f"--add-dir {visible(path)} is not an existing directory; name one that is")
    return path


def _absolute(cwd: Path, named: str) -> str:
    """Return the path *named* from *cwd*, ``..`` folded where no link on the way gives it another meaning."""
    whole = str(cwd / named)
    folded = os.path.normpath(whole)
    same = ".." not in Path(whole).parts or os.path.realpath(whole) == os.path.realpath(folded)
    return folded if same else whole
