"""Puts an executable named ``agy`` into a directory: a real program for anyone who starts it by name."""

from __future__ import annotations

import sys
from pathlib import Path

from fake_agy.platforms import WINDOWS, replace

LAUNCHER = Path(__file__).parent / "launcher" / "agy.exe"
MARK = b"FAKEAGY1"
_SHEBANG_BYTES = 120
_BODY = """\
import sys

package = {package!r}
if package not in sys.path:
    sys.path.insert(0, package)
from fake_agy.agy import main

sys.exit(main(home={home!r}, launcher={launcher!r}))
"""


def install(directory: Path, home: Path | None = None) -> Path:
    """Return the path of the new ``agy`` in *directory*; it uses *home*, else what the environment names.

    It runs this interpreter in isolated mode: no variable, no working directory changes what it imports.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory.absolute() / ("agy.exe" if WINDOWS else "agy")
    body = _BODY.format(
        package=str(Path(__file__).resolve().parent.parent),
        home=None if home is None else str(home.absolute()),
        launcher=str(path),
    )
    replace(path, windows_program(sys.executable, body) if WINDOWS else posix_program(sys.executable, body))
    path.chmod(0o755)
    return path


def posix_program(interpreter: str, body: str) -> bytes:
    """Return a script that *interpreter* runs, whatever blanks and length its path has."""
    if not any(blank in interpreter for blank in " \t\n") and len(interpreter.encode()) <= _SHEBANG_BYTES:
        head = f"#!{interpreter} -I\n"
    else:
        quoted = "".join(f"\\{char}" if char in '\\"$`' else char for char in interpreter)
        head = f"#!/bin/sh\n'''exec' \"{quoted}\" -I \"$0\" \"$@\"\n' '''\n"
    return (head + body).encode("utf-8", "surrogateescape")


def windows_program(interpreter: str, body: str) -> bytes:
    """Return a program file: the launcher, and the command line that it starts, appended."""
    import subprocess

    line = subprocess.list2cmdline([interpreter, "-I", "-c", body]).encode()
    return LAUNCHER.read_bytes() + line + len(line).to_bytes(4, "little") + MARK
