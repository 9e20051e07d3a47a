"""Running a small program to its end: no input, a deadline, and nothing of it left running."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from prun.core.errors import LaunchError
from prun.core.identity import HoldKind
from prun.core.plain import visible
from prun.core.values import dataclass
from prun.system import process
from prun.system.clock import SystemClock
from prun.system.reading import read_start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prun.system.clock import Clock
    from prun.system.process import Ended, Worker

OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Finished:
    """The program exited; a negative *code* is the signal that it died of."""

    code: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class CutShort:
    """The program was ended: its time was up or, where not *timed_out*, its output had no end."""

    timed_out: bool
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The program could not be run, and why, with its name in the sentence."""

    reason: str


Ran: TypeAlias = Finished | CutShort | NotStarted


def run_program(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, timeout_s: float, clock: Clock
) -> Ran:
    """Return how the program *argv* ended and what it printed, after all that it started was ended too.

    Its output goes to files, so that a descendant which keeps them open holds nobody up. The *clock*
    sleeps at least ten times a second: an exception from there ends the program and passes through.
    """
    from tempfile import TemporaryDirectory

    try:
        scratch = TemporaryDirectory(prefix="prun-", ignore_cleanup_errors=True)
    except OSError as error:
        return NotStarted(
            f"cannot run {visible(argv[0])}: no place for its output: {error.strerror or error}"
        )
    with scratch as place:
        outputs = Path(place, "stdout"), Path(place, "stderr")
        what = process.Launch(
            argv=tuple(argv),
            env=dict(env),
            cwd=str(cwd),
            stdin=os.devnull,
            stdout=str(outputs[0]),
            stderr=str(outputs[1]),
            session=HoldKind.SESSION,
            token=os.urandom(8).hex(),
        )
        try:
            worker = process.launch(what).start()
        except LaunchError as error:
            return NotStarted(str(error))
        try:
            ended = _watched(worker, outputs, timeout_s, clock)
        finally:
            worker.end(0.0, SystemClock())
        stdout, stderr = (read_start(path, OUTPUT_LIMIT_BYTES) for path in outputs)
        if isinstance(ended, CutShort):
            return CutShort(ended.timed_out, stdout, stderr)
        return Finished(-ended.signal if ended.signal else ended.code or 0, stdout, stderr)


def _watched(worker: Worker, outputs: tuple[Path, Path], timeout_s: float, clock: Clock) -> Ended | CutShort:
    deadline_s = clock.monotonic() + timeout_s
    while True:
        left_s = deadline_s - clock.monotonic()
        ended = worker.wait(max(0.0, min(left_s, _LOOK_S)))
        if ended is not None:
            return ended
        if left_s <= 0:
            return CutShort(timed_out=True, stdout=b"", stderr=b"")
        if sum(path.stat().st_size for path in outputs) > OUTPUT_LIMIT_BYTES:
            return CutShort(timed_out=False, stdout=b"", stderr=b"")
        clock.sleep(0.0)
