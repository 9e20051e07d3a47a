"""The check of ``--json-schema`` that agy makes before any model call."""

from __future__ import annotations

import json
from pathlib import Path

from fake_agy import texts

_PRIMITIVES = ("string", "number", "integer", "boolean", "array")


class SchemaError(Exception):
    """A schema that agy refuses; *text* is its whole message."""

    def __init__(self, text: str) -> None:
        """Keep agy's message."""
        super().__init__(text)
        self.text = text


def check(given: str, *, root_object: bool) -> None:
    """Raise SchemaError where agy refuses *given*: inline JSON, a file, or the name of a type."""
    text = given.strip()
    if text in _PRIMITIVES:
        body: object = {"type": text}
    else:
        try:
            body = json.loads(text if text.startswith("{") else Path(text).read_bytes())
        except (OSError, ValueError) as error:
            raise SchemaError(texts.SCHEMA_UNREADABLE.format(error=error)) from None
    if root_object and not (isinstance(body, dict) and body.get("type") == "object"):
        raise SchemaError(texts.SCHEMA_ROOT)
