"""Where the agy program is."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.errors import MissingProgramError
from prun.core.plain import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VARIABLE = re.compile(r"\$(?:(\w+)|\{([^{}]*)\})", re.ASCII)
_PERCENT = re.compile(r"%([^%]+)%")
_PATH_MARK = re.compile(r"[/\\:]" if sys.platform == "win32" else "/")
_LAUNCHABLE = (".com", ".exe", ".bat", ".cmd")
_NEXT = "install agy, or set ANTIGRAVITY_BIN to its name or path"


def find_agy(name: str, env: Mapping[str, str], cwd: Path) -> str:
    """Return the absolute path of the program *name*, links not followed: an update moves what they lead to.

    A bare name is looked up on PATH, in absolute entries only: no other can be trusted not to be the
    current directory. Raises ``MissingProgramError``.
    """
    wanted = expanded(name, env)
    if not wanted.strip():
        raise MissingProgramError(f"the name of the agy program is empty; {_NEXT}")
    if not _PATH_MARK.search(wanted):
        return _on_path(wanted, env)
    path = cwd / wanted
    for candidate in _spellings(path, env):
        if _is_program(candidate):
            return str(candidate)
    why = "it is not an executable file" if os.path.lexists(path) else "there is no such file"
    raise MissingProgramError(f"cannot run {visible(str(path))}: {why}; {_NEXT}")


def _on_path(name: str, env: Mapping[str, str]) -> str:
    for directory in _path_entries(name, env):
        for candidate in _spellings(directory / name, env):
            if _is_program(candidate):
                return str(candidate)
    raise MissingProgramError(f"{visible(name)} is not on PATH; {_NEXT}")


def _is_program(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def home_of(env: Mapping[str, str]) -> str:
    """Return the user's home directory as *env* has it, empty where it has none."""
    return _value(env, "USERPROFILE" if sys.platform == "win32" else "HOME")


def expanded(text: str, env: Mapping[str, str]) -> str:
    """Return *text* with a leading ``~`` and the variables of *env* put in; unknown ones stay as written."""
    head, separator, rest = text.partition("/")
    if sys.platform == "win32" and "\\" in head:
        head, separator, rest = text.partition("\\")
    if head == "~" and home_of(env):
        text = home_of(env) + separator + rest
    elif head.startswith("~"):
        text = os.path.expanduser(text)
    text = _VARIABLE.sub(lambda found: _value(env, found[1] or found[2]) or found[0], text)
    if sys.platform == "win32":
        text = _PERCENT.sub(lambda found: _value(env, found[1]) or found[0], text)
    return text


if sys.platform == "win32":

    def _value(env: Mapping[str, str], name: str) -> str:
        """Return the variable *name*, spelled in any case, or nothing."""
        return next((value for key, value in env.items() if key.upper() == name.upper()), "")

    def _path_entries(name: str, env: Mapping[str, str]) -> Iterator[Path]:
        for entry in _value(env, "PATH").split(os.pathsep):
            directory = Path(entry.strip('"'))
            if directory.is_absolute():
                yield directory
        local = Path(_value(env, "LOCALAPPDATA"))
        if local.is_absolute() and name.lower() in {"agy", "agy.exe"}:  # where its installer puts it
            yield local / "agy" / "bin"

    def _spellings(path: Path, env: Mapping[str, str]) -> Iterator[Path]:
        if not path.name:  # a drive or a root
            return
        listed = [extension.lower() for extension in _value(env, "PATHEXT").split(os.pathsep)]
        extensions = [extension for extension in listed if extension in _LAUNCHABLE] or list(_LAUNCHABLE)
        if path.suffix.lower() in _LAUNCHABLE:
            yield path
        for extension in extensions:
            yield path.with_name(path.name + extension)

else:

    def _value(env: Mapping[str, str], name: str) -> str:
        return env.get(name, "")

    def _path_entries(name: str, env: Mapping[str, str]) -> Iterator[Path]:  # noqa: ARG001 - Windows asks it
        for entry in env.get("PATH", "").split(os.pathsep):
            if entry.startswith("/"):
                yield Path(entry)

    def _spellings(path: Path, env: Mapping[str, str]) -> Iterator[Path]:  # noqa: ARG001 - Windows reads PATHEXT
        yield path
