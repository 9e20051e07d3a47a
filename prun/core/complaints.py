"""What agy complained of on stderr, read as it arrives, in bounded memory.

Only a line that begins with one of agy's own marks counts; what other programs write there is passed over.
"""

from __future__ import annotations

import json
import re
from typing import Any

from prun.core.failures import TEXT_LIMIT, Failure, LastOfEachKind, failure_in
from prun.core.line_heads import LineHeads
from prun.core.plain import one_line, without_escapes
from prun.core.values import dataclass

_MAY_TELL = re.compile(rb"rror:|AGY_ERROR|\[agy\]|warning:|jetski:|uthentication")
_LOOK_BYTES = 512
_DENIED_KEPT = 8

_ERROR = re.compile(r"[Ee]rror:\s*(?P<text>.*)", re.DOTALL)
_PAYLOAD = re.compile(r"AGY_ERROR:\s*(?P<json>.*)", re.DOTALL)
_PRINT_TIMEOUT = re.compile(r"\[agy\] print timeout after \S+ with turn in progress\b")
_NOT_FOUND = re.compile(r'warning: conversation "[^"]*" not found\b')
_DENIED = re.compile(r'jetski: [^"]*\brequired the "(?P<action>[^"]{1,100})" permission\b.*\bauto-denied\b')
_SIGN_IN = re.compile(r"(?:Authentication required\.|authentication failed or timed out\b)")
_LEADING = "\ufeff\r\x00"


@dataclass(frozen=True, slots=True)
class Complaints:
    """What stderr has said so far: causes, the last plain error, and agy's notices.

    *print_timeout* is the notice that a turn was cut; *denied* names permissions refused without asking.
    """

    failures: tuple[Failure, ...] = ()
    error: str | None = None
    print_timeout: str | None = None
    conversation_not_found: bool = False
    denied: tuple[str, ...] = ()


class StderrReader:
    """Reads stderr chunk by chunk; what it found does not depend on where the chunks were cut."""

    __slots__ = ("_causes", "_denied", "_error", "_heads", "_not_found", "_print_timeout")

    def __init__(self) -> None:
        self._heads = LineHeads()
        self._causes = LastOfEachKind()
        self._error: str | None = None
        self._print_timeout: str | None = None
        self._not_found = False
        self._denied: list[str] = []

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes in."""
        for head in self._heads.feed(chunk):
            self._read(head)

    def finish(self) -> None:
        """Take in a last line that no line feed ended; nothing is fed after that."""
        for head in self._heads.finish():
            self._read(head)

    @property
    def found(self) -> Complaints:
        """What the lines read so far say."""
        return Complaints(
            self._causes.failures(), self._error, self._print_timeout, self._not_found, tuple(self._denied)
        )

    def _read(self, head: bytes) -> None:
        if _MAY_TELL.search(head, 0, _LOOK_BYTES) is None:
            return
        line = without_escapes(head.decode("utf-8", "replace")).lstrip(_LEADING).rstrip()
        if (payload := _PAYLOAD.match(line)) is not None:
            self._take_cause(payload_text(payload["json"]))
        elif (error := _ERROR.match(line)) is not None:
            self._take_cause(error["text"])
            self._error = one_line(error["text"], TEXT_LIMIT) or self._error
        elif _SIGN_IN.match(line) is not None:
            self._take_cause(line)
        elif _PRINT_TIMEOUT.match(line) is not None:
            self._print_timeout = one_line(line, TEXT_LIMIT)
        elif _NOT_FOUND.match(line) is not None:
            self._not_found = True
        elif (denied := _DENIED.match(line)) is not None:
            self._take_denied(denied["action"])

    def _take_cause(self, text: str) -> None:
        cause = failure_in(text)
        if cause is not None:
            self._causes.add(cause)

    def _take_denied(self, action: str) -> None:
        name = one_line(action, 100)
        if name not in self._denied and len(self._denied) < _DENIED_KEPT:
            self._denied.append(name)


def payload_text(payload: str) -> str:
    """Return what an ``AGY_ERROR`` *payload* says, in the words of a log line: ``STATUS (code N): text``.

    Its ``retryable`` is not used: agy sets it beside an empty credit balance. A payload that is no JSON
    object, for instance one cut short, is read as plain text.
    """
    try:
        parsed: Any = json.loads(payload)
    except (ValueError, RecursionError):
        return payload
    if not isinstance(parsed, dict):
        return payload
    status, code, text = parsed.get("status"), parsed.get("error_code"), parsed.get("short_error")
    said = text if isinstance(text, str) else ""
    name = f"{status if isinstance(status, str) else 'UNKNOWN'} (code {code if type(code) is int else '?'})"
    return said if said.startswith(name) else f"{name}: {said}"
