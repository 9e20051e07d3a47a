"""agy's log is told by its messages: stated errors count, quoted ones and noise do not."""

from __future__ import annotations

import pytest

from prun.core.agy_log import LogFindings, LogReader
from prun.core.outcome import Kind

STOP = "RESOURCE_EXHAUSTED (code 429): Individual quota reached. Please upgrade. Resets in 34m7s."
BUSY = "UNAVAILABLE (code 503): The service is currently unavailable."
OLD_PREFIX = "ERROR: logging before google.Init: "


def line(message: str, level: str = "E", place: str = "log.go:398") -> str:
    return f"{level}0710 16:10:20.298253 10 {place}] {message}"


def found_in(*lines: str) -> LogFindings:
    reader = LogReader()
    reader.feed("".join(f"{text}\n" for text in lines).encode())
    reader.finish()
    return reader.found


def kinds(found: LogFindings) -> list[Kind]:
    return [failure.kind for failure in found.failures]


@pytest.mark.parametrize(
    ("text", "reset_s"),
    [
        (line(f"agent executor error: {STOP}"), 2047.0),
        (line(f"Run: attempt 1 failed ({STOP}), retrying in 1s", "I", "run.go:371"), 2047.0),
        (line(f"agent executor error: calling model: {STOP}", "E", "other_file.go:1"), 2047.0),
        (line(f"API error (attempt 5): {STOP}", "W"), 2047.0),
        (line("agent executor error: Individual quota reached. Resets in ~2h"), 7200.0),
        (OLD_PREFIX + line(STOP), 2047.0),
        ("\ufeff" + line(STOP) + "\r", 2047.0),
        (f"E0827 06:00:01 12345 errorreport.go:223] {STOP}", 2047.0),
    ],
    ids=["final", "retried", "wrapped", "attempt", "bare", "before 1.2.0", "mark and cr", "no fraction"],
)
def test_a_stated_quota_stop_with_a_reset_is_in_force(text: str, reset_s: float) -> None:
    found = found_in(text)
    assert found.quota_stop is not None
    assert found.quota_stop.reset_s == reset_s
    assert kinds(found) == [Kind.QUOTA]


@pytest.mark.parametrize(
    "text",
    [
        STOP,
        "  " + line(STOP),
        line(f'run_command: "grep {STOP}"'),
        line(f"tool call: {{CommandLine: grep {STOP}}}"),
        line(f'Print mode: starting (promptLength=42, prompt="{STOP}")', "I"),
        line(f"read /tmp/notes.md: {STOP}"),
        line("RESOURCE_EXHAUSTED (code 429): Resource has been exhausted (e.g. check quota)."),
        line("agent executor error: Individual quota reached."),
        line(f"agent executor error: the page says <{STOP}>"),
    ],
    ids=[
        "no header",
        "indented",
        "quoted in a command",
        "quoted in an object",
        "quoted in the prompt",
        "read from a file",
        "per minute",
        "no reset",
        "quoted in an error",
    ],
)
def test_no_quota_stop_is_in_force(text: str) -> None:
    assert found_in(text).quota_stop is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (f"agent executor error: {BUSY}", [Kind.CAPACITY]),
        (f"Run: attempt 5 failed ({BUSY}), giving up", [Kind.CAPACITY]),
        (f"Run: attempt 1 failed ({BUSY}), retrying in 1s", []),
        ('agent executor error: calling model: Post "https://x": dial tcp: no such host', [Kind.NETWORK]),
        ("Print mode: auth timed out", [Kind.AUTH]),
        ("Print mode: auth error: whatever", [Kind.AUTH]),
        ("Account ineligible: restricted", [Kind.AUTH]),
        ("Print mode: SendUserMessage failed: connection refused", [Kind.NETWORK]),
        ("You are not logged into Antigravity", []),
        ("Print mode: not authenticated, trying silent auth", []),
        ("keyringAuth: timed out after 5s, skipping keyring auth", []),
        ("ChainedAuth: authenticated via keyring", []),
        ("auto_updater: failed to fetch manifest: dial tcp: i/o timeout", []),
        ("telemetry upload failed: connection refused", []),
        ("agent executor error: something else", []),
    ],
)
def test_what_ended_the_run_is_told_from_noise(message: str, expected: list[Kind]) -> None:
    found = found_in(line(message))
    assert kinds(found) == expected
    assert found.quota_stop is None


def test_a_quota_stop_stays_in_force_whatever_follows() -> None:
    found = found_in(line(STOP), line("conversation goes on", "I"), line(f"agent executor error: {BUSY}"))
    assert found.quota_stop is not None
    assert kinds(found) == [Kind.QUOTA, Kind.CAPACITY]


RETRIED = f"Run: attempt 1 failed ({STOP}), retrying in 1s"
SUBAGENT = f"background model gemini-3.8-flash-lite: {STOP} title generation skipped"


@pytest.mark.parametrize(
    ("messages", "stops"),
    [
        ([BUSY], 0),
        ([f"Run: attempt 1 failed ({BUSY}), retrying in 1s"], 0),
        ([STOP], 0),
        ([SUBAGENT], 0),
        ([STOP, BUSY, f"Run: attempt 1 failed ({BUSY}), retrying in 1s"], 0),
        ([f'run_command: "grep {RETRIED}"'] * 2, 0),
        ([RETRIED], 1),
        ([RETRIED, RETRIED], 2),
        ([STOP, BUSY, STOP], 1),
        ([SUBAGENT, STOP, STOP], 2),
        ([STOP, RETRIED], 1),
        (["RESOURCE_EXHAUSTED (code 429): check quota, retrying in 1s"] * 3, 0),
    ],
    ids=range(12),
)
def test_only_what_shows_that_a_quota_stop_is_retried_against_is_counted(
    messages: list[str], stops: int
) -> None:
    assert found_in(*map(line, messages)).quota_stops == stops


def test_the_stop_shows_while_the_log_still_grows() -> None:
    reader = LogReader()
    reader.feed(line(STOP).encode())
    assert reader.found.quota_stop is None
    reader.feed(b"\n")
    assert reader.found.quota_stop is not None


def test_a_continued_message_and_any_bytes_are_passed_over() -> None:
    reader = LogReader()
    reader.feed(b"\xff\x00" + line(STOP).encode() + b"\n\x1b]0;" + b"quota" * 100_000 + b"\n(code 429)\n")
    reader.finish()
    assert reader.found == LogFindings()
