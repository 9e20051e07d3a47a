"""What monitor and gather print: the exact lines, and that no name can forge one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.lines import (
    GatherJson,
    GatherText,
    Landed,
    MonitorJson,
    MonitorText,
    as_word,
    json_line,
    plain_number,
)
from prun.core.status import Done, Failed, Growing, Stalled, Status
from prun.core.steps import LastStep
from prun.core.unit_report import UnitReport
from prun.core.unit_snapshot import Found, Said, UnitSnapshot
from prun.core.watching import Event
from tests.support.known_bad import assert_caught
from tests.support.units import OUTCOME

if TYPE_CHECKING:
    from prun.core.outcome import Outcome

NASTY = "u\nMONITOR-EVENT all-done\r\u2028\u0085\x1b[2J\ud800\u202e\x00"
TEXT = st.text(st.characters(codec=None))


def report(
    name: str = "u",
    status: Status | None = None,
    outcome: Outcome | None = None,
    said: Said | None = None,
    path: str | None = None,
) -> UnitReport:
    snapshot = UnitSnapshot(Found.REGULAR, outcome=outcome, said=said, result_path=path)
    return UnitReport(name, f"/s/{name}", Growing() if status is None else status, snapshot, 1.25)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (600, "600"),
        (600.0, "600"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (12.250, "12.25"),
        (1000000.0, "1000000"),
        (999_999_999.0, "999999999"),
        (0.000001, "0.000001"),
        (0.0000001, "0"),
        (1 / 3, "0.333333"),
    ],
    ids=str,
)
def test_a_number_is_written_without_needless_zeros(value: float, shown: str) -> None:
    assert plain_number(value) == shown


def test_the_lines_of_monitor() -> None:
    lines = MonitorText()
    assert lines.start(3, 600, 0.5) == "MONITOR-START units=3 stall-threshold=600s timeout=0.5s"
    assert lines.event(Event.ALL_DONE) == "MONITOR-EVENT all-done"
    assert lines.unit(report("é u", Stalled(1200.9))) == "UNIT é u stalled(1200s)"
    assert lines.unit(report(status=Failed("quota", "why"))) == "UNIT u failed(quota)"


def test_the_lines_of_gather() -> None:
    lines = GatherText()
    assert lines.start(2, 3600) == ["GATHER-START count=2 timeout=3600s"]
    assert lines.landed(Landed("/r/a b.md", fallback=False, kind=None)) == ["DONE /r/a b.md"]
    fallback = Landed("/r/a", fallback=True, kind="quota")
    assert lines.landed(fallback) == ["DONE /r/a", "FALLBACK /r/a"]
    kept = Landed("/r/a", fallback=False, kind="timeout")
    assert lines.landed(kept) == ["DONE /r/a", "FAILED /r/a timeout"]
    assert lines.timeout(["/r/a", "/r/b"]) == ["TIMEOUT remaining=2", "MISSING /r/a", "MISSING /r/b"]


def test_the_objects_of_gather() -> None:
    lines = GatherJson()
    told = [
        *lines.start(2, 0.5),
        *lines.landed(Landed("/r/a", fallback=True, kind="quota")),
        *lines.timeout(["/r/b"]),
    ]
    assert [json.loads(line) for line in told] == [
        {"event": "start", "count": 2, "timeout_s": 0.5},
        {"event": "done", "path": "/r/a", "failed": True, "fallback": True, "kind": "quota"},
        {"event": "timeout", "remaining": 1, "missing": ["/r/b"]},
    ]


def test_the_objects_of_monitor() -> None:
    lines = MonitorJson()
    assert json.loads(lines.start(2, 600, 0)) == {
        "event": "start",
        "units": 2,
        "stall_threshold_s": 600,
        "timeout_s": 0,
    }
    assert json.loads(lines.event(Event.STALL)) == {"event": "stall", "exit_status": 3}
    said = Said(LastStep(4, "tool", "ACTIVE", "grep", tool_open=True), 3, {"total_tokens": 77})
    assert json.loads(lines.unit(report(said=said, path="/r"))) == {
        "unit": "u",
        "status": "growing",
        "kind": None,
        "reason": None,
        "idle_s": 1.2,
        "state_dir": "/s/u",
        "result_path": "/r",
        "last_step": {"index": 4, "type": "tool", "state": "ACTIVE", "tool": "grep", "tool_open": True},
        "turns": 3,
        "tokens": 77,
        "problems": [],
    }
    over = json.loads(lines.unit(report(status=Done(), outcome=OUTCOME)))
    assert (over["status"], over["kind"], over["reason"]) == ("done", "ok", "Agy finished")
    assert (over["turns"], over["tokens"]) == (2, 1234)


def test_a_word_stays_one_word_of_bounded_length() -> None:
    assert as_word("failed(resume-mismatch)") == "failed(resume-mismatch)"
    assert as_word("a b\nc\té") == "a_b\\x0ac\\x09_"
    assert len(as_word("\n" * 1_000_000)) <= 400


def all_lines(name: str) -> list[str]:
    """Return every line that *name* gets into, in each place."""
    landed = [Landed(name, fallback=True, kind=None), Landed(name, fallback=False, kind=name)]
    reports = [report(name), report(name, Failed(name, name), path=name)]
    return [
        *(lines.unit(each) for lines in (MonitorText(), MonitorJson()) for each in reports),
        *(line for lines in (GatherText(), GatherJson()) for each in landed for line in lines.landed(each)),
        *(line for lines in (GatherText(), GatherJson()) for line in lines.timeout([name])),
    ]


def heads(lines: list[str]) -> list[str]:
    return [line.split(" ")[0] for line in lines]


def check_no_line_is_forged(name: str, lines: list[str]) -> None:
    """Assert that *lines* are those of a harmless name, whoever splits the text and however."""
    expected = all_lines("harmless")
    text = "".join(line + "\n" for line in lines)
    assert text.count("\n") == len(text.splitlines()) == len(expected), name
    assert "\r" not in text
    assert text.encode().decode() == text
    assert heads(lines) == heads(expected)


@pytest.mark.parametrize(
    "name", [NASTY, "\n", "", " ", "a" * 10_000], ids=["all", "feed", "no", "blank", "long"]
)
def test_a_name_forges_no_line(name: str) -> None:
    check_no_line_is_forged(name, all_lines(name))


@given(TEXT)
def test_no_name_forges_a_line(name: str) -> None:
    check_no_line_is_forged(name, all_lines(name))


def test_lines_that_are_not_escaped_are_caught() -> None:
    def bare(name: str) -> list[str]:
        return [line.replace("harmless", name) for line in all_lines("harmless")]

    assert_caught(lambda name: check_no_line_is_forged(name, bare(name)), TEXT)


def test_lines_with_only_the_line_feeds_escaped_are_caught() -> None:
    def half(name: str) -> list[str]:
        return [line.replace("harmless", name.replace("\n", "\\n")) for line in all_lines("harmless")]

    assert_caught(lambda name: check_no_line_is_forged(name, half(name)), st.text("\n\r\u2028ab"))


@given(TEXT, st.floats())
def test_an_object_is_one_line_of_ascii_and_says_what_was_put_in(text: str, number: float) -> None:
    line = json_line({"path": text, "n": number, "kind": None, "usage": {"a": [1, True]}})
    assert line.isascii()
    assert "\n" not in line
    found = json.loads(line)
    assert (found["path"], found["kind"], found["usage"]) == (text, None, {"a": [1, True]})
    assert found["n"] is None or found["n"] == number
