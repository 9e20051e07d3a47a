"""Real processes for tests: small programs to launch, and the proof that none of them outlives its test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from prun.core.identity import HoldKind
from prun.system.clock import SystemClock
from prun.system.process import Launch, launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

    from prun.system.process import TreeEnd, Worker

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")
has_proc = pytest.mark.skipif(
    not hasattr(os, "fork") or not Path("/proc/self/stat").exists(), reason="needs Linux's /proc"
)
has_jobs = pytest.mark.skipif(not hasattr(sys, "getwindowsversion"), reason="needs Windows jobs")

KILL, STOP = (getattr(signal, name, 0) for name in ("SIGKILL", "SIGSTOP"))
DEADLINE_S = 60.0
_STEP_S = 0.01

SLEEPS = "import time; time.sleep(600)"
READY = """
with open(sys.argv[1] + '.part', 'w') as ready:
    ready.write(str(os.getpid()))
os.replace(sys.argv[1] + '.part', sys.argv[1])
"""
SAYS_READY_AND_SLEEPS = f"import os, sys, time\n{READY}time.sleep(600)"
IGNORES_TERM = f"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{READY}
time.sleep(600)
"""


class Stage:
    """A directory to launch from; at its end nothing lives that carries its tokens, and no child is left."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._before = {child.pid for child in psutil.Process().children()}
        self.tokens: list[str] = []
        self.out = place / "out"
        self.err = place / "err"
        (place / "in").touch()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        left = [process for token in self.tokens for process in carriers(token)]
        if sys.platform == "win32":  # a console's host goes a moment after its last client
            left = psutil.wait_procs(left, timeout=5)[1]
        named = [f"{process.pid} {_command(process)}" for process in left]
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=10)
        if kind is None:
            assert named == []
            assert {child.pid for child in psutil.Process().children()} <= self._before

    def launch(self, *argv: str, **changes: object) -> Launch:
        """Return what to launch, with a token of its own."""
        token = os.urandom(8).hex()
        self.tokens.append(token)
        values: dict[str, object] = {
            "argv": argv,
            "env": dict(os.environ),
            "cwd": str(self.place),
            "stdin": str(self.place / "in"),
            "stdout": str(self.out),
            "stderr": str(self.err),
            "session": HoldKind.SESSION,
            "token": token,
        }
        return Launch(**(values | changes))  # type: ignore[arg-type]  # named by the tests

    def python(self, code: str, *arguments: str, **changes: object) -> Launch:
        """Return a Python child to launch."""
        return self.launch(sys.executable, "-I", "-S", "-c", code, *arguments, **changes)

    def ready(self, name: str = "ready") -> int:
        """Return the pid that a child wrote into the file *name* once it is there."""
        path = self.place / name
        until(path.exists)
        return int(path.read_text(encoding="utf-8"))

    def at(self, name: str = "ready") -> str:
        """Return the path of *name* in this directory."""
        return str(self.place / name)


@contextmanager
def stranger(code: str, *arguments: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python child that is no worker, and end it."""
    argv = [sys.executable, "-I", "-S", "-c", code, *arguments]
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, **options)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def carriers(token: str) -> list[psutil.Process]:
    """Return the living processes that carry *token* in their environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get("PRUN_UNIT") == token and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def is_alive(pid: int) -> bool:
    """Return whether *pid* is there and no zombie."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def until(what: Callable[[], object]) -> None:
    """Return once *what* holds; fail after a minute."""
    end = time.monotonic() + DEADLINE_S
    while not what():
        assert time.monotonic() < end, "waited in vain"
        pause()


def pause() -> None:
    """Let other processes run for a moment."""
    time.sleep(_STEP_S)


def exit_of(worker: Worker) -> object:
    """Return how *worker* ended by itself."""
    ended = worker.wait(DEADLINE_S)
    assert ended is not None, "still runs"
    return ended


def run(what: Launch) -> tuple[object, TreeEnd]:
    """Return how a launched worker exits by itself, and the end of its tree."""
    worker = launch(what).start()
    ended = exit_of(worker)
    return ended, worker.end(5.0, SystemClock())


def _command(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return "?"
