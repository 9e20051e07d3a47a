"""What agy answers without a turn: probes, slash commands, and a refusal to run without a sign-in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fake_agy import models, texts
from fake_agy.emit import failed_early
from fake_agy.flags import FLAG_EXIT, FlagError, usage
from fake_agy.home import SetupError
from fake_agy.platforms import pipe_at_end, stream_kind, write_text
from fake_agy.usage import COMMANDS, usage_data, usage_result

if TYPE_CHECKING:
    from fake_agy.session import Session
    from fake_agy.witness import Witness

SUBCOMMANDS = frozenset(
    {
        *("agent", "agents", "changelog", "help", "install", "mcp", "mic-serve"),
        *("models", "plugin", "plugins", "remote-control", "update"),
    }
)
_PATIENCE_S = 0.2
_SIGN_IN_S = 30.0


def probe_stdin(witness: Witness) -> None:
    """Check that a probe was given no stdin that it might wait for."""
    kind = stream_kind(0)
    if kind == "tty" or (kind == "pipe" and not pipe_at_end(0, _PATIENCE_S)):
        witness.breach("open-stdin-on-probe", kind)


def subcommand(session: Session, name: str, words: list[str]) -> int:
    """Return the exit code of ``agy NAME``; SetupError for one that is not simulated."""
    probe_stdin(session.witness)
    if name == "help":
        write_text(1, usage())
        return 0
    if name != "models":
        raise SetupError(f"subcommand {name!r} is not simulated; only models and help are")
    if words:
        flag = FlagError(f"flags provided but not defined: -{words[0].lstrip('-').split('=')[0]}")
        write_text(2, f"{flag.text}\n{usage('agy models')}")
        return 1
    if not session.account.signed_in:
        session.complain(texts.AUTH_REQUIRED)
        return 1
    rows = models.listing(session.profile, session.account.models)
    session.stderr(texts.FETCHING)
    if session.options.output_format == "text":
        session.emitter.raw("".join(f"{slug}\t{label}\n" for slug, label in rows).encode())
        return 0
    data = {"models": [{"id": slug, "label": label} for slug, label in rows]}
    _answer(session, "models", data, {**usage_result("models", {"groups": []}), "response": json.dumps(data)})
    return 0


def slash(session: Session, prompt: str) -> int:
    """Return the exit code of a slash command in print mode: ``/usage`` and its like are answered."""
    command, _, rest = prompt.strip().partition(" ")
    probe_stdin(session.witness)
    if command not in COMMANDS:
        text = texts.SLASH_REFUSED if not rest else texts.SLASH_ARGUMENTS
        session.complain(text.format(command=command, rest=rest))
        return FLAG_EXIT
    if rest:
        session.complain(texts.SLASH_ARGUMENTS.format(command=command, rest=rest))
        return FLAG_EXIT
    if not session.account.signed_in:
        return refuse_unauthenticated(session, reachable=False)
    name = "usage" if command == "/usage" else command[1:]
    data = usage_data(session.account, session.home, session.clock.now())
    _answer(session, name, data, usage_result(name, data))
    return 0


def refuse_unauthenticated(session: Session, *, reachable: bool) -> int:
    """Return the exit code of a run without a sign-in: at once, or after asking a person in vain."""
    if reachable:
        for line in (texts.AUTH_URL_PROMPT, texts.AUTH_URL, texts.AUTH_WAITING, texts.AUTH_PASTE):
            session.stderr(line)
        session.waiter.sleep(_SIGN_IN_S)
    text = texts.AUTH_GAVE_UP if reachable else texts.AUTH_REQUIRED
    if session.emitter.format != "text":
        session.emitter.result(failed_early(text))
    session.complain(text)
    return 1


def _answer(session: Session, name: str, data: dict[str, Any], payload: dict[str, Any]) -> None:
    if session.emitter.streams:
        session.emitter.command_result(name, data)
    payload["command"] = {"name": name, "data": data}
    session.emitter.result(payload)
