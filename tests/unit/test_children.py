"""Programs started side by side: what they say first and last, and how they end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prun.system.children import Child, make_scratch

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os, sys, time
{body}
"""


@pytest.fixture
def start(tmp_path: Path) -> Start:
    return Start(tmp_path)


class Start:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __call__(self, body: str) -> Child:
        (self.place / "child.py").write_text(PROGRAM.format(body=body), encoding="utf-8")
        env = {**os.environ, "PYTHONPATH": str(self.place)}
        return Child(["child"], env, self.place, self.place / "errors")


def test_a_child_is_heard_and_its_end_is_told(start: Start) -> None:
    child = start("print('first line', flush=True); print('é', file=sys.stderr); sys.exit(7)")
    assert child.first_line() == "first line"
    assert child.end(60.0) == 7
    assert child.last_words().strip()


def test_one_that_says_nothing_is_heard_to_say_nothing(start: Start) -> None:
    child = start("sys.exit(3)")
    assert child.first_line() == ""
    assert child.end(60.0) == 3
    assert child.last_words() == ""


def test_one_that_does_not_end_is_ended(start: Start) -> None:
    child = start("print('ready', flush=True); time.sleep(600)")
    child.first_line()
    assert child.end(0.1) is None


def test_the_last_line_is_what_a_child_said_last(start: Start) -> None:
    child = start("print('x' * 200_000, file=sys.stderr); print('why', file=sys.stderr)")
    assert child.end(60.0) == 0
    assert child.last_words() == "why"


def test_a_scratch_is_new_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = make_scratch("prun-test-")
    assert made.parent == tmp_path
    assert made.name.startswith("prun-test-")
    assert list(made.iterdir()) == []
