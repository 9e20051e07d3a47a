"""Programs of prun's own that are started side by side, a directory for them, and their ends."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prun.system.reading import read_end

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LAST_WORDS_BYTES = 64 * 1024


def make_scratch(prefix: str) -> Path:
    """Return a new directory among the temporary ones that only the caller's user can enter."""
    from tempfile import mkdtemp

    return Path(mkdtemp(prefix=prefix))


class Child:
    """A running module of Python's; its stderr goes into the file *errors*."""

    def __init__(self, module: Sequence[str], env: Mapping[str, str], cwd: Path, errors: Path) -> None:
        from subprocess import DEVNULL, PIPE, Popen

        self._errors = errors
        with errors.open("wb") as file:
            self._process = Popen(
                [sys.executable, "-P", "-m", *module],
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=file,
                env=dict(env),
                cwd=cwd,
            )

    def first_line(self) -> str:
        """Return the first line on its stdout as soon as it is there; nothing where it ends without one."""
        line = b"" if self._process.stdout is None else self._process.stdout.readline()
        return line.decode("utf-8", "surrogateescape").rstrip("\r\n")

    def end(self, patience_s: float) -> int | None:
        """Return its exit status, ``None`` where it had to be ended after *patience_s*."""
        from subprocess import TimeoutExpired

        try:
            self._process.communicate(timeout=patience_s)
        except TimeoutExpired:
            self._process.terminate()
            self._process.communicate()
            return None
        return self._process.returncode

    def last_words(self) -> str:
        """Return the last line on its stderr."""
        return (
            read_end(self._errors, _LAST_WORDS_BYTES).decode("utf-8", "replace").strip().rpartition("\n")[2]
        )
