"""Workers that flood: their units end as they should, in bounded memory, and a flood without end is ended."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import can_fork, has_proc, pause
from tests.support.scenes import ANSWER, do, failed, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.lab import Lab

MIB = 1024 * 1024
ALLOWED_BYTES = 60 * MIB
PATIENCE_S = 60
# Grows by holes, which take no room on the disk, as fast as anything can grow.
GROWS = """
import itertools, signal, time
print('begun', flush=True)
print('error: begun', file=sys.stderr, flush=True)
for step in itertools.count(1):
    os.ftruncate(1, min(step * (64 << 20), 4 << 40))
    os.ftruncate(2, min(step * (64 << 20), 4 << 40))
    time.sleep(0.001)
"""


def peak_bytes(pid: int) -> int:
    """Return the most memory that *pid* has had in use, 0 where that can't be read any more."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def highest_of(process: subprocess.Popen[bytes]) -> int:
    """Return the peak of *process*, watched to its end."""
    highest = 0
    while process.poll() is None:
        highest = max(highest, peak_bytes(process.pid))
        pause()
    return highest


def bare_interpreter() -> int:
    """Return the peak of a Python that does nothing."""
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        highest = 0
        while (now := peak_bytes(process.pid)) > highest:
            highest = now
            pause()
        process.stdin.write(b"\n")
    return highest


FLOODS = {
    "one endless line and many lines": [do("flood", size=70 * MIB), do("flood", size=50 * MIB, width=4000)],
    "lines that just fit": [do("flood", size=15 * MIB)] * 8,
    "an answer as long as a line may be": [say("a" * 5 * MIB)] * 3,
    "stderr and log": [
        do("flood", size=60 * MIB, width=3000, to="stderr"),
        do("flood", size=60 * MIB, to="stderr"),
        do("flood", size=20 * MIB, to="log"),
    ],
}


@has_proc
@pytest.mark.parametrize("what", FLOODS)
def test_a_flood_is_read_in_bounded_memory(what: str, lab: Lab) -> None:
    lab.plays(*FLOODS[what], say(), do("result"), preflight="auto")
    dispatcher = lab.start(stderr=subprocess.DEVNULL)
    peak, bare = highest_of(dispatcher), bare_interpreter()
    run = lab.finish(dispatcher)
    outcome = run.outcome
    sys.stdout.write(
        f"{what}: {(peak - bare) / MIB:.1f} MiB above a bare interpreter, {outcome['duration_s']} s\n"
    )
    assert (run.code, outcome["kind"]) == (0, "ok"), outcome
    assert run.document.endswith(ANSWER + "\n")
    assert bare < peak < bare + ALLOWED_BYTES


def steps_of(size_mib: int) -> Sequence[dict[str, object]]:
    return [do("flood", size=size_mib * MIB // 2), do("flood", size=size_mib * MIB // 2, width=500)]


@has_proc
def test_memory_does_not_grow_with_the_tail(lab: Lab) -> None:
    peaks = []
    for number, size_mib in enumerate((16, 96), start=1):
        lab.plays(*steps_of(size_mib), failed("no"))
        dispatcher = lab.start(f"u{number}", stderr=subprocess.DEVNULL)
        peaks.append(highest_of(dispatcher))
        run = lab.finish(dispatcher, f"u{number}")
        assert run.outcome["kind"] == "error"
        assert (run.state / "tail").stat().st_size >= size_mib * MIB
    assert peaks[1] < peaks[0] + 24 * MIB


@can_fork
def test_a_worker_that_floods_without_end_is_ended_at_the_hard_deadline(lab: Lab) -> None:
    lab.program(GROWS)
    limits = {"ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": "1", "PRUN_REAP_GRACE_SECONDS": "0"}
    run = lab.dispatch(env={**limits, "ANTIGRAVITY_PREFLIGHT": "off"})
    outcome = run.outcome
    assert (run.code, outcome["kind"], outcome["tree"]) == (124, "timeout", "gone")
    assert (run.state / "tail").stat().st_size > 1024 * MIB
    assert run.result.stat().st_size < MIB * 2
