"""A file gets its name without replacing anything, whatever way the file system has for that."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from prun.system import placing
from prun.system.placing import SHARING_WAIT_S, discard, patiently, place_new, place_over, sync_directory
from tests.support.capabilities import needs_symlinks
from tests.support.clocks import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def windows_error(number: int, winerror: int | None) -> PermissionError:
    error = PermissionError(number, "in use")
    if winerror is not None:
        error.winerror = winerror  # type: ignore[attr-defined,unused-ignore]
    return error


class Program:
    """Fails as told, then works."""

    def __init__(self, *errors: OSError) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)


@pytest.mark.parametrize("winerror", [5, 32])
def test_a_sharing_violation_is_tried_again(winerror: int) -> None:
    clock = ManualClock()
    act = Program(*(windows_error(errno.EACCES, winerror) for _ in range(3)))
    patiently(act, clock)
    assert act.calls == 4
    assert len(clock.slept) == 3


def test_a_sharing_violation_that_lasts_is_raised_after_two_seconds() -> None:
    clock = ManualClock()
    began_s = clock.monotonic()
    act = Program(*(windows_error(errno.EACCES, 32) for _ in range(10_000)))
    with pytest.raises(PermissionError):
        patiently(act, clock)
    assert SHARING_WAIT_S <= clock.monotonic() - began_s < SHARING_WAIT_S + 0.1


@pytest.mark.parametrize(
    "error",
    [
        windows_error(errno.EACCES, None),
        windows_error(errno.EACCES, 1),
        FileExistsError(errno.EEXIST, "there"),
        OSError(errno.ENOSPC, "full"),
    ],
    ids=["POSIX EACCES", "another Windows error", "exists", "full"],
)
def test_another_error_is_raised_at_once(error: OSError) -> None:
    clock = ManualClock()
    act = Program(error)
    with pytest.raises(OSError, match=error.strerror):
        patiently(act, clock)
    assert (act.calls, clock.slept) == (1, [])


def no_links(patch: pytest.MonkeyPatch, number: int) -> None:
    def link(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    patch.setattr(os, "link", link)


def no_rename_either(patch: pytest.MonkeyPatch) -> None:
    no_links(patch, errno.EPERM)
    patch.setattr(placing, "_renamed_without_replacing", lambda *_: False, raising=False)


WAYS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "as it is here": lambda _: None,
    "no links (EPERM)": lambda patch: no_links(patch, errno.EPERM),
    "no links (ENOTSUP)": lambda patch: no_links(patch, errno.ENOTSUP),
    "no room for a link": lambda patch: no_links(patch, errno.ENOSPC),
    "neither links nor such a rename": no_rename_either,
}


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def any_file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    request.param(monkeypatch)


@pytest.mark.usefixtures("any_file_system")
def test_a_free_name_is_taken_and_the_temporary_one_is_gone(tmp_path: Path) -> None:
    (tmp_path / "temporary").write_bytes(b"whole")
    place_new(tmp_path / "temporary", tmp_path / "target", ManualClock())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"target": b"whole"}
    assert (tmp_path / "target").stat().st_nlink == 1


@pytest.mark.usefixtures("any_file_system")
def test_a_taken_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "temporary").write_bytes(b"whole")
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "directory").mkdir()
    for name in ("file", "directory"):
        with pytest.raises(FileExistsError):
            place_new(tmp_path / "temporary", tmp_path / name, ManualClock())
    assert (tmp_path / "file").read_bytes() == b""
    assert (tmp_path / "temporary").read_bytes() == b"whole"


@needs_symlinks
@pytest.mark.usefixtures("any_file_system")
def test_a_name_taken_by_a_dangling_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "temporary").write_bytes(b"whole")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        place_new(tmp_path / "temporary", tmp_path / "link", ManualClock())
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links are not asked for there")
def test_a_link_refused_for_another_reason_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").write_bytes(b"whole")
    no_links(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        place_new(tmp_path / "temporary", tmp_path / "target", ManualClock())
    assert not (tmp_path / "target").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links are not asked for there")
def test_a_rename_refused_for_another_reason_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_links(monkeypatch, errno.EPERM)
    with pytest.raises(FileNotFoundError):
        place_new(tmp_path / "gone", tmp_path / "target", ManualClock())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="its rename needs no claim")
def test_a_claim_that_can_not_be_filled_is_withdrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_rename_either(monkeypatch)
    with pytest.raises(FileNotFoundError):
        place_new(tmp_path / "gone", tmp_path / "target", ManualClock())
    assert list(tmp_path.iterdir()) == []


def test_placing_over_takes_the_old_ones_place(tmp_path: Path) -> None:
    (tmp_path / "temporary").write_bytes(b"new")
    (tmp_path / "target").write_bytes(b"old")
    place_over(tmp_path / "temporary", tmp_path / "target", ManualClock())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"target": b"new"}


def test_neither_discarding_nor_flushing_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    discard(tmp_path / "gone")
    sync_directory(tmp_path / "gone")
    sync_directory(tmp_path)
