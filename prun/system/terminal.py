"""Lines to the two standard streams, whatever their encoding and whether or not anyone still reads."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    try:
        raw = getattr(stream, "buffer", None)
        if raw is None:
            stream.write(text)
        else:
            raw.write(_encoded(text))
        stream.flush()
    except (OSError, ValueError):
        # Nobody reads any more: the work goes on, its record is in the state directory.
        _let_go(stream)


def _encoded(text: str) -> bytes:
    """Return *text* in UTF-8; undecodable bytes of a path stay themselves, so that it can still be opened."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def _let_go(stream: TextIO) -> None:
    """Lead *stream* nowhere: what it still holds would fail again at Python's exit, and change its status."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def say(line: str) -> None:
    """Write *line* to stdout as UTF-8 and flush it."""
    _write(sys.stdout, line + "\n")


def complain(line: str) -> None:
    """Write *line* to stderr as UTF-8 and flush it."""
    _write(sys.stderr, line + "\n")
