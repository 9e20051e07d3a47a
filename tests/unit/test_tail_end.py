"""The end of a tail tells the last step, however long the tail and its lines are."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from prun.core.steps import LastStep
from prun.core.transcript import read
from prun.core.unit_snapshot import Said
from prun.system.tail_end import said_at_end, said_in
from tests.support.capabilities import make_fifo, needs_fifos

if TYPE_CHECKING:
    from pathlib import Path

MEBIBYTE = 1024 * 1024


def line(name: str, **payload: Any) -> bytes:
    return json.dumps({"event": name, name: payload}).encode() + b"\n"


def step(index: int, state: str = "ACTIVE", step_type: str = "tool", **fields: Any) -> bytes:
    return line("step_update", step_index=index, state=state, step_type=step_type, **fields)


INIT = line("init", model="m")
TOOL = step(3, tool_name="run_command")
ENDED = step(3, "DONE", tool_name="run_command")
ANSWER = step(4, step_type="agent_response", text_delta="words")
RESULT = line("result", status="SUCCESS", response="done", num_turns=2, usage={"total_tokens": 7})
OPEN = LastStep(3, "tool", "ACTIVE", "run_command", tool_open=True)
SHUT = LastStep(3, "tool", "DONE", "run_command", tool_open=False)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", Said()),
        (b"\n\n", Said()),
        (INIT, Said()),
        (INIT + TOOL, Said(OPEN)),
        (INIT + TOOL + ENDED, Said(SHUT)),
        (INIT + TOOL + RESULT, Said(replace(OPEN, tool_open=False), 2, {"total_tokens": 7})),
        (RESULT + TOOL, Said(OPEN)),
        (RESULT, Said(None, 2, {"total_tokens": 7})),
        (ANSWER + TOOL, Said(OPEN)),
        (TOOL + ANSWER, Said(LastStep(4, "agent_response", "ACTIVE", None, tool_open=False))),
        (TOOL.rstrip(), Said(OPEN)),
        (TOOL + ENDED[:-20], Said(OPEN)),
        (TOOL + b"no event\n\xff\x00{\n", Said(OPEN)),
        (TOOL[:-1] + ENDED, Said(SHUT)),
        (TOOL.replace(b"\n", b"\r\n"), Said(OPEN)),
    ],
    ids=range(15),
)
def test_what_is_said_last_is_told(tmp_path: Path, data: bytes, said: Said) -> None:
    (tmp_path / "tail").write_bytes(data)
    assert said_at_end(tmp_path / "tail") == said
    told = read([data])
    assert said.last_step == told.last_step


@pytest.mark.parametrize("filler_bytes", [60_000, 70_000, MEBIBYTE, 2 * MEBIBYTE])
def test_a_step_is_found_behind_lines_of_any_length_before_it(tmp_path: Path, filler_bytes: int) -> None:
    filler = line("later", x="y" * filler_bytes)
    (tmp_path / "tail").write_bytes(filler + TOOL)
    assert said_at_end(tmp_path / "tail") == Said(OPEN)
    (tmp_path / "tail").write_bytes(filler + TOOL + filler)
    assert said_at_end(tmp_path / "tail") == Said(OPEN)


def test_a_long_step_is_found_as_well_as_a_short_one(tmp_path: Path) -> None:
    long = step(3, tool_name="run_command", output="z" * (2 * MEBIBYTE))
    (tmp_path / "tail").write_bytes(INIT + long)
    assert said_at_end(tmp_path / "tail") == Said(OPEN)


def test_a_line_over_the_limit_is_passed_over(tmp_path: Path) -> None:
    with (tmp_path / "tail").open("wb") as tail:
        tail.write(TOOL + b'{"x":"')
        tail.seek(16 * MEBIBYTE + 100, 1)
        tail.write(b'"}\n')
    assert said_at_end(tmp_path / "tail") == Said(OPEN)


def test_a_long_tail_without_a_line_end_says_nothing(tmp_path: Path) -> None:
    with (tmp_path / "tail").open("wb") as tail:
        tail.truncate(18 * MEBIBYTE)
    assert said_at_end(tmp_path / "tail") == Said()


def test_the_first_line_of_a_part_is_not_believed() -> None:
    assert said_in(TOOL + INIT, whole=False) == Said()
    assert said_in(b"\n" + TOOL + INIT, whole=False) == Said(OPEN)


def test_a_tail_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert said_at_end(tmp_path / "tail") == Said()
    assert said_at_end(tmp_path) == Said()


@needs_fifos
def test_a_fifo_says_nothing(tmp_path: Path) -> None:
    make_fifo(tmp_path / "tail")
    assert said_at_end(tmp_path / "tail") == Said()
