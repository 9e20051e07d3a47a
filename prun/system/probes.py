"""Asking agy for its version and its models."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from prun.core.blank import is_blank
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prun.system.clock import Clock
    from prun.system.programs import Ran

PRINTED_LIMIT_BYTES = 64 * 1024
_ANSWER_LIMIT_BYTES = 128 * 1024
_QUESTIONS = ("--version", "models")


@dataclass(frozen=True, slots=True)
class Facts:
    """What agy said: the text of its version and of its models, and all that the probes printed.

    *kept* tells of an answer that was there before anybody asked for it now.
    """

    version: str
    models: str
    printed: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class ProbeFailed:
    """Why agy could not be asked; *printed* is what the probes printed all the same."""

    reason: str
    timed_out: bool
    printed: str


def probe(agy: str, env: Mapping[str, str], cwd: Path, timeout_s: float, clock: Clock) -> Facts | ProbeFailed:
    """Return what the program *agy* says of itself; each of the two questions has *timeout_s*.

    *env* is the environment that the worker will get, no more.
    """
    from prun.system.programs import Finished, run_program

    printed = b""
    answers = []
    for question in _QUESTIONS:
        ran = run_program([agy, question], env, cwd, timeout_s, clock)
        printed += f"$ agy {question}\n".encode() + _printed(ran)
        if not isinstance(ran, Finished) or ran.code != 0:
            return ProbeFailed(*_failure(question, ran, timeout_s), _end_of(printed))
        answers.append(ran)
    version, models = answers
    told = version.stderr if is_blank(version.stdout) else version.stdout
    return Facts(_answer(told), _answer(models.stdout), _end_of(printed))


def _failure(question: str, ran: Ran, timeout_s: float) -> tuple[str, bool]:
    from prun.system.programs import CutShort, Finished, NotStarted

    match ran:
        case Finished(code):
            ended = f"exited with code {code}" if code >= 0 else f"was killed by signal {-code}"
            return f"`agy {question}` {ended} (see preflight-tail); run it by hand and sign in", False
        case CutShort(timed_out=True):
            return f"`agy {question}` did not answer within {timeout_s:g} s", True
        case CutShort():
            return f"`agy {question}` printed without end", False
        case NotStarted(reason):
            return f"{reason}; set ANTIGRAVITY_BIN to an agy that this system can run", False
    assert_never(ran)


def _printed(ran: Ran) -> bytes:
    from prun.system.programs import NotStarted

    if isinstance(ran, NotStarted):
        return b""
    both = b"".join(_ended(data) for data in (ran.stdout, ran.stderr))
    return both[-PRINTED_LIMIT_BYTES:]


def _ended(data: bytes) -> bytes:
    return data if not data or data.endswith(b"\n") else data + b"\n"


def _answer(data: bytes) -> str:
    return data[:_ANSWER_LIMIT_BYTES].decode("utf-8", "replace")


def _end_of(printed: bytes) -> str:
    """Return the last of *printed* as text, at most so many bytes of UTF-8."""
    return printed.decode("utf-8", "replace").encode()[-PRINTED_LIMIT_BYTES:].decode("utf-8", "ignore")
