"""The values and interfaces that every system's process code shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prun.core.errors import LaunchError, PrunError
from prun.core.plain import one_line, visible
from prun.core.values import dataclass

if TYPE_CHECKING:
    from prun.core.identity import Hold, HoldKind, Identity
    from prun.core.outcome import TreeState
    from prun.system.clock import Clock

UNIT_VARIABLE = "PRUN_UNIT"
KILL_S = 5.0
SETTLE_S = 0.25
_NAME_CHARACTERS = 48


class TargetError(PrunError):
    """A record names a process that prun never ends: itself, what it stands on, or no process at all."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start: absolute *argv[0]*, its whole environment, its directory, the files of its streams.

    *stdin* is read; *stdout* and *stderr* are appended to, and created for their owner only. *session* is
    ``SESSION`` or ``GROUP`` (Windows: always a job). *token* becomes the child's ``PRUN_UNIT``.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    stdin: str
    stdout: str
    stderr: str
    session: HoldKind
    token: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: an exit *code*, a *signal*, or neither where nobody could see it."""

    code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True)
class TreeEnd:
    """The end of a worker's tree; processes are named ``name (pid)``.

    *survivors* can't be proved gone; *leftovers* still ran after the worker had exited by itself.
    """

    ended: Ended | None
    state: TreeState
    survivors: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()


class Worker(Protocol):
    """A process whose program was started, and all that it starts, until its end."""

    @property
    def identity(self) -> Identity:
        """Who the worker is."""

    def wait(self, timeout_s: float) -> Ended | None:
        """Return how the worker ended, or ``None`` after *timeout_s*; it is not reaped by this."""

    def collect(self) -> None:
        """Note the worker's descendants while it can still be seen whose they are."""

    def end(self, grace_s: float, clock: Clock) -> TreeEnd:
        """End the whole tree, prove it gone, and only then reap the worker.

        Asks first and waits up to *grace_s* (Windows can't ask), then kills. Of a worker that has exited
        by itself only what it left behind is ended. A second call returns the first one's answer.
        """

    def leave(self) -> TreeEnd:
        """Reap a worker that has exited by itself and end nothing; what it left behind is named."""


class Held(Protocol):
    """A process that exists but whose program was not started."""

    @property
    def identity(self) -> Identity:
        """Who the worker will be."""

    @property
    def held(self) -> Hold:
        """How its tree is held, for whoever has to end it later."""

    def start(self) -> Worker:
        """Let the program run; raise ``LaunchError`` where the system can't run it."""

    def abandon(self) -> None:
        """End the process; its program never runs."""


def cannot_run(program: str, why: object) -> LaunchError:
    """Return the error that *program* can't be run and *why*, in one line."""
    return LaunchError(visible(f"cannot run {program}: {why}"))


def label(name: str, pid: int) -> str:
    """Return a process as people are shown it: a bounded, printable name and its pid."""
    return f"{one_line(name, _NAME_CHARACTERS) or '?'} ({pid})"
