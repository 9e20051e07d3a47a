"""The two ways agy answers prompts: one from the command line, or a stream of them from stdin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fake_agy import commands, counts, schema, texts
from fake_agy.answering import answer, before
from fake_agy.clock import Dice
from fake_agy.emit import failed_early
from fake_agy.flags import FLAG_EXIT
from fake_agy.home import SetupError
from fake_agy.models import ModelError, choose
from fake_agy.platforms import stream_kind, terminal_reachable
from fake_agy.schema import SchemaError
from fake_agy.stream import Ignored, Message, Refused, lines, peek, read_line
from fake_agy.turns import Turn

if TYPE_CHECKING:
    from fake_agy.session import Choice, Session


def run_stream(session: Session) -> int:
    """Return the exit code after answering the user lines of stdin, each a turn of its own, to its end."""
    if session.options.output_format != "stream-json":
        session.complain(texts.STREAM_NEEDS_STREAM)
        return FLAG_EXIT
    if session.options.prompt and session.profile.stream_prompt_refused:
        session.complain(texts.STREAM_WITH_PROMPT)
        return FLAG_EXIT
    first = _first(session)
    refused = _prepare(session, first)
    if refused is not None:
        return refused
    session.show_init()
    code, choice = 0, None if first is None else first.choice
    for number, line in enumerate(lines(session.waiter, session.witness), start=1):
        match _read(session, line, number):
            case Message(text=text):
                code = answer(Turn(session, text, choice or chosen(session, text)))
                choice = None
            case Ignored(warning=warning):
                if warning:
                    session.stderr(warning)
            case Refused(text=text, exit_code=exit_code):
                session.complain(text)
                return exit_code
    return code


def run_print(session: Session) -> int:
    """Return the exit code after answering one prompt, from ``-p`` or else all of stdin."""
    options = session.options
    prompt = options.prompt
    if options.interactive is not None or (prompt is None and stream_kind(0) == "tty"):
        raise SetupError("interactive mode is not simulated; give a prompt with -p or on stdin")
    if prompt is None:
        data = b"\n".join(lines(session.waiter, session.witness))
        prompt = data.decode("utf-8", "replace")
    if not prompt.strip():
        session.complain(texts.EMPTY_PROMPT)
        return 1
    if prompt.startswith("/") and not options.disable_slash_commands:
        return commands.slash(session, prompt)
    turn = Turn(session, prompt, chosen(session, prompt))
    refused = _prepare(session, turn)
    if refused is not None:
        return refused
    session.show_init()
    return answer(turn)


def chosen(session: Session, prompt: str) -> Choice:
    """Return the scenario for a known *prompt*."""
    choice = session.choose(prompt)
    if choice is None:
        raise AssertionError("a known prompt always has a choice")
    return choice


def _first(session: Session) -> Turn | None:
    """Return the turn of the first message, where stdin is a file that can be looked into before ``init``.

    Where it can't, a script whose first rule needs no prompt still decides; its turn has an empty prompt.
    """
    line = peek()
    message = None if line is None else _read(session, line, 1)
    prompt = message.text if isinstance(message, Message) else None
    choice = session.choose(prompt)
    return None if choice is None else Turn(session, prompt or "", choice)


def _read(session: Session, line: bytes, number: int) -> Message | Ignored | Refused:
    slash = not session.options.disable_slash_commands
    return read_line(line, number, session.profile, slash_commands=slash)


def _prepare(session: Session, first: Turn | None) -> int | None:
    """Make the session ready for ``init``; an exit code where it never comes to that."""
    options, profile = session.options, session.profile
    session.log.line(texts.AUTH_NOISE, where="auth.go:52")
    session.log.line(
        f"Print mode: starting (promptLength={len(first.prompt) if first else 0},"
        f' model="{options.model or ""}", conversationID="{options.conversation or ""}")',
        where="printmode.go:79",
    )
    if not session.account.signed_in:
        return commands.refuse_unauthenticated(session, reachable=terminal_reachable())
    try:
        session.model = choose(profile, session.account.models, options.model, options.effort)
        if options.json_schema is not None:
            schema.check(options.json_schema, root_object=profile.schema_root_object)
    except (ModelError, SchemaError) as error:
        session.emitter.result(failed_early(error.text))
        session.complain(error.text)
        return 1
    if options.mode not in {None, "default", "accept-edits", "plan"}:
        session.stderr(texts.UNKNOWN_MODE.format(mode=options.mode))
    if options.mode == "plan" and options.disable_slash_commands:
        session.stderr(texts.PLAN_WITHOUT_SLASH)
    if first is not None:
        before(first)
    session.open_conversation(_dice(session) if first is None else first.dice)
    return None


def _dice(session: Session) -> Dice:
    """Return the numbers of a process that must show ``init`` before it knows any prompt."""
    nth = counts.tick(session.home, "unread")
    return Dice(session.account.seed, session.profile.version, "unread", nth)
