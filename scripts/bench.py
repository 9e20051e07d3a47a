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


UNITS = (1, 100, 1_000, 10_000)
LOOKS = 15
WAKES = 30
WATCHED = 20


def _make_units(root: Path, count: int) -> list[Path]:
    """Return the state directories of *count* units of this process whose workers have spoken."""
    from prun.core.records import Owner, encode_owner
    from prun.system import process
    from prun.system.state_dir import StateDir

    owner, began = encode_owner(Owner(process.myself(), "bench")), f"{int(time.time())}\n".encode()
    made = []
    for number in range(count):
        state = StateDir(root / f"prun-task-00000000-u{number}-1-0000000000000000")
        state.root.mkdir(parents=True)
        state.timestamp.write_bytes(began)
        state.result_file.write_bytes(os.fsencode(root / f"u{number}.md") + b"\n")
        state.owner(1).write_bytes(owner)
        for path in (state.tail, state.stderr, state.log):
            path.write_bytes(b"something\n")
        made.append(state.root)
    return made


def _cpu_ms(act: Callable[[], object], times: int) -> float:
    seen = []
    for _ in range(times):
        began_s = time.process_time()
        act()
        seen.append(time.process_time() - began_s)
    return 1000 * statistics.median(seen)


def bench_look(root: Path) -> dict[str, Any]:
    """Return the CPU time of the first, a whole and a quick look at units that run."""
    from prun.core.status import Thresholds
    from prun.core.watch_settings import MonitorArguments, read_monitor_arguments
    from prun.flow.watching import Watch
    from prun.system.clock import SystemClock
    from prun.system.unit_look import moment

    clock, found = SystemClock(), {}

    def costs_ms(watch: Watch) -> dict[str, float]:
        def take(*, whole: bool) -> None:
            watch.take(moment(clock), whole=whole)

        return {
            "first_ms": _cpu_ms(lambda: take(whole=True), 1),
            "whole_ms": _cpu_ms(lambda: take(whole=True), LOOKS),
            "quick_ms": _cpu_ms(lambda: take(whole=False), LOOKS),
        }

    for count in UNITS:
        units = _make_units(root / str(count), count)
        arguments = read_monitor_arguments([str(path) for path in units])
        assert isinstance(arguments, MonitorArguments)
        costs = costs_ms(Watch(arguments, Thresholds(), root, clock, lambda *_: None))
        found[f"{count} units"] = {**costs, "whole_us_per_unit": 1000 * costs["whole_ms"] / count}
    by_unit = [found[f"{count} units"]["whole_us_per_unit"] for count in UNITS]
    found["ratio"] = {"by_unit_at_10000_to_1000": by_unit[3] / by_unit[2]}
    return found


def _watching(words: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRUN_")}
    command = [sys.executable, "-P", "-m", "prun.monitor", *words]
    return subprocess.Popen(command, env={**kept, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def bench_wake(root: Path) -> dict[str, Any]:
    """Return how long after a unit's outcome its monitor has ended, over thirty wakes."""
    from prun.core.outcome import Outcome
    from prun.core.records import encode_outcome

    outcome = encode_outcome(Outcome("u", 1, "completed", "ok", "", 0, "", "none", "", "gone", "", "", 0.0))
    seen = []
    for number in range(WAKES):
        (state,) = _make_units(root / str(number), 1)
        with _watching([str(state), "--follow"], {}) as monitor:
            assert monitor.stdout is not None
            while b"growing" not in monitor.stdout.readline():
                pass
            time.sleep(1 + number / WAKES)
            (state / "outcome.part").write_bytes(outcome)
            (state / "outcome.part").rename(state / "outcome.json")
            began_s = time.perf_counter()
            monitor.wait()
            seen.append(time.perf_counter() - began_s)
    seen.sort()
    p95_s = seen[-(-95 * WAKES // 100) - 1]
    return {
        "wake": {"p50_s": statistics.median(seen), "p95_s": p95_s, "max_s": seen[-1]},
        "ratio": {"p95_to_300_ms": p95_s / 0.3},
    }


def bench_watch_cpu(root: Path, seconds: float) -> dict[str, Any]:
    """Return the CPU time that a monitor of twenty growing units takes in *seconds* and in an hour."""
    states = _make_units(root, WATCHED)

    def used_s(timeout_s: float) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [str(state) for state in states]
        with _watching(words, {"PRUN_MONITOR_TIMEOUT": str(timeout_s)}) as monitor:
            while monitor.poll() is None:
                for state in states:
                    with (state / "tail").open("ab") as tail:
                        tail.write(b"more\n")
                time.sleep(0.5)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    start_s, whole_s = used_s(0), used_s(seconds)
    by_hour_s = (whole_s - start_s) * 3600 / seconds
    return {
        "start": {"cpu_s": start_s},
        f"{seconds:g} s": {"cpu_s": whole_s},
        "an hour": {"cpu_s": by_hour_s},
        "ratio": {"of_a_processor": by_hour_s / 3600},
    }


BENCHES: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "dispatch": lambda root, _: bench_dispatch(root),
    "verdict": lambda root, _: bench_verdict(root),
    "look": lambda root, _: bench_look(root),
    "wake": lambda root, _: bench_wake(root),
    "watch-cpu": lambda root, options: bench_watch_cpu(root, options.seconds),
}


def main() -> int:
    """Run the benchmarks that the command line names (default: all) and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", nargs="*", choices=[*BENCHES, []], help="which; all where none is named")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument("--seconds", type=float, default=60, help="how long watch-cpu watches (default: 60)")
    options = parser.parse_args()
    found = {}
    for name in options.bench or BENCHES:
        with tempfile.TemporaryDirectory(prefix="prun-bench-") as root:
            found[name] = BENCHES[name](Path(root), options)
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
