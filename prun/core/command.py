"""The worker's command line, environment and standard input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prun.core.families import Group, group_of
from prun.core.request import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prun.core.listing import Version
    from prun.core.scrub import Scrubbed

LOG_FILE_SINCE: Version = (1, 1, 1)
EVENT_CHARACTERS = 150_000


def worker_argv(
    program: str,
    *,
    model: str,
    effort: str | None,
    mode: Mode,
    timeout_s: int,
    sandbox: bool,
    add_dirs: Sequence[str],
    conversation_id: str | None,
    log_file: str,
    version: Version | None,
) -> list[str]:
    """Return the command line of a worker; the prompt is never in it.

    *effort* is left out for a model that is no Gemini, *log_file* where *version* is not known to take it.
    """
    argv = [program, "--input-format", "stream-json", "--output-format", "stream-json", "--model", model]
    if effort is not None and group_of(model) is Group.GEMINI:
        argv += ["--effort", effort]
    argv += ["--mode", mode.value, "--print-timeout", f"{timeout_s}s"]
    if sandbox:
        argv.append("--sandbox")
    if mode is Mode.ACCEPT_EDITS:
        argv.append("--dangerously-skip-permissions")
    for directory in add_dirs:
        argv += ["--add-dir", directory]
    if conversation_id is not None:
        argv += ["--conversation", conversation_id]
    if version is not None and version >= LOG_FILE_SINCE:
        argv += ["--log-file", log_file]
    return argv


def child_env(scrubbed: Scrubbed, worker_token: str) -> dict[str, str]:
    """Return the environment of a child of the unit whose token (16 hex digits) is *worker_token*."""
    # agy takes the word "true" for an answer, and no other.
    unset = {"AGY_CLI_DISABLE_AUTO_UPDATE": "true", "NO_COLOR": "1"}
    return {**unset, **scrubbed.env, "PRUN_UNIT": worker_token}


def user_event(text: str) -> bytes:
    """Return the one line of standard input that gives the worker *text*, a line feed at its end."""
    line = json.dumps(
        {"event": "user", "message": {"content": text}}, ensure_ascii=False, separators=(",", ":")
    )
    # A lone surrogate (a path that is no UTF-8) becomes JSON's own escape of it.
    return line.encode("utf-8", "backslashreplace") + b"\n"


def needs_file(event: bytes) -> bool:
    """Return whether *event* is too long for agy to read whole, so that its prompt has to go into a file.

    agy cuts a message near 191,000 characters, and says nothing of it.
    """
    return len(event.decode().removesuffix("\n")) > EVENT_CHARACTERS
