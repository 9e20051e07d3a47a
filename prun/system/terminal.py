"""Lines to the two standard streams, whatever their encoding and whether or not anyone still reads."""

from __future__ import annotations

import sys
from typing import TextIO


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    try:
        raw = getattr(stream, "buffer", None)
        if raw is None:
            stream.write(text)
        else:
            raw.write(text.encode("utf-8", "backslashreplace"))
        stream.flush()
    except (OSError, ValueError):
        # Nobody reads any more: the work goes on, its record is in the state directory.
        return


def say(line: str) -> None:
    """Write *line* to stdout as UTF-8 and flush it."""
    _write(sys.stdout, line + "\n")


def complain(line: str) -> None:
    """Write *line* to stderr as UTF-8 and flush it."""
    _write(sys.stderr, line + "\n")
