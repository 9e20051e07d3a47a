"""The real processes that a worker starts: commands that it awaits, grandchildren that it leaves behind."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fake_agy.platforms import spawn_options

if TYPE_CHECKING:
    from fake_agy.steps import Spawn
    from fake_agy.waiting import Waiter

_SLEEPER = (
    "import signal,sys,time\n"
    "if sys.argv[2]=='1':\n"
    "  for n in ('SIGINT','SIGTERM','SIGHUP','SIGBREAK'):\n"
    "    hasattr(signal,n) and signal.signal(getattr(signal,n),signal.SIG_IGN)\n"
    "time.sleep(float(sys.argv[1]))"
)
_MIDDLE = (
    "import subprocess,sys\n"
    "streams=dict(stdin=subprocess.DEVNULL,stderr=subprocess.DEVNULL)\n"
    "print(subprocess.Popen(sys.argv[1:],**streams).pid,file=sys.stderr)"
)
GROUPS = ("same", "setsid", "double-fork")
_BARE = (sys.executable, "-I", "-S", "-c")


def run(command: list[str], waiter: Waiter, seconds: float) -> int | None:
    """Return the exit code of *command*, run in the working directory; ``None`` where it took too long."""
    import subprocess

    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2) as child:
        try:
            waiter.until(lambda: child.poll() is not None, seconds)
        finally:
            if child.poll() is None:
                child.kill()
    return child.returncode


def spawn(step: Spawn) -> int:
    """Return the pid of a new grandchild that lives on after this process."""
    import subprocess

    sleeper = [*_BARE, _SLEEPER, str(step.seconds), str(int(step.ignore_signals))]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL}
    if step.group != "double-fork":
        if not step.holds_stdout:
            streams.update(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        child = subprocess.Popen(sleeper, **streams, **spawn_options(step.group))
        child.returncode = 0  # left behind on purpose: nobody waits for it
        return child.pid
    return _double_fork(sleeper, holds_stdout=step.holds_stdout)


def _double_fork(sleeper: list[str], *, holds_stdout: bool) -> int:
    """Start *sleeper* through a short-lived middle process in a session of its own."""
    import subprocess

    with subprocess.Popen(
        [*_BARE, _MIDDLE, *sleeper],
        stdin=subprocess.DEVNULL,
        stdout=None if holds_stdout else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        **spawn_options("setsid"),
    ) as middle:
        told = b"" if middle.stderr is None else middle.stderr.readline()
    return int(told)
