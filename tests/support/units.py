"""State directories as dispatchers leave them, made by hand so that a test decides what is in them."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prun.core.identity import Hold, HoldKind, Identity
from prun.core.outcome import Outcome
from prun.core.records import Owner, Worker, encode_outcome, encode_owner, encode_worker
from prun.core.timestamps import rfc3339
from prun.system import process
from prun.system.clock import SystemClock
from prun.system.state_dir import StateDir

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from prun.system.clock import Clock

OUTCOME = Outcome(
    unit="u1",
    attempt=1,
    verdict="completed",
    kind="ok",
    reason="Agy finished",
    exit_code=0,
    result_path="",
    result_author="response",
    model="gemini-3.8-flash-high",
    tree="gone",
    started_at="2026-01-02T03:04:05.000Z",
    ended_at="2026-01-02T03:04:06.000Z",
    duration_s=1.0,
    usage={"total_tokens": 1234},
    num_turns=2,
)
FAILED: dict[str, Any] = {
    "verdict": "failed",
    "kind": "quota",
    "reason": "the quota is used up",
    "exit_code": 70,
}
FALLBACK = b"# u1 result (FALLBACK, Agy wrote no final result)\nConclusion: INCOMPLETE; why\n"
ANSWER = b"# u1 result\nConclusion: the work is done.\n"


class Made:
    """A state directory made by hand, and its result; files are dated by *clock*, *age_s* before now."""

    def __init__(self, state: StateDir, result: Path, clock: Clock) -> None:
        self.state = state
        self.result = result
        self.clock = clock

    @property
    def path(self) -> str:
        """Where the directory is."""
        return str(self.state.root)

    @property
    def name(self) -> str:
        """What monitor calls it."""
        return self.state.root.name

    def put(self, path: Path, data: bytes, age_s: float = 0.0) -> None:
        """Make a file appear whole."""
        part = path.with_name(path.name + ".part")
        part.write_bytes(data)
        self.age(part, age_s)
        part.replace(path)

    def age(self, path: Path, age_s: float) -> None:
        """Set when *path* was last written."""
        at_s = self.clock.utc().timestamp() - age_s
        os.utime(path, (at_s, at_s))

    def says(self, data: bytes, age_s: float = 0.0) -> None:
        """Let the worker print *data*."""
        with self.state.tail.open("ab") as tail:
            tail.write(data)
        self.age(self.state.tail, age_s)

    def writes(self, data: bytes = ANSWER, age_s: float = 0.0) -> None:
        """Let the result appear."""
        self.put(self.result, data, age_s)

    def owned_by(self, identity: Identity, number: int = 1) -> None:
        """Put down who owns the unit."""
        self.put(self.state.owner(number), encode_owner(Owner(identity, "0.1.0")))

    def worked_by(self, identity: Identity) -> None:
        """Put down who works on the unit."""
        hold = Hold(HoldKind.SESSION, identity.pid)
        self.put(self.state.worker, encode_worker(Worker(identity, hold, "agy")))

    def ends(self, ended_at: datetime | None = None, **fields: Any) -> None:
        """Let the outcome appear."""
        when = rfc3339(self.clock.utc() if ended_at is None else ended_at)
        outcome = replace(OUTCOME, result_path=str(self.result), ended_at=when, **fields)
        self.put(self.state.outcome, encode_outcome(outcome))


def name_of(unit: str, number: int = 1) -> str:
    """Return what a dispatcher calls the state directory of *unit*; *number* is its pid."""
    return f"prun-task-0a1b2c3d-{unit}-{number}-0123456789abcdef"


def make_unit(root: Path, unit: str = "u1", *, clock: Clock | None = None, older: bool = False) -> Made:
    """Make the state directory of a unit below *root*, owned by this process; *older*: an older tool's."""
    clock = SystemClock() if clock is None else clock
    state = StateDir(root / name_of(unit))
    state.root.mkdir(parents=True)
    result = root.parent / "results" / f"{unit}.md"
    result.parent.mkdir(exist_ok=True)
    made = Made(state, result, clock)
    made.put(state.timestamp, f"{int(clock.utc().timestamp())}\n".encode())
    made.put(state.result_file, os.fsencode(result) + b"\n")
    made.put(state.dispatch_pid, f"{os.getpid()}\n".encode())
    if not older:
        made.owned_by(process.myself())
    return made


def nobody() -> Identity:
    """Return a process of another boot, which is proof of its death wherever boots can be told apart."""
    me = process.myself()
    return replace(me, pid=me.pid, start="1")
