"""Agy's own log: glog lines in the file that ``--log-file`` names, else in the home."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fake_agy.platforms import append

if TYPE_CHECKING:
    from fake_agy.home import Home


class Log:
    """One process's log; *prefix* is what versions before 1.2.0 put in front of the first lines."""

    def __init__(self, path: Path | None, *, prefix: bool = False) -> None:
        """Write to *path*, or nowhere."""
        self.path = path
        self._prefix_left = 3 if prefix else 0

    def line(self, text: str, level: str = "I", where: str = "run.go:371") -> None:
        """Add one line; a log that can't be written is given up, as agy gives up its own."""
        if self.path is None:
            return
        seconds = time.time()
        stamp = time.strftime("%m%d %H:%M:%S", time.localtime(seconds))
        head = f"{level}{stamp}.{int(seconds % 1 * 1e6):06d} {os.getpid():7d} {where}] "
        if self._prefix_left:
            self._prefix_left -= 1
            head = "ERROR: logging before google.Init: " + head
        try:
            append(self.path, (head + text + "\n").encode(errors="replace"))
        except OSError:
            self.path = None


def log_path(asked: str | None, home: Home | None) -> Path | None:
    """Return the log's file: *asked*, else the home's ``cli.log``; ``None`` without a home."""
    if asked:
        return Path(asked)
    return None if home is None else home.log
