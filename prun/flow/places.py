"""Paths that a caller names, as the places that they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.errors import UsageError
from prun.core.plain import visible
from prun.system.creation import temporary_root
from prun.system.reading import is_directory

if TYPE_CHECKING:
    from collections.abc import Mapping


def absolute(cwd: Path, named: str) -> str:
    """Return the path *named* from *cwd*, ``..`` folded where no link on the way gives it another meaning."""
    whole = str(cwd / named)
    folded = os.path.normpath(whole)
    same = ".." not in Path(whole).parts or os.path.realpath(whole) == os.path.realpath(folded)
    return folded if same else whole


def _breaks(path: str) -> bool:
    return "\n" in path or "\r" in path


def result_file(cwd: Path, named: str) -> str:
    """Return the path that ``--result-file`` names; ``UsageError`` for one that no record could hold."""
    path = absolute(cwd, named)
    if _breaks(path):
        raise UsageError(f"the result file {visible(path)} has a line break in its path; name another")
    return path


def directory_to_add(cwd: Path, named: str) -> str:
    """Return the directory *named* by ``--add-dir``, or raise ``UsageError``."""
    path = absolute(cwd, named)
    if not is_directory(Path(path)):
        raise UsageError(f"--add-dir {visible(path)} is not an existing directory; name one that is")
    return path


def scratch_named(cwd: Path, named: str) -> str:
    """Return the directory *named* by ``PRUN_SCRATCH_CWD``, made where missing, or raise ``UsageError``."""
    path = absolute(cwd, named)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"PRUN_SCRATCH_CWD is {visible(path)}, which can't be made a directory: "
            f"{error.strerror or error}; name another, or unset it"
        ) from error
    return path


def state_root(cwd: Path, named: str | None, env: Mapping[str, str]) -> Path:
    """Return where state directories go: *named* by ``PRUN_STATE_ROOT``, else the temporary directory."""
    root = temporary_root(env) if named is None else Path(absolute(cwd, named))
    if _breaks(str(root)):
        raise UsageError(
            f"a state directory can't be in {visible(str(root))}: STATE-DIR has to fit on one line; "
            "set PRUN_STATE_ROOT to a path without a line break"
        )
    return root
