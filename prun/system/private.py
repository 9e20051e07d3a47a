"""The directories of prun's own in the user's home, which nobody else may read or write."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.errors import PrunError
from prun.core.plain import visible

if TYPE_CHECKING:
    from collections.abc import Callable

_OWN_ONLY = 0o700
_OTHERS = 0o077


def private_state_dir() -> Path:
    """Return the user's private directory, made and checked: leases, locks, snapshots."""
    from platformdirs import user_state_dir

    return _private(user_state_dir, _setting("XDG_STATE_HOME"))


def private_cache_dir() -> Path:
    """Return the user's cache directory for prun, made and checked: what can be found out again."""
    from platformdirs import user_cache_dir

    return _private(user_cache_dir, _setting("XDG_CACHE_HOME"))


def _private(directory_for: Callable[[str], str], setting: str) -> Path:
    try:
        return ensure_private(Path(directory_for("prun")), setting)
    except RuntimeError as error:
        # No HOME, and a user whom the system does not know.
        raise PrunError(
            f"there is no home directory for prun's own records; set HOME or {setting}"
        ) from error


def _setting(name: str) -> str:
    # Windows itself names the folder; this is what platformdirs lets come before it.
    return "WIN_PD_OVERRIDE_LOCAL_APPDATA" if sys.platform == "win32" else name


def ensure_private(directory: Path, setting: str) -> Path:
    """Return *directory*, made where it is missing, or raise ``PrunError`` where others can get at it.

    *setting* names the variable that moves it. On Windows the profile's own access list is relied on.
    """
    shown = visible(str(directory))
    try:
        _make_all(directory)
        found = directory.stat()
    except OSError as error:
        why = error.strerror or str(error)
        raise PrunError(
            f"cannot keep prun's own records in {shown}: {why}; set {setting} elsewhere"
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise PrunError(f"{shown} is not a directory, prun keeps its own records there; move it away")
    if sys.platform != "win32":
        if found.st_uid != os.geteuid():
            raise PrunError(
                f"{shown} belongs to another user (uid {found.st_uid}); set {setting} to a directory of yours"
            )
        if found.st_mode & _OTHERS:
            raise PrunError(f"{shown} is open to other users; look what is in it, then: chmod 700 {shown}")
    return directory


def _make_all(directory: Path) -> None:
    """Make *directory* and what is missing above it, each for its owner only."""
    if directory.is_dir():
        return
    if not directory.parent.exists():
        _make_all(directory.parent)
    try:
        directory.mkdir(mode=_OWN_ONLY)
    except FileExistsError:  # made by another meanwhile, or not a directory: the caller looks
        return
    if sys.platform != "win32":
        directory.chmod(_OWN_ONLY)
