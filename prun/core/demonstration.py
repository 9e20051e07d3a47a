"""The units of the demo, what has to become of each, and the table that says what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.outcome import Author, Kind, Verdict
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prun.core.outcome import Outcome

OURS = ("ANTIGRAVITY_", "FAKE_AGY_", "PRUN_", "AGY_")
HEAD = ("unit", "shows", "verdict", "kind", "exit", "model", "time", "tokens", "look at")


@dataclass(frozen=True, slots=True)
class Case:
    """One unit of the demo and what has to become of it; *scenario* is what the stand-in acts out."""

    unit: str
    shows: str
    prompt: str
    kind: str = Kind.OK
    exit_code: int = 0
    author: str = Author.RESPONSE
    scenario: str = ""
    timeout_s: int = 60


@dataclass(frozen=True, slots=True)
class Ended:
    """A unit whose dispatcher has ended: its status, its last words, its outcome, where to look at it."""

    case: Case
    exit_code: int | None
    last_words: str
    outcome: Outcome | None = None
    look_at: str = "?"


REHEARSAL = (
    Case("answers", "tools, then an answer", "Count the modules here.", scenario="ok_with_tools"),
    Case(
        "writes-itself",
        "worker writes the result file",
        "Write your findings down.",
        author=Author.WORKER,
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


def rehearsal_env(inherited: Mapping[str, str], base: str, case: Case, agy: str) -> dict[str, str]:
    """Return the environment of a rehearsed dispatch: nothing that the caller set for real ones gets in."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(OURS)}
    return {
        **kept,
        "ANTIGRAVITY_BIN": agy,
        "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": str(case.timeout_s),
        "FAKE_AGY_HOME": f"{base}/accounts/{case.unit}",
        "PRUN_REAP_GRACE_SECONDS": "1",
        "PRUN_STATE_ROOT": f"{base}/state",
        # What prun remembers of this agy is of no use to anybody later.
        "XDG_CACHE_HOME": f"{base}/remembered",
        "XDG_STATE_HOME": f"{base}/remembered",
    }


def complaint(ended: Ended) -> str | None:
    """Return what is not as expected about a unit, ``None`` where everything is."""
    case, outcome = ended.case, ended.outcome
    if outcome is None:
        return f"{case.unit}: no outcome, exit status {ended.exit_code}: {ended.last_words or 'silent'}"
    verdict = Verdict.COMPLETED if case.kind == Kind.OK else Verdict.FAILED
    checks = (
        ("verdict", outcome.verdict, verdict.value),
        ("kind", outcome.kind, str(case.kind)),
        ("result_author", outcome.result_author, str(case.author)),
        ("exit_code", outcome.exit_code, case.exit_code),
        ("exit status", ended.exit_code, case.exit_code),
    )
    wrong = [f"{name} is {seen!r}, not {want!r}" for name, seen, want in checks if seen != want]
    return f"{case.unit}: {', '.join(wrong)} ({outcome.reason})" if wrong else None


def row(ended: Ended) -> tuple[str, ...]:
    """Return the table's line of one unit."""
    outcome = ended.outcome
    exit_code = "?" if ended.exit_code is None else str(ended.exit_code)
    if outcome is None:
        return (ended.case.unit, ended.case.shows, "?", "?", exit_code, "?", "?", "-", ended.look_at)
    tokens = (outcome.usage or {}).get("total_tokens")
    return (
        ended.case.unit,
        ended.case.shows,
        outcome.verdict,
        outcome.kind,
        exit_code,
        outcome.model,
        f"{outcome.duration_s:.1f} s",
        str(tokens) if tokens else "-",
        ended.look_at,
    )


def table(rows: list[tuple[str, ...]]) -> str:
    """Return *rows* under their heads, each column as wide as its widest cell."""
    lines = [HEAD, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
