"""A state directory appears complete, private and new, or the caller learns why not."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prun.core.errors import PrunError, UsageError
from prun.system.creation import Beginning, create_state_dir, temporary_root
from prun.system.slot import SLOT_BYTES
from prun.system.state_dir import StateDir
from tests.support.capabilities import needs_denial, needs_modes
from tests.support.clocks import ManualClock
from tests.support.steps import fails_at

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGINNING = Beginning(
    started_epoch_s=1_790_000_000,
    result_file="/out/ü 1.md",
    pid=4711,
    interpreter="/usr/bin/python3",
    request=b'{"unit": "u1"}\n',
    owner=b'{"pid": 4711}\n',
)


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path / "root" / "prun-task-00000000-u1-4711-0123456789abcdef")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_it_begins_with_everything_that_a_reader_needs(state: StateDir) -> None:
    assert create_state_dir(state, BEGINNING, ManualClock()) is True
    assert list(state.root.parent.iterdir()) == [state.root]
    assert {path.name: path.read_bytes() for path in state.root.iterdir()} == {
        "timestamp": b"1790000000\n",
        "pre-mtime": b"0\n",
        "result-file": "/out/ü 1.md\n".encode(),
        "dispatch-pid": b"4711\n",
        "python-interpreter": b"/usr/bin/python3\n",
        "request.json": BEGINNING.request,
        "owner.1.json": BEGINNING.owner,
        "outcome.slot": bytes(SLOT_BYTES),
    }


@needs_modes
@pytest.mark.usefixtures("open_umask")
def test_nobody_else_can_read_it(state: StateDir) -> None:
    create_state_dir(state, BEGINNING, ManualClock())
    assert state.root.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in state.root.iterdir()} == {0o600}


def test_a_directory_that_is_there_already_is_not_taken_over(state: StateDir) -> None:
    state.root.mkdir(parents=True)
    with pytest.raises(UsageError, match="PRUN_STATE_ROOT"):
        create_state_dir(state, BEGINNING, ManualClock())
    assert list(state.root.parent.iterdir()) == [state.root]
    assert list(state.root.iterdir()) == []


def test_a_state_root_that_is_a_file_is_a_usage_error(state: StateDir) -> None:
    state.root.parent.write_bytes(b"kept")
    with pytest.raises(UsageError, match="PRUN_STATE_ROOT"):
        create_state_dir(state, BEGINNING, ManualClock())
    assert state.root.parent.read_bytes() == b"kept"


@needs_denial
def test_a_state_root_closed_to_us_is_a_usage_error(state: StateDir) -> None:
    state.root.parent.mkdir(mode=0o500)
    with pytest.raises(UsageError, match="PRUN_STATE_ROOT"):
        create_state_dir(state, BEGINNING, ManualClock())
    state.root.parent.chmod(0o700)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_a_disk_that_refuses_is_named_and_nothing_stays(tmp_path: Path, number: int) -> None:
    step = 1
    while True:
        root = tmp_path / str(step)
        root.mkdir()
        refused: list[PrunError] = []

        def create(root: Path = root, refused: list[PrunError] = refused) -> None:
            try:
                create_state_dir(StateDir(root / "prun-task-x"), BEGINNING, ManualClock())
            except PrunError as error:
                refused.append(error)

        failed = fails_at(step, create, number)
        if failed is None:
            break
        if refused:
            assert str(root) in str(refused[0])
            assert not isinstance(refused[0], UsageError)
            assert list(root.iterdir()) == [] or failed in {"unlink", "rmdir"}
        else:  # flushing a directory may fail: what it names is there all the same
            assert [path.name for path in root.iterdir()] == ["prun-task-x"]
            assert len(list((root / "prun-task-x").iterdir())) == 8
        step += 1
    assert step > 20


def test_windows_holding_a_file_open_is_waited_for(state: StateDir, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [PermissionError(errno.EACCES, "in use") for _ in range(3)]
    for error in held:
        error.winerror = 32  # type: ignore[attr-defined,unused-ignore]
    rename = os.rename

    def busy(*arguments: Any) -> None:
        if held:
            raise held.pop()
        rename(*arguments)

    monkeypatch.setattr(os, "rename", busy)
    clock = ManualClock()
    create_state_dir(state, BEGINNING, clock)
    assert state.owner(1).exists()
    assert len(clock.slept) == 3


def test_the_temporary_directory_is_the_one_that_python_finds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    for name in ("TMP", "TEMP", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
        assert temporary_root(os.environ) != tmp_path / name  # there is no such directory yet
        (tmp_path / name).mkdir()
        tempfile.tempdir = None
        assert temporary_root(os.environ) == Path(tempfile.gettempdir()) == tmp_path / name


@pytest.mark.parametrize("value", ["", ".", "relative/place"])
def test_a_relative_or_empty_setting_names_no_temporary_directory(value: str) -> None:
    found = temporary_root({"TMPDIR": value})
    assert found.is_absolute()
    if sys.platform == "linux":
        assert found == Path("/tmp")  # noqa: S108
