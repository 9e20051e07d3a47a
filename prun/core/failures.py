"""What went wrong at the back end, read from the words agy has for it.

The words are agy's own error texts, as seen in 1.1 to 1.3; a model's answer is never given to this module.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from prun.core.durations import find_reset, find_retry
from prun.core.outcome import Kind
from prun.core.plain import one_line
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT_LIMIT = 500

_READ_LIMIT = 8 * 1024
_PER_MINUTE_AT_MOST_S = 300.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A named cause: one of timeout, quota, auth, capacity, network and error.

    *text* is agy's wording on one line; *reset_s* is how long a quota stop says it will last.
    """

    kind: Kind
    text: str
    reset_s: float | None = None


_PRINT_TIMEOUT = re.compile(r"timeout waiting for response\.?(?: \(response may be truncated\))?")
_QUOTA = (
    r"\bindividual quota\b",
    r"\bcredits? balance\b",
    r"\b(?:insufficient|no|not enough|out of|exhausted your) (?:\w+ )?credits\b",
    r"\boverages\b",
    r"\bQUOTA_EXHAUSTED\b",
    r"\bquotaResetDelay\b",
)
_REFUSED_SETTING = (
    r"\binvalid model selection\b",
    r"\bnot recognized as a known model\b",
    r"\bconflicts with --effort\b",
    r"--effort is not supported\b",
    r"\binvalid --effort\b",
    r"\brequires --effort\b",
    r'\bhas no "[^"]{0,40}" effort\b',
)
_AUTH = (
    r"\bauthentication (?:required|failed)\b",
    r"\bnot (?:authenticated|logged in(?:to antigravity)?|signed in)\b",
    r"\b(?:please|run '?agy'? to|need to|must) (?:log|sign) ?in\b",
    r"\bsign(?:ed)?[ -]in (?:again|required|expired|is required)\b",
    r"\bsigned out\b",
    r"\beligibility check failed\b",
    r"\b(?:not eligible|ineligible)\b",
    r"\bverify your account\b",
    r"\bterms[ -]of[ -]service\b",
    r"\btoken\b.{0,40}\b(?:revoked|rejected|expired|invalid)\b",
    r"\brevoked\b.{0,40}\btoken\b",
    r"\binvalid_grant\b",
    r"\bUNAUTHENTICATED\b",
    r"\b(?:code|http|status) 401\b",
    r"\bPERMISSION_DENIED \(code 403\)",
)
_REFUSED_PLACE = (r"\blocation is not supported\b", r"\bFAILED_PRECONDITION\b")
_NO_CAPACITY = (
    r"\bMODEL_CAPACITY_EXHAUSTED\b",
    r"\bno capacity available\b",
    r"\bper[ -]?(?:minute|second)\b",
)
_CAPACITY = (
    r"\bRESOURCE_EXHAUSTED\b",
    r"\b(?:code|http|status) (?:429|502|503|504)\b",
    r"\b(?:429 too many requests|503 service unavailable)\b",
    r"\bcheck quota\b",
    r"\btoo many requests\b",
    r"\brate[ -]limit",
    r"\b(?:service|server|model) is (?:currently |temporarily )?(?:unavailable|overloaded)\b",
    r"(?-i:\bUNAVAILABLE\b)",
)
_NETWORK = (
    r"\bnetwork (?:issue|error|failure|problem|is (?:unreachable|down))",
    r"\bconnection (?:error|failed|refused|reset|closed|aborted|lost|timed out)\b",
    r"\bconnect: ",
    r"\b(?:could not|couldn't|cannot|can't|failed to|unable to) (?:connect|reach|resolve)\b",
    r"\b(?:host is unreachable|no route to host|no such host)\b",
    r"\bname resolution\b",
    r"\bdns\b",
    r"\bdial (?:tcp|udp)\b",
    r"\bi/o timeout\b",
    r"\btls\b",
    r"\bx509\b",
    r"(?-i:\bEOF\b)",
    r"\bbroken pipe\b",
    r"\bECONN(?:REFUSED|RESET|ABORTED)\b",
    r"\b(?:ENOTFOUND|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|EAI_AGAIN)\b",
    r"\bstream\b.{0,40}\b(?:dropped|lost|closed|reset|interrupted|ended unexpectedly)\b",
    r"\bdropped\b.{0,20}\bstream\b",
)
_INTERRUPTED = re.compile(r"interrupted\.?", re.IGNORECASE | re.ASCII)


def failure_in(text: str) -> Failure | None:
    """Return the cause that one error *text* of agy's names, or ``None`` where it names none we know."""
    words = text[:_READ_LIMIT].strip()
    kind = _kind_in(words)
    if kind is None:
        return None
    reset_s = (find_reset(words) or find_retry(words)) if kind is Kind.QUOTA else None
    return Failure(kind, one_line(words, TEXT_LIMIT), reset_s)


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # Not before it is needed: most runs fail in no way, and compiling them all takes milliseconds.
    return re.compile("|".join(patterns), re.IGNORECASE | re.ASCII)


def _says(words: str, patterns: tuple[str, ...]) -> bool:
    return _any_of(patterns).search(words) is not None


def _kind_in(words: str) -> Kind | None:
    if _PRINT_TIMEOUT.fullmatch(words):
        return Kind.TIMEOUT
    if _INTERRUPTED.fullmatch(words) or _says(words, _REFUSED_SETTING):
        return Kind.ERROR
    if _says(words, _QUOTA):
        return Kind.QUOTA
    if _says(words, _AUTH):
        return Kind.AUTH
    if _says(words, _REFUSED_PLACE):
        return Kind.ERROR
    if _says(words, _NO_CAPACITY):
        return Kind.CAPACITY
    if find_reset(words) is not None or (find_retry(words) or 0.0) > _PER_MINUTE_AT_MOST_S:
        return Kind.QUOTA
    if _says(words, _CAPACITY):
        return Kind.CAPACITY
    return Kind.NETWORK if _says(words, _NETWORK) else None


def rank(kind: Kind) -> int:
    """Return the place of *kind* in the order of precedence, the first being 0."""
    return _RANKS[kind]


_RANKS = {kind: place for place, kind in enumerate(Kind)}


class LastOfEachKind:
    """The last failure of each kind: a bounded memory of any number of them."""

    __slots__ = ("_failures",)

    def __init__(self) -> None:
        self._failures: dict[Kind, Failure] = {}

    def add(self, failure: Failure) -> None:
        """Take *failure* in; a quota stop that names its reset is kept over one that does not."""
        known = self._failures.get(failure.kind)
        if known is not None and known.reset_s is not None and failure.reset_s is None:
            return
        self._failures[failure.kind] = failure

    def failures(self) -> tuple[Failure, ...]:
        """Return what is kept, in the order of precedence."""
        return tuple(sorted(self._failures.values(), key=lambda failure: rank(failure.kind)))


def classify(error: str | None, stderr: Iterable[Failure], log: Iterable[Failure]) -> Failure | None:
    """Return the cause of a run that failed, from the result's *error*, then stderr, then the log.

    Error and stderr are weighed together, the more telling kind winning: agy puts a credits line beside
    the payload of a plain 429. An error that names the caller's own mistake is believed at once. The log
    speaks only where those two are silent.
    """
    own = failure_in(error) if error is not None else None
    if own is not None and own.kind is Kind.ERROR:
        return own
    stated = ([own] if own is not None else []) + list(stderr)
    return _first(stated) or _first(log)


def _first(failures: Iterable[Failure]) -> Failure | None:
    return min(failures, key=lambda failure: (rank(failure.kind), failure.reset_s is None), default=None)
