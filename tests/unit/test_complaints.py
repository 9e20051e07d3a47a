"""Stderr counts where a line begins with one of agy's marks, and only there."""

from __future__ import annotations

import json

import pytest

from prun.core.complaints import Complaints, StderrReader, payload_text
from prun.core.failures import TEXT_LIMIT
from prun.core.outcome import Kind

STOP = "Individual quota reached. Please upgrade your subscription. Resets in 37h50m21s."
NOTICE = "[agy] print timeout after 5m0s with turn in progress; returning partial output"
DENIAL = (
    'jetski: no output produced — a tool required the "command" permission that headless mode cannot'
    " prompt for, so it was auto-denied. Add an allow-rule under permissions.allow in settings.json."
)
NOT_FOUND = 'warning: conversation "5e0c0b1a-0000-4000-8000-000000000009" not found'


def payload(**changes: object) -> str:
    fields = {
        "short_error": "RESOURCE_EXHAUSTED (code 429): Resource has been exhausted (e.g. check quota).",
        "status": "RESOURCE_EXHAUSTED",
        "error_code": 429,
        "code_kind": "http",
        "retryable": True,
        "error_id": "0-10-2008",
    }
    return json.dumps({**fields, **changes})


def found_in(*lines: str | bytes) -> Complaints:
    reader = StderrReader()
    for line in lines:
        reader.feed((line if isinstance(line, bytes) else line.encode()) + b"\n")
    reader.finish()
    return reader.found


def kinds(found: Complaints) -> list[Kind]:
    return [failure.kind for failure in found.failures]


MARKS = ["error: ", "Error: ", "error:", "\ufefferror: ", "\r\x1b[31merror:\x1b[0m ", "\x00error: "]


@pytest.mark.parametrize("mark", MARKS, ids=ascii)
def test_an_error_line_is_read_behind_its_mark(mark: str) -> None:
    found = found_in(mark + STOP + "\r")
    assert found.error == STOP
    assert [(failure.kind, failure.text, failure.reset_s) for failure in found.failures] == [
        (Kind.QUOTA, STOP, 136_221.0)
    ]


@pytest.mark.parametrize(
    "line",
    [
        STOP,
        f"note: error: {STOP}",
        f"  error: {STOP}",
        f"> error: {STOP}",
        f"ERROR: {STOP}",
        f"myerror: {STOP}",
        f"spinner\rerror: {STOP}",
        f"the worker printed {NOTICE}",
        f"> {NOTICE}",
        f"note: {NOT_FOUND}",
        f"note: {DENIAL}",
        f"see AGY_ERROR: {payload()}",
        "You are not logged into Antigravity.",
        "RESOURCE_EXHAUSTED (code 429)",
    ],
)
def test_the_same_words_elsewhere_in_a_line_count_for_nothing(line: str) -> None:
    assert found_in(line) == Complaints()


def test_agys_notices_are_noted() -> None:
    found = found_in(NOTICE, NOT_FOUND, DENIAL, DENIAL)
    assert found == Complaints(print_timeout=NOTICE, conversation_not_found=True, denied=("command",))


def test_the_sign_in_prompt_counts_without_a_mark() -> None:
    assert kinds(found_in("Authentication required. Please visit the URL to log in:")) == [Kind.AUTH]
    assert kinds(found_in("authentication failed or timed out")) == [Kind.AUTH]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (payload(), "RESOURCE_EXHAUSTED (code 429): Resource has been exhausted (e.g. check quota)."),
        (payload(short_error="oops", status="UNKNOWN", error_code=2), "UNKNOWN (code 2): oops"),
        (payload(short_error=None, status=None, error_code="x"), "UNKNOWN (code ?): "),
        (payload(short_error="no", error_code=True), "RESOURCE_EXHAUSTED (code ?): no"),
        ('{"short_error":"cut sho', '{"short_error":"cut sho'),
        ("[1]", "[1]"),
        ("[" * 100_000, "[" * 100_000),
        ('{"error_code":' + "9" * 5000 + "}", '{"error_code":' + "9" * 5000 + "}"),
    ],
    ids=["whole", "grpc", "empty", "odd code", "cut short", "a list", "deep", "huge number"],
)
def test_a_payload_is_read_in_the_words_of_a_log_line(text: str, said: str) -> None:
    assert payload_text(text) == said


def test_retryable_is_not_believed_and_credits_stand_beside_a_429() -> None:
    found = found_in(
        "error: Your AI credits balance is too low to continue. (response may be truncated)",
        f"AGY_ERROR: {payload()}",
    )
    assert kinds(found) == [Kind.QUOTA, Kind.CAPACITY]
    assert kinds(found_in(f"AGY_ERROR: {payload(retryable=False)}")) == [Kind.CAPACITY]


def test_a_payload_of_an_unknown_kind_names_no_cause() -> None:
    text = payload(short_error="oops", status="UNKNOWN", error_code=2)
    assert found_in(f"AGY_ERROR: {text}") == Complaints()


def test_a_line_without_its_line_feed_counts_once_the_stream_has_ended() -> None:
    reader = StderrReader()
    reader.feed(b"error: " + STOP.encode())
    assert reader.found == Complaints()
    reader.finish()
    assert kinds(reader.found) == [Kind.QUOTA]


def test_an_early_stop_survives_a_flood_of_other_errors_in_bounded_memory() -> None:
    reader = StderrReader()
    reader.feed(f"error: {STOP}\n".encode())
    for number in range(2000):
        reader.feed(f"error: tool {number} failed: {'x' * 5000}\n".encode())
    found = reader.found
    assert kinds(found) == [Kind.QUOTA]
    assert found.error is not None
    assert found.error.startswith("tool 1999 failed: xxx")
    assert len(found.error) == TEXT_LIMIT


def test_denied_permissions_are_named_once_each_and_bounded() -> None:
    names = [f"permission {number}" for number in range(20)]
    found = found_in(*(DENIAL.replace('"command"', f'"{name}"') for name in names))
    assert found.denied == tuple(names[:8])


JUNK = [b"\xff\xfe\x00", b"\x1b" * 5000, b"error:", b"error: \xff", b"AGY_ERROR:", b"x" * 2**20]


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:12]))
def test_any_bytes_are_read(junk: bytes) -> None:
    assert found_in(junk).failures == ()
