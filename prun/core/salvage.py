"""The end of an answer's text, gathered from deltas in bounded memory."""

from __future__ import annotations

from prun.core.blank import is_blank_text
from prun.core.plain import utf8

SALVAGE_BYTES = 256 * 1024
_BLANK_LINE = b"\n\n"
_CONTINUATIONS = bytes(range(0x80, 0xC0))


class Salvage:
    """Joins the deltas of answer steps, a blank line between two steps, and keeps the last 256 KiB."""

    __slots__ = ("_limit_bytes", "_step", "_text")

    def __init__(self, limit_bytes: int = SALVAGE_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._text = bytearray()
        self._step: int | None = None

    def add(self, step: int | None, delta: str) -> None:
        """Take in one *delta* of the answer step with the index *step*."""
        if step != self._step:
            self._part()
            self._step = step
        self._text += utf8(delta)
        if len(self._text) > 2 * self._limit_bytes:
            del self._text[: -self._limit_bytes]

    def text(self) -> str:
        """Return the text, from its first whole character, or nothing where it is blank."""
        text = self._text[-self._limit_bytes :].lstrip(_CONTINUATIONS).decode("utf-8", "replace")
        return "" if is_blank_text(text) else text

    def _part(self) -> None:
        if self._text and not self._text.endswith(_BLANK_LINE):
            self._text += b"\n" if self._text.endswith(b"\n") else _BLANK_LINE
