"""Runs a few units at once through prun's dispatcher, then prints a table of what became of each.

Run it as `python3 scripts/bootstrap.py demo`: that makes the environment which this needs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXIT_UNEXPECTED = 1
EXIT_USAGE = 2
EXIT_FAILED = 70
PATIENCE_S = 120
REAL_PATIENCE_S = 900
OURS = ("ANTIGRAVITY_", "FAKE_AGY_", "PRUN_", "AGY_")
INSTALL_AGY = (
    "demo: there is no `agy` on PATH. Install the Antigravity CLI (https://antigravity.google/docs/cli), run "
    "`agy` once to sign in, then try again; without --real the embedded stand-in takes its place."
)


@dataclass(frozen=True)
class Case:
    """One unit of the demo and what has to become of it; *scenario* is what the stand-in acts out."""

    unit: str
    shows: str
    prompt: str
    kind: str = "ok"
    exit_code: int = 0
    author: str = "response"
    scenario: str = ""
    timeout_s: int = 60

    @property
    def expected(self) -> dict[str, Any]:
        """What the outcome has to say, and the dispatcher's exit status."""
        return {
            "verdict": "completed" if self.kind == "ok" else "failed",
            "kind": self.kind,
            "result_author": self.author,
            "exit_code": self.exit_code,
            "exit status": self.exit_code,
        }


@dataclass(frozen=True)
class Ended:
    """A unit whose dispatcher has ended: its status, its last words, where its records are, its outcome."""

    case: Case
    exit_code: int | None
    last_words: str
    state_dir: Path | None = None
    outcome: dict[str, Any] | None = None


REHEARSAL = (
    Case("answers", "tools, then an answer", "Count the modules here.", scenario="ok_with_tools"),
    Case(
        "writes-itself",
        "worker writes the result file",
        "Write your findings down.",
        author="worker",
        scenario="worker_writes_result",
    ),
    Case("out-of-quota", "the quota is used up", "Summarise it.", "quota", 3, "fallback", "quota"),
    Case("hangs", "no answer ever, reaped", "Think.", "timeout", 124, "fallback", "hang_after_init", 4),
    Case("denied", "a tool was refused", "Delete the rest.", "denied", 70, "fallback", "denied"),
    Case("too-short", "an answer of no substance", "Explain it.", "short", 70, "fallback", "short"),
)
REAL = (
    Case("says-hello", "an answer", "Say hello in one sentence of at least ten words.", timeout_s=300),
    Case("counts", "an answer", "Name the first twelve prime numbers, on one line.", timeout_s=300),
    Case("explains", "an answer", "Say in one sentence what a process group is.", timeout_s=300),
)


def environment(inherited: dict[str, str], base: Path, case: Case, agy: Path) -> dict[str, str]:
    """Return the environment of a rehearsed dispatch: nothing that the caller set for real ones gets in."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(OURS)}
    return {
        **kept,
        "ANTIGRAVITY_BIN": str(agy),
        "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": str(case.timeout_s),
        "FAKE_AGY_HOME": str(base / "accounts" / case.unit),
        "PRUN_REAP_GRACE_SECONDS": "1",
        "PRUN_STATE_ROOT": str(base / "state"),
        # What prun remembers of this agy is of no use to anybody later.
        "XDG_CACHE_HOME": str(base / "remembered"),
        "XDG_STATE_HOME": str(base / "remembered"),
    }


def fake(*arguments: str) -> None:
    """Run the stand-in's own command with *arguments*; it is a program to us, not a module."""
    command = [sys.executable, "-P", "-m", "fake_agy", *arguments]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def stand_in(base: Path, cases: tuple[Case, ...]) -> Path:
    """Return the path of a stand-in `agy`, with an account of its own for each case."""
    fake("install", str(base / "bin"))
    for case in cases:
        fake("init", str(base / "accounts" / case.unit), "--scenario", case.scenario)
    return base / "bin" / ("agy.exe" if sys.platform == "win32" else "agy")


def start(base: Path, case: Case, env: dict[str, str], mode: str) -> subprocess.Popen[bytes]:
    """Start the dispatcher of *case*; what it prints goes to files in *base*."""
    prompt = base / "prompts" / f"{case.unit}.md"
    prompt.write_text(case.prompt + "\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "prun.dispatch", "--unit-id", case.unit, "--mode", mode]
    command += ["--prompt-file", str(prompt), "--result-file", str(base / "results" / f"{case.unit}.md")]
    printed = base / "printed"
    with (printed / f"{case.unit}.out").open("wb") as out, (printed / f"{case.unit}.err").open("wb") as err:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=base)


