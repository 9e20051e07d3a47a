"""The JSON objects on one line, whatever stands between them."""

from __future__ import annotations

import json
import re
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, AnyStr

from prun.core.skim import Broken, Found, Shape, no_number, skim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STARTS = 16
PLAIN_BYTES = 256 * 1024

# All that may be left at the place of the error where a line ends inside an escape, a word or a number.
_CUT = re.compile(r"\s*+(?:u[0-9a-fA-F]{0,4}|-?[A-Za-z]{0,8}|\.|[eE][-+])?\s*+\Z")

_decode = json.JSONDecoder(strict=False, parse_constant=no_number).raw_decode


def objects_on(line: bytes, shape: Mapping[str, Shape]) -> tuple[dict[str, Any] | Broken, ...]:
    """Return the objects on *line*, in order, with at least the keys that *shape* names.

    Byte order marks, terminal escapes and log text around them are passed over. A ``Broken`` comes last
    where something behind the last object began like one. At most sixteen beginnings are tried.
    """
    if len(line) <= PLAIN_BYTES:
        try:
            return _walk(line.decode("utf-8", "replace"), "{", _read)
        except (ValueError, RecursionError, MemoryError):
            pass  # a number of thousands of digits, or brackets as deep as the interpreter's stack
    return _walk(line, b"{", lambda data, start: skim(data, start, shape))


def _walk(
    line: AnyStr, brace: AnyStr, read: Callable[[AnyStr, int], Found | Broken]
) -> tuple[dict[str, Any] | Broken, ...]:
    found: list[dict[str, Any] | Broken] = []
    broken: Broken | None = None
    start = line.find(brace)
    for _ in range(STARTS):
        if start < 0:
            break
        one = read(line, start)
        if isinstance(one, Found):
            found.append(one.value)
            broken = None
            start = line.find(brace, one.end)
        else:
            broken = one
            # What is cut short encloses all that follows: no event of its own begins in there.
            start = -1 if one.truncated else line.find(brace, start + 1)
    if broken is None and start >= 0:
        broken = Broken(truncated=False)
    return tuple(found) if broken is None else (*found, broken)


def _read(text: str, start: int) -> Found | Broken:
    try:
        return Found(*_decode(text, start))
    except JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated string") or _CUT.match(text, error.pos) is not None
        return Broken(truncated=cut)
