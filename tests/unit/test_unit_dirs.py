"""Where state directories are looked for, and what counts as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prun.flow.units import Batch, is_named, name_of, named_units
from prun.system.state_dir import StateDir
from prun.system.unit_dirs import (
    batch_place,
    batch_state_root,
    batch_state_roots,
    changed_at,
    is_state_dir,
    unit_dirs,
)
from tests.support.units import make_unit
from tests.support.units import name_of as name_for

if TYPE_CHECKING:
    from pathlib import Path


def test_a_state_root_lists_its_units_by_name_and_nothing_else(tmp_path: Path) -> None:
    for name in (name_for("b"), name_for("a"), ".prun-new-1", "other"):
        (tmp_path / name).mkdir()
    assert [state.root.name for state in unit_dirs(tmp_path)] == [name_for("a"), name_for("b")]
    assert unit_dirs(tmp_path / "absent") == []
    (tmp_path / "file").touch()
    assert unit_dirs(tmp_path / "file") == []


def test_a_batch_is_named_by_its_path_or_by_its_name_here(tmp_path: Path) -> None:
    for name in (".prun/docs-1", "elsewhere", "docs-2", ".prun/docs-2"):
        (tmp_path / name).mkdir(parents=True)
    assert batch_place(tmp_path, "docs-1") == tmp_path / ".prun" / "docs-1"
    assert batch_place(tmp_path, "elsewhere") == tmp_path / "elsewhere"
    assert batch_place(tmp_path, "docs-2") == tmp_path / "docs-2"
    assert batch_place(tmp_path, str(tmp_path / "elsewhere")) == tmp_path / "elsewhere"
    assert batch_place(tmp_path, "absent") is None
    assert batch_place(tmp_path, "a\0b") is None


def test_a_batch_has_its_units_in_agent_io_or_plainly_in_state(tmp_path: Path) -> None:
    assert batch_state_root(tmp_path) == tmp_path / "agent-io" / "state"
    (tmp_path / "state").mkdir()
    assert batch_state_root(tmp_path) == tmp_path / "state"
    (tmp_path / "agent-io").mkdir()
    assert batch_state_root(tmp_path) == tmp_path / "agent-io" / "state"


def test_the_batches_here_are_all_looked_into(tmp_path: Path) -> None:
    assert batch_state_roots(tmp_path) == []
    for name in ("b", "a"):
        (tmp_path / ".prun" / name / "agent-io").mkdir(parents=True)
    (tmp_path / ".prun" / ".gitignore").write_text("*\n", encoding="ascii")
    places = batch_state_roots(tmp_path)
    assert tmp_path / ".prun" / "a" / "agent-io" / "state" in places
    assert [state for place in places for state in unit_dirs(place)] == []


def test_a_directory_is_a_units_if_it_has_a_record(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    assert not is_state_dir(state)
    (tmp_path / "tail").touch()
    assert not is_state_dir(state)
    (tmp_path / "result-file").touch()
    assert is_state_dir(state)


def test_a_batch_tells_each_unit_once(tmp_path: Path) -> None:
    batch = Batch(tmp_path, ".")
    assert batch.appeared(whole=True) == []
    first = make_unit(tmp_path / "agent-io" / "state", "a")
    assert batch.appeared(whole=False) == [first.state]
    assert batch.appeared(whole=False) == batch.appeared(whole=True) == []
    second = make_unit(tmp_path / "agent-io" / "state", "b")
    assert batch.appeared(whole=True) == [second.state]


def test_the_time_of_a_directory_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert changed_at(tmp_path / "absent") is None
    assert changed_at(tmp_path) is not None


@pytest.mark.parametrize(("named", "name"), [("x", "x"), ("./x/", "x"), ("a/../x", "x"), ("/", "/")])
def test_a_unit_is_told_by_the_name_of_its_directory(named: str, name: str, tmp_path: Path) -> None:
    (state,) = named_units(tmp_path, [named])
    expected = str(state.root) if name == "/" else name
    assert name_of(state) == expected


def test_a_unit_is_meant_by_id_name_or_path(tmp_path: Path) -> None:
    state = StateDir(tmp_path / "state" / name_for("fix-2"))
    for word in (
        "fix-2",
        name_for("fix-2"),
        str(state.root),
        f"state/{name_for('fix-2')}",
        f"./state/x/../{name_for('fix-2')}",
    ):
        assert is_named(state, ["other", word], tmp_path), word
    for word in ("fix", "2", "prun-task-0a1b2c3d-fix-2", name_for("fix"), "state"):
        assert not is_named(state, [word], tmp_path), word
    assert not is_named(state, [], tmp_path)