def finish(base: Path, case: Case, dispatcher: subprocess.Popen[bytes], patience_s: float) -> Ended:
    """Return how *case* ended, from its dispatcher's status and from its state directory alone."""
    try:
        exit_code: int | None = dispatcher.wait(patience_s)
    except subprocess.TimeoutExpired:
        dispatcher.terminate()
        dispatcher.wait()
        exit_code = None
    out, err = (base / "printed" / f"{case.unit}.{name}" for name in ("out", "err"))
    last_words = err.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
    word, _, path = out.read_text(encoding="utf-8").partition("\n")[0].partition(" ")
    if word != "STATE-DIR":
        return Ended(case, exit_code, last_words)
    try:
        outcome = json.loads(Path(path, "outcome.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        outcome = None
    return Ended(case, exit_code, last_words, Path(path), outcome)


def complaint(ended: Ended) -> str | None:
    """Return what is not as expected about a unit, ``None`` where everything is."""
    if ended.outcome is None:
        return f"{ended.case.unit}: no outcome, exit status {ended.exit_code}: {ended.last_words or 'silent'}"
    seen = {**ended.outcome, "exit status": ended.exit_code}
    expected = ended.case.expected.items()
    wrong = [
        f"{name} is {seen.get(name)!r}, not {want!r}" for name, want in expected if seen.get(name) != want
    ]
    return f"{ended.case.unit}: {', '.join(wrong)} ({seen.get('reason')})" if wrong else None


def row(base: Path, ended: Ended) -> tuple[str, ...]:
    """Return the table's line of one unit; what to look at is named from *base*."""
    outcome = ended.outcome or {}
    usage = outcome.get("usage") or {}
    tokens = usage.get("total_tokens")
    duration = outcome.get("duration_s")
    completed = outcome.get("verdict") == "completed"
    place = Path(outcome["result_path"]) if completed else ended.state_dir
    return (
        ended.case.unit,
        ended.case.shows,
        str(outcome.get("verdict", "?")),
        str(outcome.get("kind", "?")),
        "?" if ended.exit_code is None else str(ended.exit_code),
        str(outcome.get("model", "?")),
        f"{duration:.1f} s" if isinstance(duration, int | float) else "?",
        str(tokens) if tokens else "-",
        "?" if place is None else os.path.relpath(place, base),
    )


HEAD = ("unit", "shows", "verdict", "kind", "exit", "model", "time", "tokens", "look at")


def table(rows: list[tuple[str, ...]]) -> str:
    """Return *rows* under their heads, each column as wide as its widest cell."""
    lines = [HEAD, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def run(base: Path, cases: tuple[Case, ...], envs: list[dict[str, str]], mode: str, patience_s: float) -> int:
    """Return 0 where every unit ended as expected; prints the table and says so."""
    for name in ("prompts", "results", "printed"):
        (base / name).mkdir()
    running = [start(base, case, env, mode) for case, env in zip(cases, envs, strict=True)]
    ended = [finish(base, case, process, patience_s) for case, process in zip(cases, running, strict=True)]
    print(table([row(base, unit) for unit in ended]))
    print(f"\nlook under {base} (yours to delete)")
    complaints = [text for text in map(complaint, ended) if text is not None]
    for text in complaints:
        print(f"not as expected: {text}")
    if complaints:
        return EXIT_UNEXPECTED
    print(f"{len(ended)} of {len(cases)} units accounted for, each as expected.")
    return 0


def rehearse(base: Path) -> int:
    """Return the status of six units against the stand-in; no account, no network."""
    print(f"{len(REHEARSAL)} units at once against the embedded stand-in for agy\n", flush=True)
    agy = stand_in(base, REHEARSAL)
    envs = [environment(dict(os.environ), base, case, agy) for case in REHEARSAL]
    return run(base, REHEARSAL, envs, "accept-edits", PATIENCE_S)


def perform(base: Path) -> int:
    """Return the status of three harmless units against the real agy, in plan mode."""
    print(f"{len(REAL)} small units at once against agy, in plan mode; they use a little quota\n", flush=True)
    limits = {
        "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": str(REAL[0].timeout_s),
        "PRUN_STATE_ROOT": str(base / "state"),
    }
    envs = [{**os.environ, **limits} for _ in REAL]
    return run(base, REAL, envs, "plan", REAL_PATIENCE_S)


def main(argv: list[str]) -> int:
    """Return the exit status of the demo that *argv* asks for."""
    if argv not in ([], ["--real"]):
        print("usage: bootstrap.py demo [--real]", file=sys.stderr)
        return EXIT_USAGE
    if argv and shutil.which(os.environ.get("ANTIGRAVITY_BIN") or "agy") is None:
        print(INSTALL_AGY, file=sys.stderr)
        return EXIT_FAILED
    base = Path(tempfile.mkdtemp(prefix="prun-demo-"))
    (base / "state").mkdir()
    try:
        return perform(base) if argv else rehearse(base)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"demo: can't run it in {base}: {error}", file=sys.stderr)
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
