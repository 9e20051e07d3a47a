"""User messages on stdin: ``--input-format stream-json``, a line a turn."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from fake_agy import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fake_agy.profiles import Profile
    from fake_agy.waiting import Waiter
    from fake_agy.witness import Witness

LONGEST_MESSAGE_CHARS = 191_000
_CHUNK_BYTES = 65_536


class Message(NamedTuple):
    """One user message."""

    text: str


class Ignored(NamedTuple):
    """A line that is passed over, with a warning unless it is blank."""

    warning: str = ""


class Refused(NamedTuple):
    """A line that ends the process."""

    text: str
    exit_code: int


Line: TypeAlias = Message | Ignored | Refused


def read_line(data: bytes, number: int, profile: Profile, *, slash_commands: bool) -> Line:
    """Return what line *number* of stdin asks for; an overlong message is cut without a word."""
    if not data.strip():
        return Ignored()
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return Refused(texts.BAD_LINE.format(line=number), 1)
    event = body.get("event") if isinstance(body, dict) else None
    if not isinstance(event, str):
        return Refused(texts.NO_EVENT, 1)
    if event != "user":
        if profile.soft_stream_input:
            return Ignored(texts.IGNORED_INPUT.format(event=event))
        return Refused(texts.UNSUPPORTED_EVENT.format(event=event), 2)
    message = body.get("message")
    text = _content(message.get("content") if isinstance(message, dict) else None)
    if text is None:
        return Refused(texts.BAD_CONTENT, 1)
    if slash_commands and text.startswith("/"):
        return Refused(texts.SLASH_REFUSED.format(command=text.split(maxsplit=1)[0]), 2)
    return Message(text[:LONGEST_MESSAGE_CHARS])


def lines(waiter: Waiter, witness: Witness, descriptor: int = 0) -> Iterator[bytes]:
    """Yield the lines of stdin as they come, the last one also without its end."""
    held = b""
    while True:
        chunk = waiter.interruptible(lambda: os.read(descriptor, _CHUNK_BYTES)) or b""
        witness.read(chunk)
        held += chunk
        *whole, held = held.split(b"\n")
        yield from whole
        if not chunk:
            if held:
                yield held
            return


def peek(descriptor: int = 0) -> bytes | None:
    """Return the first line of stdin and leave it unread; ``None`` where stdin is not a file."""
    import stat

    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        held = b""
        while b"\n" not in held:
            chunk = os.read(descriptor, _CHUNK_BYTES)
            if not chunk:
                break
            held += chunk
        os.lseek(descriptor, start, os.SEEK_SET)
    except OSError:
        return None
    return held.split(b"\n", 1)[0]


def _content(content: object) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    blocks = []
    for block in content:
        if (
            not isinstance(block, dict)
            or block.get("type") != "text"
            or not isinstance(block.get("text"), str)
        ):
            return None
        blocks.append(block["text"])
    return "".join(blocks)
