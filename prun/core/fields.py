"""Values out of another program's JSON: each is what it should be, in bounded size, or nothing."""

from __future__ import annotations

import math
from json import dumps
from typing import Any

from prun.core.blank import is_blank_text
from prun.core.conversation_id import valid_conversation_id
from prun.core.errors import UsageError
from prun.core.plain import utf8

WORD_CHARACTERS = 200
PATH_CHARACTERS = 4096
STATUS_CHARACTERS = 1000
MESSAGE_CHARACTERS = 16 * 1024
_COUNTS = 32
_SAFE_INTEGER = 2**53


def word(value: Any, characters: int = WORD_CHARACTERS) -> str | None:
    """Return *value* where it is text that says something."""
    return clipped(value, characters) if isinstance(value, str) and value.strip() else None


def message(value: Any) -> str | None:
    """Return the text of an error, which may be a string or an object with a ``message``."""
    text = value.get("message") if isinstance(value, dict) else value
    return clipped(text, MESSAGE_CHARACTERS) if isinstance(text, str) and not is_blank_text(text) else None


def count(value: Any) -> int | None:
    """Return *value* where it is a whole number from 0 that any JSON reader can hold."""
    return value if type(value) is int and 0 <= value < _SAFE_INTEGER else None


def seconds(value: Any) -> float | None:
    """Return *value* where it is a finite number from 0."""
    if type(value) is float:
        return value if 0 <= value < math.inf else None
    return None if count(value) is None else float(value)


def counts(value: Any) -> dict[str, int] | None:
    """Return the whole numbers of an object by their names, or ``None`` where it has none."""
    if not isinstance(value, dict):
        return None
    whole = [
        (clipped(key, WORD_CHARACTERS), number) for key, number in value.items() if count(number) is not None
    ]
    return dict(whole[:_COUNTS]) or None


def status(value: Any) -> Any:
    """Return *value* as it is, but a long text clipped and a large container empty."""
    if isinstance(value, str):
        return clipped(value, STATUS_CHARACTERS)
    if not isinstance(value, dict | list):
        return value
    try:
        return value if len(dumps(value)) <= STATUS_CHARACTERS else type(value)()
    except RecursionError:
        return type(value)()


def conversation_id(value: Any) -> str | None:
    """Return *value* where it is shaped like a conversation id."""
    if not isinstance(value, str) or value != value.strip():
        return None
    try:
        return valid_conversation_id(utf8(value))
    except UsageError:
        return None


def clipped(text: str, characters: int) -> str:
    """Return *text* fit for UTF-8, its end marked as missing where it is longer than *characters*."""
    kept = text if len(text) <= characters else text[: characters - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return kept if kept.isascii() else utf8(kept).decode()
