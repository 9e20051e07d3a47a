"""Whether a result can be written where the caller wants it, found out by trying."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from prun.core.errors import UsageError
from prun.core.plain import visible
from prun.system.files import temporary_beside, write_new
from prun.system.placing import discard

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SAMPLE = b"prun looks whether it can write here\n"
_REASONS = {
    errno.ENOTDIR: "a directory on the way to it is a file",
    errno.ENAMETOOLONG: "the name is too long, with room for the files that go beside it",
}
_NEXT = "name another --result-file"


def check_fresh(path: Path) -> None:
    """Raise ``UsageError`` unless nothing is at *path*, a dangling link included."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        raise _unusable(path, error) from error
    raise UsageError(f"the result file {visible(str(path))} exists already and stays as it is; {_NEXT}")


def check_writable(path: Path, extra_names: Iterable[str] = ()) -> None:
    """Create the directory of *path* and raise ``UsageError`` unless files can be written there.

    Tried with the name that a publication really uses, and with a name of the length and the characters
    of the target's own and of each of *extra_names*, since the target itself must not appear.
    """
    try:
        _make_parent(path)
        for name in (temporary_beside(path).name, *(_alike(name) for name in (path.name, *extra_names))):
            _try_name(path.with_name(name))
    except (OSError, ValueError) as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError | ValueError) -> UsageError:
    why = str(error)
    if isinstance(error, OSError):
        why = _REASONS.get(error.errno or 0, error.strerror or why)
    return UsageError(f"cannot write the result file {visible(str(path))}: {visible(why)}; {_NEXT}")


def _make_parent(path: Path) -> None:
    if not path.name or path.name == "..":
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if sys.platform == "win32" and _is_device(path.name):
        raise OSError(errno.EINVAL, "Windows keeps this name for itself")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error


def _is_device(name: str) -> bool:
    is_reserved = getattr(os.path, "isreserved", None)
    return bool(is_reserved(name) if is_reserved is not None else PureWindowsPath(name).is_reserved())


def _alike(name: str) -> str:
    """Return a hidden name as long as *name*, or a little longer, and of the same characters."""
    alike = "." + name[1:] if name[1:].strip(".") else ".x"
    return alike + "x" * (len(os.fsencode(name)) - len(os.fsencode(alike)))


def _try_name(path: Path) -> None:
    try:
        write_new(path, _SAMPLE, durable=False)
    except FileExistsError:  # it fits, whoever has it
        return
    except FileNotFoundError as error:  # Windows' word for a name too long: the directory is there
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG)) from error
    discard(path)
