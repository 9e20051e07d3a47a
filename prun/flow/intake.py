"""From a command line and an environment to a request: every look that must come before anything starts."""

from __future__ import annotations

import codecs
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prun import __version__
from prun.core.arguments import mode_of
from prun.core.document import response_path
from prun.core.errors import UsageError
from prun.core.plain import visible
from prun.core.request import Request
from prun.core.routing import check_effort
from prun.core.timestamps import rfc3339
from prun.core.values import dataclass
from prun.flow.earlier import read_earlier
from prun.flow.places import absolute, directory_to_add, result_file, scratch_named, state_root
from prun.system import process
from prun.system.agy import find_agy
from prun.system.reading import Contents, read_bounded
from prun.system.state_dir import StateDir, name_state_dir
from prun.system.writable import check_fresh, check_writable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from prun.core.request import Arguments, Mode, Settings
    from prun.flow.earlier import Earlier
    from prun.system.clock import Clock

PROMPT_LIMIT_BYTES = 64 * 1024 * 1024
TOKEN_BYTES = 8


@dataclass(frozen=True, slots=True)
class Intake:
    """A unit that may start: its request, its prompt, and where its state directory will be."""

    request: Request
    prompt: str
    state: StateDir


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look at the caller's world adds to what was asked; paths absolute."""

    began: datetime
    began_s: float
    mode: Mode
    prompt_file: str
    result: str
    add_dirs: tuple[str, ...]
    earlier: Earlier | None
    agy: str
    work_dir: str
    work_dir_made: bool


def take_in(asked: Arguments, settings: Settings, env: Mapping[str, str], cwd: Path, clock: Clock) -> Intake:
    """Return the unit that *asked* and *settings* describe, looked at from the caller's directory *cwd*.

    Nothing is started and nothing left behind, save the result's directory and a scratch that was named.
    Raises ``UsageError`` or ``MissingProgramError``.
    """
    began, began_s = clock.utc(), clock.monotonic()
    mode = mode_of(asked, settings)
    check_effort(settings.model, settings.effort)
    prompt = read_prompt(cwd / asked.prompt_file)
    add_dirs = tuple(directory_to_add(cwd, path) for path in asked.add_dirs)
    earlier = None
    if asked.continue_from is not None:
        earlier = read_earlier(Path(absolute(cwd, asked.continue_from)))
    agy = find_agy(settings.agy, env, cwd)
    result = result_file(cwd, asked.result_file)
    check_fresh(Path(result))
    check_writable(Path(result), [Path(response_path(result)).name])
    root = state_root(cwd, settings.state_root, env)
    state = name_state_dir(root, str(cwd), asked.unit, os.getpid(), secrets.token_hex(TOKEN_BYTES))
    work_dir, made = _work_dir(cwd, settings, earlier, state)
    found = _Found(
        began=began,
        began_s=began_s,
        mode=mode,
        prompt_file=absolute(cwd, asked.prompt_file),
        result=result,
        add_dirs=add_dirs,
        earlier=earlier,
        agy=agy,
        work_dir=work_dir,
        work_dir_made=made,
    )
    return Intake(_request(asked, settings, found), prompt, state)


def _request(asked: Arguments, settings: Settings, found: _Found) -> Request:
    return Request(
        unit=asked.unit,
        attempt=1,
        batch=None,
        prompt_file=found.prompt_file,
        result_file=found.result,
        mode=found.mode.value,
        work_dir=found.work_dir,
        work_dir_made=found.work_dir_made,
        add_dirs=found.add_dirs,
        continued_id=None if found.earlier is None else found.earlier.conversation_id,
        agy=found.agy,
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
        started_at=rfc3339(found.began),
        started_monotonic_s=found.began_s,
        boot=process.this_machine().boot,
        versions={"prun": __version__, "python": sys.version.split(maxsplit=1)[0]},
    )


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


def _work_dir(cwd: Path, settings: Settings, earlier: Earlier | None, state: StateDir) -> tuple[str, bool]:
    """Return the worker's directory and whether it is the dispatcher's own to make and to hand on."""
    if settings.scratch is not None:
        return scratch_named(cwd, settings.scratch), False
    if earlier is not None and earlier.scratch is not None:
        return earlier.scratch, True
    return str(state.work), True
