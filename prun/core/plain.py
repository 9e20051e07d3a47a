"""Text of programs made fit for one line, for a document, and for a file."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # a control sequence: colours, modes
    r"|[\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\|$)"  # a string: titles, links
    r"|[ -/]*[0-Z\\^-~]"  # the rest, of two or three characters
    r")?"
)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")

_UNTELLABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def tellable(path: str) -> bool:
    """Return whether *path* can stand in a message exactly as it is, and on one line of it.

    Marks of direction, joiners and combining marks can; control characters, line ends of any kind and
    bytes that are no text can't.
    """
    return _UNTELLABLE.search(path) is None


def without_escapes(text: str) -> str:
    """Return *text* without terminal escape sequences."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def _escaped_character(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 - a byte


def visible(text: str) -> str:
    """Return *text* with control, direction and surrogate characters as escapes: one line, safe to print."""
    return _UNSEEN.sub(_escaped_character, text)


def one_line(text: str, limit: int) -> str:
    """Return *text* as one printable line of at most *limit* characters; white space is folded."""
    head = text[: 8 * limit]
    line = visible(" ".join(without_escapes(head).split()))
    if len(line) <= limit and not text[len(head) :].strip():
        return line
    return line[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def utf8(text: str) -> bytes:
    """Return *text* in UTF-8; what UTF-8 can't hold becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
