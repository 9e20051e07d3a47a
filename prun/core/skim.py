"""The wanted parts of one JSON object read from bytes, in memory that does not grow with the rest of it.

The reader for lines that the standard one should not be given: huge, deeply nested, or with numbers of
thousands of digits. What is not wanted is passed over by its brackets and quotes alone, unchecked.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeAlias

from prun.core.json_strings import head, tail, whole
from prun.core.values import dataclass

ITEMS = 100
LEAF_BYTES = 64 * 1024
NUMBER_BYTES = 1000
_KEY_BYTES = 256


class Keep(Enum):
    """How much of a wanted string is kept; other wanted values are kept where they are small."""

    HEAD = "head"
    TAIL = "tail"
    WHOLE = "whole"


Shape: TypeAlias = Keep | Mapping[str, "Shape"]


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object and where the text behind it begins."""

    value: dict[str, Any]
    end: int


@dataclass(frozen=True, slots=True)
class Broken:
    """An object began and never became one; *truncated* where it was still sound when its line ended."""

    truncated: bool


class _BrokenError(Exception):
    def __init__(self, *, truncated: bool) -> None:
        super().__init__()
        self.truncated = truncated


_GAP = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]++|[\]}]++', re.DOTALL)
_SCALAR = re.compile(rb'[^\s"\[\]{},:]++')
_INTEGER = re.compile(rb"-?[0-9]++\Z")
_QUOTE, _OPENING, _COMMA, _COLON, _BRACE, _BRACKET = b'"'[0], b"[{", b","[0], b":"[0], b"{"[0], b"["[0]
_ENDS = {_BRACE: b"}"[0], _BRACKET: b"]"[0]}


def no_number(_name: str) -> None:
    """Return ``None`` for the ``NaN`` and ``Infinity`` that JSON does not have."""


_decode = json.JSONDecoder(strict=False, parse_constant=no_number).decode


def skim(data: bytes, start: int, shape: Mapping[str, Shape]) -> Found | Broken:
    """Return the object whose brace is at *start*, with the keys that *shape* names and no others.

    A string kept ``WHOLE`` comes as UTF-8 bytes, a container too large to keep comes empty, and an array
    has its first hundred items.
    """
    try:
        return Found(*_read_object(data, start, shape))
    except _BrokenError as flaw:
        return Broken(flaw.truncated)
    except (ValueError, RecursionError, MemoryError):
        return Broken(truncated=False)


def _read_object(data: bytes, start: int, shape: Mapping[str, Shape]) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = _next(data, start + 1)
    if data[at] == _ENDS[_BRACE]:
        return found, at + 1
    while True:
        key_end = _string_end(data, at)
        key = _key(data, at, key_end)
        at = _next(data, key_end)
        if data[at] != _COLON:
            raise _BrokenError(truncated=False)
        at = _next(data, at + 1)
        if key is not None and key in shape:
            found[key], at = _read(data, at, shape[key])
        else:
            at = _skip(data, at)
        at = _next(data, at)
        if data[at] == _ENDS[_BRACE]:
            return found, at + 1
        if data[at] != _COMMA:
            raise _BrokenError(truncated=False)
        at = _next(data, at + 1)


def _read(data: bytes, at: int, shape: Shape) -> tuple[Any, int]:
    first = data[at]
    if first == _QUOTE:
        return _read_string(data, at, shape)
    if first == _BRACE and isinstance(shape, Mapping):
        return _read_object(data, at, shape)
    if first == _BRACKET:
        return _read_items(data, at)
    end = _skip(data, at)
    if first == _BRACE:
        return _loaded(data[at:end]) if end - at <= LEAF_BYTES else {}, end
    if end == len(data):
        raise _BrokenError(truncated=True)
    return _scalar(data[at:end]), end


def _read_string(data: bytes, at: int, shape: Shape) -> tuple[str | bytes, int]:
    end = _string_end(data, at)
    inside = (data, at + 1, end - 1)
    match shape:
        case Keep.WHOLE:
            return whole(*inside), end
        case Keep.TAIL:
            return tail(*inside), end
        case _:
            return head(*inside), end


def _read_items(data: bytes, start: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    item: Any
    at = _next(data, start + 1)
    if data[at] == _ENDS[_BRACKET]:
        return items, at + 1
    while len(items) < ITEMS:
        if data[at] == _BRACKET:
            item, at = [], _skip(data, at)
        else:
            item, at = _read(data, at, Keep.HEAD)
        items.append(item)
        at = _next(data, at)
        if data[at] == _ENDS[_BRACKET]:
            return items, at + 1
        if data[at] != _COMMA:
            raise _BrokenError(truncated=False)
        at = _next(data, at + 1)
    return items, _closing(data, at, 1)


def _skip(data: bytes, at: int) -> int:
    first = data[at]
    if first == _QUOTE:
        return _string_end(data, at)
    if first in _OPENING:
        return _closing(data, at, 0)
    scalar = _SCALAR.match(data, at)
    if scalar is None:
        raise _BrokenError(truncated=False)
    return scalar.end()


def _closing(data: bytes, at: int, depth: int) -> int:
    """Return where the container *depth* levels out from *at* ends; a run of brackets is one step."""
    for token in _TOKEN.finditer(data, at):
        start, end = token.span()
        first = data[start]
        if first in _OPENING:
            depth += end - start
        elif first != _QUOTE:
            if end - start >= depth:
                return start + depth
            depth -= end - start
    raise _BrokenError(truncated=True)


def _next(data: bytes, at: int) -> int:
    gap = _GAP.match(data, at)
    after = at if gap is None else gap.end()
    if after >= len(data):
        raise _BrokenError(truncated=True)
    return after


def _string_end(data: bytes, at: int) -> int:
    if data[at] != _QUOTE:
        raise _BrokenError(truncated=False)
    string = _STRING.match(data, at)
    if string is None:
        raise _BrokenError(truncated=True)
    return string.end()


def _key(data: bytes, start: int, end: int) -> str | None:
    return head(data, start + 1, end - 1) if end - start <= _KEY_BYTES else None


def _loaded(raw: bytes) -> Any:
    try:
        return _decode(raw.decode("utf-8", "replace"))
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError):
        return {}


def _scalar(raw: bytes) -> Any:
    if len(raw) <= NUMBER_BYTES:
        return _decode(raw.decode("utf-8", "replace"))
    if _INTEGER.match(raw) is None:
        return None
    return -math.inf if raw.startswith(b"-") else math.inf
