"""What a dispatch prints: one line on stdout; on stderr how it went and the ends of what the worker said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prun.core.plain import visible
from tests.support.scenes import do, failed, result, say

if TYPE_CHECKING:
    from tests.support.lab import Lab, Run

LINES = 80
LIMIT_BYTES = 64 * 1024
TAIL, STDERR = "--- end of the worker's tail:\n", "--- end of the worker's stderr:\n"


def shown(run: Run) -> tuple[str, str, str]:
    """Return what stands before the ends, the end of the tail and that of stderr, without the last line."""
    body, _, last = run.stderr.rstrip("\n").rpartition("\n")
    assert last == f"--- u1: {run.outcome['verdict']} ({run.outcome['kind']}): {run.outcome['reason']}"
    rest, _, errors = f"{body}\n".partition(STDERR)
    before, _, tail = rest.partition(TAIL)
    return before, tail, errors


@pytest.mark.smoke
def test_stdout_is_one_line_and_stderr_ends_with_the_verdict(lab: Lab) -> None:
    run = lab.plays(say(), do("stderr", text="a word on stderr")).dispatch()
    assert run.stdout == b"STATE-DIR " + str(run.state).encode() + b"\n"
    assert run.state.is_absolute()
    before, tail, errors = shown(run)
    assert before == ""
    assert tail == run.text("tail")
    assert errors == "a word on stderr\n"


def test_a_failed_unit_has_the_same_one_line_on_stdout(lab: Lab) -> None:
    run = lab.plays(failed("no")).dispatch()
    assert run.stdout == b"STATE-DIR " + str(run.state).encode() + b"\n"
    assert run.stderr.endswith("--- u1: failed (error): Agy reported status ERROR: no\n")


def test_the_last_80_lines_of_tail_and_of_stderr_are_shown(lab: Lab) -> None:
    many = "\n".join(f"line {number}" for number in range(200))
    run = lab.plays(do("raw", text=many), do("stderr", text=many.replace("line", "error"))).dispatch()
    _, tail, errors = shown(run)
    assert tail.splitlines() == run.text("tail").splitlines()[-LINES:]
    assert errors.splitlines() == [f"error {number}" for number in range(120, 200)]


def test_what_is_shown_of_each_has_64_kib_at_most(lab: Lab) -> None:
    floods = [do("flood", size=300_000, width=5000, to=to) for to in ("stdout", "stderr")]
    run = lab.plays(*floods, say()).dispatch()
    _, tail, errors = shown(run)
    assert errors == ("x" * 4999 + "\n") * 13
    assert LIMIT_BYTES - 5000 < len(tail.encode()) <= LIMIT_BYTES
    assert tail == run.text("tail")[-len(tail) :]


def test_of_one_endless_line_the_end_is_shown(lab: Lab) -> None:
    run = lab.plays(do("stderr", text="begun " + "y" * 200_000 + " ended"), say()).dispatch()
    _, _, errors = shown(run)
    assert errors.endswith("y ended\n")
    assert LIMIT_BYTES - 2 <= len(errors.encode()) <= LIMIT_BYTES


def test_a_tail_of_garbage_is_shown_as_safe_text(lab: Lab) -> None:
    garbage = (
        b"\x00\x01\x1b[2J\x1b]0;title\x07\xff\xfe\xc3\x28\r\x9b31m" + "\u202e\u2066 \ufeff".encode() + b"\x85"
    )
    run = lab.plays(
        do("raw", hex=garbage.hex()), do("stderr", text="\x1b[31mred\x1b[0m\x07"), say()
    ).dispatch()
    assert run.outcome["kind"] == "ok"
    assert garbage in (run.state / "tail").read_bytes()
    _, tail, errors = shown(run)
    for text in (tail, errors, run.stderr):
        assert visible(text.replace("\n", "")) == text.replace("\n", "")
    assert "[2J" in tail
    assert "red" in errors


def test_a_garbage_of_nothing_but_nul_stays_within_the_limit(lab: Lab) -> None:
    run = lab.plays(do("raw", hex="00", repeat=300_000), do("exit", code=9)).dispatch()
    _, tail, _ = shown(run)
    assert 0 < len(tail.encode()) <= LIMIT_BYTES


def test_nothing_is_shown_of_a_worker_that_said_nothing(lab: Lab) -> None:
    lab.plays(before=[do("exit", code=9)])
    run = lab.dispatch()
    assert shown(run) == ("\n", "", "")
    assert run.stderr == "--- u1: failed (crashed): Agy exited with code 9\n"


def test_routing_notes_are_told_before_the_ends_and_kept(lab: Lab) -> None:
    lab.fake(account='models = ["claude-opus-5-5-high", "gemini-3.6-flash-high"]')
    run = lab.dispatch()
    before, _, _ = shown(run)
    notes = run.text("quota-note").splitlines()
    assert notes
    assert before.splitlines() == notes
    assert run.text("model").strip() == run.outcome["model"]


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_reader_that_went_away_stops_no_unit(closed: str, lab: Lab) -> None:
    lab.plays(say(), result())
    dispatcher = lab.start()
    stream = dispatcher.stdout if closed == "stdout" else dispatcher.stderr
    assert stream is not None
    stream.close()
    if closed == "stdout":
        dispatcher.stdout = None
    else:
        dispatcher.stderr = None
    code = lab.finish(dispatcher).code
    assert code == 0
    assert "the work is done" in lab.result_of("u1").read_text(encoding="utf-8")
