"""Which units name which results, by whatever way the path is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prun.system.result_index import units_by_result
from tests.support.capabilities import make_fifo, needs_fifos, needs_symlinks
from tests.support.units import Made, make_unit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def made(tmp_path: Path) -> list[Made]:
    return [make_unit(tmp_path / "state", unit) for unit in ("a", "b")]


def test_each_result_has_the_units_that_name_it(made: list[Made], tmp_path: Path) -> None:
    a, b = made
    again = make_unit(tmp_path / "other" / "state", "a")
    again.put(again.state.result_file, os.fsencode(a.result))
    states = [each.state for each in (a, b, again)]
    absent = str(tmp_path / "absent.md")
    assert units_by_result(states, [str(a.result), str(b.result), absent]) == {
        str(a.result): [a.state, again.state],
        str(b.result): [b.state],
        absent: [],
    }


@needs_symlinks
def test_the_ways_to_one_place_are_one(made: list[Made], tmp_path: Path) -> None:
    a = made[0]
    (tmp_path / "link").symlink_to(a.result.parent)
    through, plain = str(tmp_path / "link" / "a.md"), str(a.result)
    a.put(a.state.result_file, f"{tmp_path}/link/../results/./a.md\r\n".encode())
    assert units_by_result([a.state], [through, plain]) == {through: [a.state], plain: [a.state]}


@pytest.mark.parametrize(
    "pointer",
    [b"", b"\n", b"results/a.md\n", b"/x\0y\n", b"a.md", b"/" + b"x" * 100_000],
    ids=["empty", "blank", "relative", "NUL", "bare", "long"],
)
def test_a_pointer_that_leads_nowhere_names_nothing(pointer: bytes, made: list[Made]) -> None:
    a = made[0]
    a.put(a.state.result_file, pointer)
    assert units_by_result([a.state], [str(a.result)]) == {str(a.result): []}


@needs_fifos
def test_a_pointer_that_is_no_file_holds_nothing_up(made: list[Made]) -> None:
    a, b = made
    for each, make in ((a, make_fifo), (b, lambda path: path.mkdir())):
        each.state.result_file.unlink()
        make(each.state.result_file)
    assert units_by_result([a.state, b.state], [str(a.result)]) == {str(a.result): []}
