"""Answers one prompt: performs what was chosen, and closes the turn however it ended."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fake_agy import meter, stops
from fake_agy.act import perform
from fake_agy.conversations import remember
from fake_agy.durations import format_duration
from fake_agy.ends import PrintTimeoutError, StoppedError, TurnEndError, TurnInterruptedError
from fake_agy.steps import Quota

if TYPE_CHECKING:
    from fake_agy.session import Session
    from fake_agy.turns import Turn


def answer(turn: Turn) -> int:
    """Return the exit code that *turn* leads to, after showing all of it."""
    session = turn.session
    conversation = session.conversation
    session.witness.note(
        "turn",
        scenario=turn.choice.scenario.name,
        nth=turn.choice.nth,
        conversation=conversation.id,
        prompt_sha256=hashlib.sha256(turn.prompt.encode("utf-8", "replace")).hexdigest(),
        prompt_chars=len(turn.prompt),
    )
    limit_s = print_timeout_s(session)
    session.waiter.limit(limit_s)
    try:
        _play(turn)
    except TurnEndError:
        pass
    except PrintTimeoutError:
        if not turn.result_shown:
            turn.cut(format_duration(limit_s or 0))
    except TurnInterruptedError:
        if not turn.result_shown:
            turn.interrupt()
        raise StoppedError from None
    finally:
        session.waiter.limit(None)
        conversation.duration_s += turn.watch.elapsed_s()
        conversation.save(session.home)
        remember(session.home, session.place.cwd, conversation.id)
    return turn.exit_code


def print_timeout_s(session: Session) -> float | None:
    """Return the print timeout in force, ``None`` for no limit; a zero given means none."""
    given = session.options.print_timeout_s
    return session.profile.print_timeout_s if given is None else (given or None)


def before(turn: Turn) -> None:
    """Perform what the scenario does before ``init`` is printed."""
    for step in turn.choice.scenario.before:
        perform(step, turn)


def _play(turn: Turn) -> None:
    session = turn.session
    turn.open()
    empty_for_s = meter.draw(
        session.home,
        session.account,
        gemini=session.model is None or session.model.gemini,
        now_s=session.clock.now(),
    )
    if empty_for_s is not None:
        stops.quota(Quota(reset_s=empty_for_s), turn)
    for step in turn.choice.scenario.steps:
        perform(step, turn)
    if not turn.result_shown:
        turn.finish()
