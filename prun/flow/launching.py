"""From a route to a running worker: what it is given is on disk before its program starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.command import needs_file, user_event, worker_argv
from prun.core.identity import HoldKind
from prun.core.plain import utf8
from prun.core.records import Worker as WorkerRecord
from prun.core.records import encode_worker
from prun.core.relay import relay
from prun.core.request import Mode
from prun.system import process
from prun.system.files import publish_new, replace
from prun.system.state_dir import make_private_dir

if TYPE_CHECKING:
    from pathlib import Path

    from prun.core.listing import Version
    from prun.core.routing import Route
    from prun.flow.dispatching import Dispatch


def hand_over(dispatch: Dispatch) -> tuple[str, ...]:
    """Write what the worker gets to read and return the directories that it may use.

    A prompt too large for agy to read whole goes into a file in a directory of its own.
    """
    request, state = dispatch.request, dispatch.state
    text = relay(request.unit, request.result_file, dispatch.prompt, None)
    event, add_dirs = user_event(text), request.add_dirs
    if needs_file(event):
        make_private_dir(state.prompt_dir)
        _write(dispatch, state.prompt_document, utf8(dispatch.prompt))
        text = relay(request.unit, request.result_file, dispatch.prompt, str(state.prompt_document))
        event, add_dirs = user_event(text), (*add_dirs, str(state.prompt_dir))
    _write(dispatch, state.prompt_relay, utf8(text))
    _write(dispatch, state.prompt_event, event)
    if dispatch.withheld:
        state.write_text(state.env_withheld, "\n".join(dispatch.withheld), dispatch.clock)
    if request.work_dir == str(state.work):
        state.make_work_dir()
    return add_dirs


def launch(dispatch: Dispatch, route: Route, version: Version | None) -> process.Worker:
    """Return the running worker; where it can't be had ``LaunchError`` or ``OSError``, and then none runs."""
    request, state, clock = dispatch.request, dispatch.state, dispatch.clock
    argv = _argv(dispatch, route, version, hand_over(dispatch))
    if str(state.log) in argv:
        # Made by agy it would be as open as the umask lets it.
        _write(dispatch, state.log, b"")
    held = process.launch(
        process.Launch(
            argv=argv,
            env=dispatch.child_env,
            cwd=request.work_dir,
            stdin=str(state.prompt_event),
            stdout=str(state.tail),
            stderr=str(state.stderr),
            session=HoldKind(request.session),
            token=request.worker_token,
        )
    )
    try:
        state.write_text(state.worker_pid, str(held.identity.pid), clock)
        replace(state.worker, encode_worker(WorkerRecord(held.identity, held.held, request.agy)), clock)
    except BaseException:
        held.abandon()
        raise
    return held.start()


def _argv(
    dispatch: Dispatch, route: Route, version: Version | None, add_dirs: tuple[str, ...]
) -> tuple[str, ...]:
    request = dispatch.request
    return tuple(
        worker_argv(
            request.agy,
            model=route.model,
            effort=route.effort,
            mode=Mode(request.mode),
            timeout_s=request.timeout_s,
            sandbox=request.sandbox,
            add_dirs=add_dirs,
            conversation_id=request.continued_id,
            log_file=str(dispatch.state.log),
            version=version,
        )
    )


def _write(dispatch: Dispatch, path: Path, data: bytes) -> None:
    # Not flushed: after a power loss the worker that was to read it is gone as well.
    publish_new(path, data, dispatch.clock, durable=False)
