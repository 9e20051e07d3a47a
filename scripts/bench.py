"""What prun costs, side by side with what it is held against, in one run; ratios are what to compare."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform != "win32", (
    "the benchmarks ask the system for what children used, as POSIX systems tell it"
)

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 15
MEBIBYTE = 1024 * 1024
INSTANT_AGY = """\
#!/bin/sh
case "$1" in
  --version) echo 1.3.5 ;;
  models) printf 'gemini-3.8-flash-high\\tGemini 3.8 Flash (High)\\n' ;;
  *) printf '%s\\n' \
    '{"event":"init","conversation_id":"bench-'$$'","init":{"model":"gemini-3.8-flash"}}' \
    '{"event":"result","result":{"status":"SUCCESS","response":"An answer that is long enough to count."}}' ;;
esac
"""


@dataclass(frozen=True)
class Cost:
    """Medians of one command: wall and CPU seconds, its children's included."""

    wall_s: float
    cpu_s: float


def measure(
    commands: dict[str, Callable[[int], list[str]]], env: dict[str, str], cwd: Path
) -> dict[str, Cost]:
    """Return the cost of each command, run in turn so that a busy machine is as busy for each."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for nth in range(ROUNDS + 1):
        for name, command in commands.items():
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run(
                command(nth), env=env, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL
            )
            wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if nth:  # the first round warms caches
                seen[name].append((wall_s, cpu_s))
    return {
        name: Cost(statistics.median(wall for wall, _ in runs), statistics.median(cpu for _, cpu in runs))
        for name, runs in seen.items()
    }


def bench_dispatch(root: Path) -> dict[str, Any]:
    """Return what one dispatch with an instant worker and warm facts costs, against importing psutil.

    Told apart: on this disk, which every dispatch waits for (records are flushed), and in memory.
    """
    found = _dispatch_costs(root)
    memory = Path("/dev/shm")  # noqa: S108 - a file system in memory, where the system has one
    if memory.is_dir():
        with tempfile.TemporaryDirectory(prefix="prun-bench-", dir=memory) as other:
            found |= {f"{name}, in memory": values for name, values in _dispatch_costs(Path(other)).items()}
    return found


def _dispatch_costs(root: Path) -> dict[str, Any]:
    agy = root / "agy"
    agy.write_text(INSTANT_AGY, encoding="utf-8")
    agy.chmod(0o755)
    (root / "prompt.md").write_text("Do the work.\n", encoding="utf-8")
    env = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PRUN_", "ANTIGRAVITY_"))
        },
        "ANTIGRAVITY_BIN": str(agy),
        "PRUN_STATE_ROOT": str(root / "state"),
        "XDG_CACHE_HOME": str(root / "cache"),
        "XDG_STATE_HOME": str(root / "private"),
    }

    def dispatch(nth: int) -> list[str]:
        options = ["--prompt-file", "prompt.md", "--result-file", f"results/{nth}.md", "--unit-id", f"u{nth}"]
        return [sys.executable, "-P", "-m", "prun.dispatch", *options]

    costs = measure(
        {"import psutil": lambda _: [sys.executable, "-c", "import psutil"], "dispatch": dispatch}, env, root
    )
    bare, whole = costs["import psutil"], costs["dispatch"]
    return {
        "import_psutil": {"wall_s": bare.wall_s, "cpu_s": bare.cpu_s},
        "dispatch": {"wall_s": whole.wall_s, "cpu_s": whole.cpu_s},
        "ratio": {"wall": whole.wall_s / bare.wall_s, "cpu": whole.cpu_s / bare.cpu_s},
    }


JUDGE = """\
import resource, sys
from prun.core.transcript import Reader

def peak_bytes():
    if sys.platform == "linux":  # the resource module would count what was used before this program began
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def cpu_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

began_s, bare_bytes = cpu_s(), peak_bytes()
reader = Reader()
with open(sys.argv[1], "rb") as tail:
    while chunk := tail.read(256 * 1024):
        reader.feed(chunk)
reader.finish()
assert reader.transcript().response is not None
print(cpu_s() - began_s, peak_bytes() - bare_bytes)
"""


def _tails(root: Path, size_bytes: int) -> dict[str, Path]:
    """Return tails of *size_bytes* of several shapes, each with a result at its end."""
    result = b'{"event":"result","result":{"status":"SUCCESS","response":"An answer that is long enough."}}\n'
    step = (
        '{"event":"step_update","step_update":{"conversation_id":"c","step_index":4,"state":"%s",'
        '"step_type":"%s","text_delta":"%s"}}\n'
    )
    shapes = {
        "small answer deltas": (step % ("ACTIVE", "agent_response", "some words " * 20)).encode(),
        "tool output of 1 MiB": (step % ("DONE", "tool", "x" * MEBIBYTE)).encode(),
        "lines of nearly 16 MiB": (step % ("DONE", "tool", "y" * (16 * MEBIBYTE - 400))).encode(),
        "noise": b"not an event, only a line of a log that got into the wrong stream\n",
    }
    paths = {}
    for name, line in shapes.items():
        paths[name] = root / (name.replace(" ", "-") + ".tail")
        with paths[name].open("wb") as file:
            for _ in range(size_bytes // len(line)):
                file.write(line)
            file.write(result)
    return paths


def bench_verdict(root: Path) -> dict[str, Any]:
    """Return what reading a tail of 100 MiB to a verdict costs: CPU, and memory above Python's own."""
    found = {}
    for name, path in _tails(root, 100 * MEBIBYTE).items():
        ran = subprocess.run(
            [sys.executable, "-P", "-c", JUDGE, path], check=True, capture_output=True, text=True
        )
        cpu_s, memory_bytes = (float(word) for word in ran.stdout.split())
        found[name] = {"cpu_s": cpu_s, "memory_mib": memory_bytes / MEBIBYTE}
        path.unlink()
    return found


BENCHES = {"dispatch": bench_dispatch, "verdict": bench_verdict}


def main() -> int:
    """Run the benchmarks that the command line names (default: all) and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", nargs="*", choices=[*BENCHES, []], help="which; all where none is named")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args()
    found = {}
    for name in options.bench or BENCHES:
        with tempfile.TemporaryDirectory(prefix="prun-bench-") as root:
            found[name] = BENCHES[name](Path(root))
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    for name, figures in found.items():
        print(name)
        for what, values in figures.items():
            shown = "  ".join(f"{key}={value:.3f}" for key, value in values.items())
            print(f"  {what:<24} {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
