"""From a route to a running worker: what it is given is on disk before its program starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prun.core.command import needs_file, user_event, worker_argv
from prun.core.identity import HoldKind
from prun.core.plain import utf8
from prun.core.records import Worker as WorkerRecord
from prun.core.records import encode_worker
from prun.core.relay import relay
from prun.core.request import Mode
from prun.system import process
from prun.system.files import replace, write_new
from prun.system.state_dir import make_private_dir

if TYPE_CHECKING:
    from prun.core.listing import Version
    from prun.core.routing import Route
    from prun.flow.dispatching import Dispatch


@dataclass(frozen=True, slots=True)
class Given:
    """What the worker will be given besides its command line's constants: the directories added for it."""

    add_dirs: tuple[str, ...]


def hand_over(dispatch: Dispatch) -> Given:
    """Write relay and stdin event, and the prompt into a file where it is too large for agy to read whole."""
    request, state = dispatch.request, dispatch.state
    text = relay(request.unit, request.result_file, dispatch.prompt, None)
    event, add_dirs = user_event(text), request.add_dirs
    if needs_file(event):
        make_private_dir(state.prompt_dir)
        write_new(state.prompt_document, utf8(dispatch.prompt), durable=False)
        text = relay(request.unit, request.result_file, dispatch.prompt, str(state.prompt_document))
        event, add_dirs = user_event(text), (*add_dirs, str(state.prompt_dir))
    write_new(state.prompt_relay, utf8(text), durable=False)
    write_new(state.prompt_event, event, durable=False)
    return Given(add_dirs)


def launch(dispatch: Dispatch, route: Route, version: Version | None) -> process.Worker:
    """Return the running worker; where it can't be had ``LaunchError`` or ``OSError``, and then none runs."""
    request, state, clock = dispatch.request, dispatch.state, dispatch.clock
    given = hand_over(dispatch)
    if dispatch.withheld:
        state.write_text(state.env_withheld, "\n".join(dispatch.withheld), clock)
    if request.work_dir == str(state.work):
        state.make_work_dir()
    argv = worker_argv(
        request.agy,
        model=route.model,
        effort=route.effort,
        mode=Mode(request.mode),
        timeout_s=request.timeout_s,
        sandbox=request.sandbox,
        add_dirs=given.add_dirs,
        conversation_id=request.continued_id,
        log_file=str(state.log),
        version=version,
    )
    if str(state.log) in argv:
        # Made by agy it would be as open as the umask lets it.
        write_new(state.log, b"", durable=False)
    held = process.launch(
        process.Launch(
            argv=tuple(argv),
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
