"""JSON strings decoded from bytes piece by piece, so that a huge one never stands in memory twice."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import TYPE_CHECKING

from prun.core.blank import is_blank_text
from prun.core.buffers import reserve, take
from prun.core.plain import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE_BYTES = 64 * 1024
HEAD_BYTES = 4 * PIECE_BYTES
TAIL_BYTES = 256 * 1024

_BACKSLASH, _U = b"\\"[0], b"u"[0]
_SHORT_ESCAPE_BYTES, _LONG_ESCAPE_BYTES = 2, 6
_CHARACTER_BYTES = 4
_CONTINUATIONS = range(0x80, 0xC0)
_HIGH = re.compile(rb"\\u[dD][89abAB]")
_LOW = re.compile(rb"\\u[dD][c-fC-F]")

_decode = json.JSONDecoder(strict=False).decode


def head(data: bytes, start: int, end: int) -> str:
    """Return the first text of the string whose inside is ``data[start:end]``; raises ``ValueError``."""
    return "".join(_text(data, *span) for span in _spans(data, start, end) if span[0] < start + HEAD_BYTES)


def tail(data: bytes, start: int, end: int) -> str:
    """Return the last text of the string, 256 KiB of it in UTF-8 at the least where there is so much."""
    pieces: list[str] = []
    missing_bytes = TAIL_BYTES
    for span in reversed(list(_spans(data, start, end))):
        if missing_bytes <= 0:
            break
        pieces.append(_text(data, *span))
        missing_bytes -= len(utf8(pieces[-1]))
    return "".join(reversed(pieces))


def whole(data: bytes, start: int, end: int) -> bytes:
    """Return all text of the string in UTF-8, and nothing where it is blank."""
    text = BytesIO()
    reserve(text, end - start + 1)
    said = False
    for span in _spans(data, start, end):
        piece = _text(data, *span)
        said = said or not is_blank_text(piece)
        text.write(utf8(piece))
    return take(text) if said else b""


def _text(data: bytes, start: int, end: int) -> str:
    decoded = _decode('"' + data[start:end].decode("utf-8", "replace") + '"')
    return str(decoded)


def _spans(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > PIECE_BYTES:
        cut = _cut(data, start, start + PIECE_BYTES)
        yield start, cut
        start = cut
    yield start, end


def _cut(data: bytes, start: int, at: int) -> int:
    """Return the last place up to *at* that is inside no character, no escape and no surrogate pair."""
    for _ in range(_CHARACTER_BYTES - 1):
        at -= data[at] in _CONTINUATIONS
    backslash = data.rfind(b"\\", at - _LONG_ESCAPE_BYTES, at)
    if backslash < 0:
        return at
    escape = _escape(data, start, backslash)
    end = escape + (_LONG_ESCAPE_BYTES if data[escape + 1] == _U else _SHORT_ESCAPE_BYTES)
    if end < at or (end == at and not _HIGH.match(data, escape)):
        return at
    before = escape - _LONG_ESCAPE_BYTES
    paired = _LOW.match(data, escape) and _HIGH.match(data, before) and _escape(data, start, before) == before
    return before if paired else escape


def _escape(data: bytes, start: int, backslash: int) -> int:
    """Return where the escape begins that the one at *backslash* is part of: a run of them goes by twos."""
    if data[backslash - 1] != _BACKSLASH:
        return backslash
    run = data[start : backslash + 1]
    return backslash - (len(run) - len(run.rstrip(b"\\")) + 1) % 2
