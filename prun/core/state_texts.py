"""What the small text files of a state directory say, by whatever tool or editor they were written."""

from __future__ import annotations

import codecs
import re

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_PID = re.compile(r"[1-9][0-9]{0,9}")
_EPOCH = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_EARLIEST_S = 1_000_000_000.0  # of 2001: what is less is half written, or no time of day


def text_in(data: bytes) -> str:
    """Return the text in *data* without its byte order mark; bytes that are not UTF-8 stay themselves."""
    encoding = _UTF16.get(data[:2])
    if encoding is not None:
        return data[2:].decode(encoding, "replace")
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def read_pointer(data: bytes) -> str | None:
    """Return the path that a ``result-file`` names less one line end, or ``None`` while it is blank."""
    text = text_in(data)
    for end in ("\r\n", "\n"):
        if text.endswith(end):
            text = text.removesuffix(end)
            break
    return text if text.strip() else None


def read_pid(data: bytes) -> int | None:
    """Return the pid that *data* is, in ASCII digits and nothing else but white space around, or ``None``."""
    text = text_in(data).strip()
    return int(text) if _PID.fullmatch(text) else None


def read_epoch(data: bytes) -> float | None:
    """Return the epoch seconds that a ``timestamp`` holds, ``None`` where that is no time of a dispatch."""
    text = text_in(data).strip()
    if _EPOCH.fullmatch(text) is None:
        return None
    seconds = float(text)
    return seconds if seconds >= _EARLIEST_S else None
