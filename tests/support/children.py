"""Python children of a test: started in the checkout, spoken to by lines, and ended with the test."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60


@contextmanager
def python(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Give a child that runs *script*, its stdin and stdout pipes of lines; killed and reaped at the end."""
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", script, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with child:
        try:
            yield child
        finally:
            child.kill()
            child.wait(PATIENCE_S)


def line_of(child: subprocess.Popen[str]) -> str:
    """Return the next line that *child* prints; empty where it ended without one."""
    assert child.stdout is not None
    return child.stdout.readline().rstrip("\n")


def tell(child: subprocess.Popen[str], line: str) -> None:
    """Send *line* to *child*."""
    assert child.stdin is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()
