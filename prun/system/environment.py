"""The process's own surroundings, read once at the door."""

from __future__ import annotations

import os
from pathlib import Path

from prun.core.errors import UsageError


def environment() -> dict[str, str]:
    """Return a copy of this process's environment; on Windows all names are in upper case."""
    return dict(os.environ)


def current_directory() -> Path:
    """Return the caller's directory, absolute; ``UsageError`` where it was removed."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(
            f"the current directory is gone ({error.strerror}); change to one that exists"
        ) from error
