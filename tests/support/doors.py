"""Monitor and gather as processes: run to their end, or listened to line by line while they watch."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.support.lab import Lab

DEADLINE_S = 60
QUICK = {
    "PRUN_MONITOR_POLL": "0.2",
    "PRUN_MONITOR_STABLE_WINDOW": "0.2",
    "PRUN_GATHER_POLL": "0.2",
    "PRUN_GATHER_STABLE_WINDOW": "0.2",
}


@dataclass(frozen=True, slots=True)
class Told:
    """What a door that has ended said."""

    code: int
    lines: list[str]
    stderr: str

    @property
    def event(self) -> str:
        """The event of a monitor."""
        (event,) = [line for line in self.lines if line.startswith("MONITOR-EVENT ")]
        return event.removeprefix("MONITOR-EVENT ")

    @property
    def statuses(self) -> list[str]:
        """How the units stood at the end of a monitor."""
        at = self.lines.index(f"MONITOR-EVENT {self.event}")
        return [line.split(" ")[-1] for line in self.lines[at + 1 :]]


class Listening:
    """A door that still runs; its lines can be waited for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[str] = []

    def line(self) -> str:
        """Return its next line."""
        assert self.process.stdout is not None
        data = self.process.stdout.readline()
        assert data, self.process.communicate(timeout=DEADLINE_S)
        self.lines.append(data.decode("utf-8").rstrip("\r\n"))
        return self.lines[-1]

    def until(self, part: str) -> str:
        """Return the next line with *part* in it."""
        while part not in self.line():
            pass
        return self.lines[-1]

    def end(self) -> Told:
        """Return what it said when it has ended by itself."""
        stdout, stderr = self.process.communicate(timeout=DEADLINE_S)
        lines = self.lines + (stdout or b"").decode("utf-8").splitlines()
        return Told(self.process.returncode, lines, (stderr or b"").decode("utf-8", "replace"))


def door(
    lab: Lab, name: str, *words: str | Path, env: Mapping[str, str | None] | None = None, **popen: Any
) -> Listening:
    """Start the door *name* from the caller's directory, with short polls unless *env* says otherwise."""
    command = [sys.executable, "-P", "-m", f"prun.{name}", *map(str, words)]
    return Listening(lab.command(command, env={**QUICK, **(env or {})}, **popen))


def monitor(lab: Lab, *words: str | Path, env: Mapping[str, str | None] | None = None, **popen: Any) -> Told:
    """Return what a monitor said that has ended."""
    return door(lab, "monitor", *words, env=env, **popen).end()


def gather(lab: Lab, *words: str | Path, env: Mapping[str, str | None] | None = None, **popen: Any) -> Told:
    """Return what a gather said that has ended."""
    return door(lab, "gather", *words, env=env, **popen).end()


@contextmanager
def unread() -> Iterator[int]:
    """Give the writing end of a pipe that nobody reads any more."""
    theirs, ours = os.pipe()
    os.close(theirs)
    yield ours
    with suppress(OSError):
        os.close(ours)


def check_silent(told: Told) -> None:
    """Assert that nothing was said that is meant for a programmer."""
    assert "Traceback" not in told.stderr
    assert "Exception ignored" not in told.stderr
    assert "Error" not in told.stderr
