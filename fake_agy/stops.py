"""The steps that end a turn in a failure of the service: an empty quota, and the errors of a known kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fake_agy import failures, models, texts
from fake_agy.durations import format_duration
from fake_agy.emit import failed_early
from fake_agy.ends import PrintTimeoutError, ProgramEndError, TurnEndError
from fake_agy.home import SetupError
from fake_agy.platforms import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from fake_agy.steps import Error, Quota
    from fake_agy.turns import Turn

_LONGEST_PAUSE_S = 30.0
_RETRIED_S = 300.0


def quota(step: Quota, turn: Turn) -> None:
    """End the turn as this version ends one whose quota is empty: at once, or after retrying to the last."""
    session, profile = turn.session, turn.session.profile
    failure = failures.quota(profile, step.reset_s, partial=bool(turn.shown))
    response = turn.response if step.keep_response else ""
    if profile.quota_stop == "failed":
        turn.fail(failure, response)
        raise TurnEndError
    limit_s = session.options.print_timeout_s or profile.print_timeout_s or _RETRIED_S
    seconds = step.retry_s if step.retry_s >= 0 else limit_s
    _retry(failure, turn, seconds)
    turn.fail(failure, response)
    session.stderr(texts.PRINT_TIMEOUT_NOTICE.format(duration=format_duration(seconds)))
    raise TurnEndError


def error(step: Error, turn: Turn) -> None:
    """End the turn, or before it the process, in an error of a known kind or of the script's own words."""
    session, profile = turn.session, turn.session.profile
    if step.kind in _EARLY:
        text = _EARLY[step.kind](turn)
        session.emitter.result(failed_early(text))
        session.complain(text)
        raise ProgramEndError(1)
    if step.kind:
        if step.kind not in failures.KINDS:
            known = ", ".join((*_EARLY, *failures.KINDS))
            raise SetupError(f"error: unknown kind {step.kind!r}; known are {known}")
        failure = failures.of_kind(profile, step.kind, _asked(turn))
        if step.kind == "auth_revoked" and profile.rejection_signs_out and session.home is not None:
            replace(session.home.signed_out, b"the server rejected the sign-in\n")
    else:
        failure = failures.Failure(step.text, 1, step.text)
    if step.exit >= 0:
        failure = failure._replace(exit_code=step.exit)
    turn.fail(failure, turn.response)
    raise TurnEndError


def _retry(failure: failures.Failure, turn: Turn, seconds: float) -> None:
    """Let *seconds* pass while the log tells of one failed attempt after another."""
    short = failure.api[0] if failure.api else failure.error
    pause, passed, attempt = 1.0, 0.0, 1
    while passed < seconds:
        told = format_duration(pause)
        turn.session.log.line(f"Run: attempt {attempt} failed ({short}), retrying in {told}")
        try:
            turn.session.waiter.sleep(min(pause, seconds - passed))
        except PrintTimeoutError:
            break
        passed, pause, attempt = passed + pause, min(pause * 2, _LONGEST_PAUSE_S), attempt + 1
    turn.watch.count(seconds)


def _asked(turn: Turn) -> str:
    return turn.session.options.model or turn.session.profile.default_model


def _unknown_model(turn: Turn) -> str:
    session = turn.session
    known = [slug for slug, _ in models.listing(session.profile, session.account.models)]
    return models.unknown_model(_asked(turn), session.options.effort, known)


def _conflict(turn: Turn) -> str:
    return models.conflict(_asked(turn), turn.session.options.effort or "medium")


_EARLY: dict[str, Callable[[Turn], str]] = {
    "auth_missing": lambda _turn: texts.AUTH_REQUIRED,
    "bad_model": _unknown_model,
    "effort_conflict": _conflict,
}
