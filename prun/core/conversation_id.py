"""A conversation id as a file holds it."""

from __future__ import annotations

import re

from prun.core.errors import UsageError
from prun.core.plain import one_line

_MARK = b"\xef\xbb\xbf"
_SHAPE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SHOWN_CHARACTERS = 60


def valid_conversation_id(data: bytes, source: str = "the conversation id") -> str:
    """Return the id that *data* is; a byte order mark and one line end are trimmed.

    Whatever is not shaped like an id raises ``UsageError`` naming *source*: a junk id would quietly
    start a new conversation, or be read as a flag or a path.
    """
    trimmed = data.removeprefix(_MARK)
    line = trimmed[:-2] if trimmed.endswith(b"\r\n") else trimmed.removesuffix(b"\n")
    if not line.strip():
        raise UsageError(
            f"{source} is empty: there is no conversation to continue; dispatch without --continue-from"
        )
    if _SHAPE.fullmatch(line) is None:
        shown = one_line(line.decode("utf-8", "replace"), _SHOWN_CHARACTERS)
        raise UsageError(
            f"{source} is '{shown}', which is not shaped like a conversation id; "
            "continue from another state directory, or dispatch without --continue-from"
        )
    return line.decode("ascii")
