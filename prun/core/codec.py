"""JSON records as bytes and back: writing is exact, reading is tolerant and never raises."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIMIT_BYTES = 1024 * 1024

_WHOLE_LIMIT = 2**63
_DEPTH = 16
_SURROGATE = re.compile("[\ud800-\udfff]")

Read: TypeAlias = "Callable[[Any], Any]"


class _Required:
    """Stands for the default of a field that has none."""


REQUIRED = _Required()


@dataclass(frozen=True, slots=True)
class Field:
    """How one field is read: *read* raises ``TypeError`` for another type, and then *default* holds."""

    read: Read
    default: Any = REQUIRED


def dump(fields: Mapping[str, Any]) -> bytes:
    """Return *fields* as a JSON object in UTF-8 with sorted keys and a line feed at the end.

    What JSON can't hold in full (NaN, a number over 64 bits, more than 16 levels) becomes null; a
    surrogate, as in the name of a file that is not UTF-8, is kept by its escape.
    """
    text = json.dumps(sound(fields), ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode() + b"\n"


def load(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object that *data* holds, or ``None`` where it holds none or is over 1 MiB."""
    if len(data) > LIMIT_BYTES:
        return None
    try:
        loaded = json.loads(data.decode("utf-8-sig"), parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def read_fields(loaded: Mapping[str, Any], table: Mapping[str, Field]) -> dict[str, Any] | None:
    """Return the fields that *table* names, or ``None`` where one without a default is missing or wrong."""
    values: dict[str, Any] = {}
    for name, form in table.items():
        try:
            values[name] = form.read(loaded[name])
        except (KeyError, TypeError):
            if isinstance(form.default, _Required):
                return None
            values[name] = dict(form.default) if isinstance(form.default, dict) else form.default
    return values


def text(value: Any) -> str:
    """Return *value* if it is a string."""
    if not isinstance(value, str):
        raise TypeError
    return value


def whole(value: Any) -> int:
    """Return *value* if it is a whole number of at most 64 bits; true and false are none."""
    if type(value) is not int or not -_WHOLE_LIMIT <= value < _WHOLE_LIMIT:
        raise TypeError
    return value


def number(value: Any) -> float:
    """Return *value* if it is a finite number."""
    found = value if type(value) is float else float(whole(value))
    if not math.isfinite(found):
        raise TypeError
    return found


def flag(value: Any) -> bool:
    """Return *value* if it is true or false."""
    if not isinstance(value, bool):
        raise TypeError
    return value


def mapping(value: Any) -> dict[str, Any]:
    """Return *value* if it is an object."""
    if not isinstance(value, dict):
        raise TypeError
    return value


def items(value: Any) -> tuple[Any, ...]:
    """Return *value*'s items if it is a list."""
    if not isinstance(value, list):
        raise TypeError
    return tuple(value)


def texts(value: Any) -> tuple[str, ...]:
    """Return the strings in *value* if it is a list."""
    return tuple(item for item in items(value) if isinstance(item, str))


def text_mapping(value: Any) -> dict[str, str]:
    """Return the string values of *value* if it is an object."""
    return {name: item for name, item in mapping(value).items() if isinstance(item, str)}


def or_none(read: Read) -> Read:
    """Return a reader that takes null too."""
    return lambda value: None if value is None else read(value)


def sound(value: Any, depth: int = _DEPTH) -> Any:
    """Return *value* with null for whatever JSON can't hold in full; see ``dump``."""
    if depth == 0:
        return None
    match value:
        case bool() | str() | None:
            return value
        case int():
            return int(value) if -_WHOLE_LIMIT <= value < _WHOLE_LIMIT else None
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(name): sound(item, depth - 1) for name, item in value.items()}
        case list() | tuple():
            return [sound(item, depth - 1) for item in value]
        case _:
            return None
