"""What agy's own log says went wrong, read as it grows, in bounded memory.

Lines are told by their message: file names and line numbers drift between builds.
"""

from __future__ import annotations

import re

from prun.core.failures import TEXT_LIMIT, Failure, LastOfEachKind, failure_in
from prun.core.line_heads import LineHeads
from prun.core.outcome import Kind
from prun.core.plain import one_line, without_escapes
from prun.core.values import dataclass

_MAY_TELL = re.compile(
    rb"error|failed|quota|timed out|neligible|_EXHAUSTED|UNAVAILABLE|UNAUTHENTICATED|\(code "
)
_HEADER = re.compile(
    r"(?:ERROR: logging before google\.Init: )?"  # before 1.2.0
    r"[IWEF]\d{4} \d\d:\d\d:\d\d(?:\.\d+)?\s+\d+ [^\]\s]+\] ",
    re.ASCII,
)
# An error is stated, with at most plain words before it; in quotes, in a command or in JSON it is quoted.
_PLAIN_WORDS = r"[A-Za-z0-9 _.,:()-]{0,200}?"
_STATED_QUOTA = re.compile(
    rf"{_PLAIN_WORDS}(?:\bRESOURCE_EXHAUSTED\b|\bIndividual quota\b|\bAI credits balance\b)", re.ASCII
)
_STATED = re.compile(
    rf"{_PLAIN_WORDS}(?:\b[A-Z][A-Z_]{{3,40}} \(code \d{{1,5}}\)|\bIndividual quota\b|\bAI credits balance\b"
    r"|\bagent executor error: |\bPrint mode: SendUserMessage failed"
    r"|\bPrint mode: auth (?:timed out|error)|\bAccount ineligible\b)",
    re.ASCII,
)
_AUTH_ENDED = re.compile(r"Print mode: auth (?:timed out|error)|Account ineligible\b")
_RETRIED = re.compile(r"\bretrying in\b")
_LEADING = "\ufeff\r\x00"


@dataclass(frozen=True, slots=True)
class LogFindings:
    """What the log has said so far: causes, and the quota stop that was told of last.

    *quota_stops* counts the lines that show agy retrying against one: those that say so, and each after the
    first that tells of a stop. One line alone may be a subagent's, of whose end the work goes on.
    """

    failures: tuple[Failure, ...] = ()
    quota_stop: Failure | None = None
    quota_stops: int = 0


class LogReader:
    """Reads ``agy.log`` chunk by chunk; what it found does not depend on where the chunks were cut."""

    __slots__ = ("_causes", "_heads", "_quota_stop", "_quota_stops", "_told_of_a_stop")

    def __init__(self) -> None:
        self._heads = LineHeads()
        self._causes = LastOfEachKind()
        self._quota_stop: Failure | None = None
        self._quota_stops = 0
        self._told_of_a_stop = False

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes in."""
        for head in self._heads.feed(chunk):
            self._read(head)

    def finish(self) -> None:
        """Take in a last line that no line feed ended; nothing is fed after that."""
        for head in self._heads.finish():
            self._read(head)

    @property
    def found(self) -> LogFindings:
        """What the lines read so far say."""
        return LogFindings(self._causes.failures(), self._quota_stop, self._quota_stops)

    def _read(self, head: bytes) -> None:
        if _MAY_TELL.search(head) is None:
            return
        line = without_escapes(head.decode("utf-8", "replace")).lstrip(_LEADING).rstrip()
        header = _HEADER.match(line)
        if header is None:
            return
        message = line[header.end() :]
        cause = _cause_in(message)
        if cause is None:
            return
        if cause.kind is Kind.QUOTA and cause.reset_s is not None and _STATED_QUOTA.match(message):
            self._quota_stop = cause
            self._quota_stops += self._told_of_a_stop or _RETRIED.search(message) is not None
            self._told_of_a_stop = True
        self._causes.add(cause)


def _cause_in(message: str) -> Failure | None:
    if _STATED.match(message) is None:
        return None
    cause = failure_in(message)
    if cause is None:
        return Failure(Kind.AUTH, one_line(message, TEXT_LIMIT)) if _AUTH_ENDED.match(message) else None
    # What agy retries of itself is no cause of an end, unless trying again can't help.
    return None if _RETRIED.search(message) and cause.kind is not Kind.QUOTA else cause
