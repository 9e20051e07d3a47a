"""The documents prun writes at a result path, and how a reader tells them from an answer."""

from __future__ import annotations

import re
from io import BytesIO

from prun.core.blank import stripped
from prun.core.buffers import reserve, take
from prun.core.plain import one_line, utf8, visible

SHOWN_BYTES = 256 * 1024
HEAD_BYTES = 512

_REASON_LIMIT = 1000
_PIECE_CHARACTERS = 256 * 1024
_INNER_BYTES = bytes(range(0x80, 0xC0))  # of a character in UTF-8, after its first
_MARKER = re.compile(r"# [A-Za-z0-9_-]+ result \(FALLBACK, ")
_TICKS = re.compile(r"`+")
_UNPRINTABLE = {code: 0xFFFD for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\r"}


def result_document(response: str) -> bytes:
    """Return the document of a completed unit: the *response*, stripped, and one line feed."""
    text, document = stripped(response), BytesIO()
    reserve(document, len(text) + 1)
    for start in range(0, len(text), _PIECE_CHARACTERS):
        document.write(utf8(text[start : start + _PIECE_CHARACTERS]))
    document.write(b"\n")
    return take(document)


def fallback_document(
    unit: str, reason: str, *, salvaged: str, response_path: str | None, tail_end: bytes, stderr_end: bytes
) -> bytes:
    """Return the document of a unit that has none of its own: why, and what is left of the worker's output.

    Of *salvaged*, *tail_end* and *stderr_end* the last 256 KiB are shown, each in a fenced block; one more
    byte than that is enough to tell that something was cut.
    """
    why = one_line(reason, _REASON_LIMIT)
    lines = [
        f"# {unit} result (FALLBACK, Agy wrote no final result)",
        f"Conclusion: INCOMPLETE; {why}",
        "Files: unknown",
        f"Open items: {why}",
        "Verification: none (dispatcher fallback)",
    ]
    if response_path is not None:
        lines.append(f"Response: kept in {visible(response_path)}")
    parts = ["\n".join(lines) + "\n"]
    parts += [
        _section(title, data)
        for title, data in (
            ("Answer text salvaged from the stream", utf8(salvaged)),
            ("End of the worker's output", tail_end),
            ("End of its stderr", stderr_end),
        )
        if data.strip()
    ]
    return utf8("\n".join(parts))


def _section(title: str, data: bytes) -> str:
    text = readable(data[-SHOWN_BYTES:], cut=len(data) > SHOWN_BYTES).strip("\r\n")
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"## {title}\n\n{fence}text\n{text}\n{fence}\n"


def readable(data: bytes, *, cut: bool = False) -> str:
    """Return *data* as text without control characters; what is not UTF-8 becomes U+FFFD.

    Where *cut*, the torn line at its start is dropped, or the torn character where it is one line only.
    """
    if cut:
        head, found, rest = data.partition(b"\n")
        data = rest if found and rest.strip() else (head + found).lstrip(_INNER_BYTES)
    return data.decode("utf-8", "replace").translate(_UNPRINTABLE)


def is_fallback(first_bytes: bytes) -> bool:
    """Return whether a document that begins with *first_bytes* (512 are enough) is a FALLBACK of prun's.

    An editor may since have given it a byte order mark, CRLF line ends or UTF-16.
    """
    head = first_bytes[:HEAD_BYTES]
    encodings = ("utf-8-sig", "utf-16") if head[:2] in {b"\xff\xfe", b"\xfe\xff"} else ("utf-8-sig",)
    if b"\x00" in head[:2]:
        encodings = ("utf-16-be",) if head[:1] == b"\x00" else ("utf-16-le",)
    return any(_MARKER.match(head.decode(encoding, "replace")) for encoding in encodings)


def response_path(result_path: str) -> str:
    """Return where a response is kept that is not the result: beside it, as ``<stem>.response<suffix>``."""
    start = max(result_path.rfind("/"), result_path.rfind("\\")) + 1
    dot = result_path.rfind(".", start + 1)
    if dot < 0 or dot == len(result_path) - 1:
        return f"{result_path}.response"
    return f"{result_path[:dot]}.response{result_path[dot:]}"
