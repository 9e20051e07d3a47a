"""A record whose room was kept can be written on a full disk, and only once."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from prun.system.placing import place_new
from prun.system.slot import SLOT_BYTES, allocate, commit_slot
from tests.support.capabilities import (
    make_fifo,
    needs_fifos,
    needs_modes,
    needs_small_disk,
    needs_symlinks,
    small_disk,
)
from tests.support.clocks import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLOCK = ManualClock()


def sparse(path: Path) -> bool:
    """Stand for ``allocate`` without the allocating."""
    with path.open("xb") as file:
        file.truncate(SLOT_BYTES)
    return True


def cut_first(slot: Path, target: Path, data: bytes, clock: ManualClock) -> None:
    """Stand for ``commit_slot`` with the cut before the writing, which gives the kept room back."""
    with slot.open("r+b") as file:
        file.truncate(0)
        fill(slot.parent)
        file.write(data)
    place_new(slot, target, clock)


def fill(place: Path) -> None:
    """Write into *place* until nothing more fits, as the growing tails of other units do."""
    with (place / "tail").open("ab", buffering=0) as tail:
        for size_bytes in (4096, 1):
            try:
                while True:
                    tail.write(b"x" * size_bytes)
            except OSError as error:
                assert error.errno == errno.ENOSPC  # noqa: PT017 - anything else is another test's business


def test_a_slot_is_new_and_holds_its_room(tmp_path: Path) -> None:
    assert allocate(tmp_path / "slot") is True
    assert (tmp_path / "slot").stat().st_size == SLOT_BYTES
    with pytest.raises(FileExistsError):
        allocate(tmp_path / "slot")


@needs_modes
def test_a_slot_is_private(tmp_path: Path) -> None:
    allocate(tmp_path / "slot")
    assert (tmp_path / "slot").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS], ids=errno.errorcode.get)
def test_zeros_are_written_where_the_system_can_not_allocate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    allocate(tmp_path / "slot", 5000)
    assert (tmp_path / "slot").read_bytes() == bytes(5000)


def test_a_file_system_that_took_less_than_it_was_given_promises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compress(descriptor: int, start: int, size_bytes: int) -> None:
        os.ftruncate(descriptor, start + size_bytes)

    if not hasattr(os.stat_result, "st_blocks"):
        pytest.skip("this system does not tell what a file takes")
    monkeypatch.setattr(os, "posix_fallocate", compress, raising=False)
    assert allocate(tmp_path / "slot") is False


def test_a_disk_without_room_for_a_slot_is_an_error_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        allocate(tmp_path / "slot")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size_bytes", [0, 1, SLOT_BYTES, 5 * SLOT_BYTES])
def test_what_is_committed_is_all_that_is_there(tmp_path: Path, size_bytes: int) -> None:
    allocate(tmp_path / "slot")
    commit_slot(tmp_path / "slot", tmp_path / "outcome", b"y" * size_bytes, CLOCK)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"outcome": b"y" * size_bytes}


def test_a_foreign_file_at_the_target_stays_and_the_slot_can_be_committed_again(tmp_path: Path) -> None:
    allocate(tmp_path / "slot")
    (tmp_path / "outcome").write_bytes(b"foreign")
    with pytest.raises(FileExistsError):
        commit_slot(tmp_path / "slot", tmp_path / "outcome", b"a longer record of ours", CLOCK)
    assert (tmp_path / "outcome").read_bytes() == b"foreign"
    (tmp_path / "outcome").unlink()
    commit_slot(tmp_path / "slot", tmp_path / "outcome", b"ours", CLOCK)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"outcome": b"ours"}


def test_a_record_is_published_without_a_slot_too(tmp_path: Path) -> None:
    commit_slot(tmp_path / "gone", tmp_path / "outcome", b"ours", CLOCK)
    assert (tmp_path / "outcome").read_bytes() == b"ours"


@needs_symlinks
def test_a_link_in_place_of_the_slot_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"kept")
    (tmp_path / "slot").symlink_to(tmp_path / "precious")
    commit_slot(tmp_path / "slot", tmp_path / "outcome", b"ours", CLOCK)
    assert (tmp_path / "precious").read_bytes() == b"kept"
    assert (tmp_path / "outcome").read_bytes() == b"ours"


@needs_fifos
def test_a_fifo_in_place_of_the_slot_does_not_block(tmp_path: Path) -> None:
    make_fifo(tmp_path / "slot")
    commit_slot(tmp_path / "slot", tmp_path / "outcome", b"ours", CLOCK)
    assert (tmp_path / "outcome").read_bytes() == b"ours"


def test_a_directory_in_place_of_the_slot_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "slot").mkdir()
    commit_slot(tmp_path / "slot", tmp_path / "outcome", b"ours", CLOCK)
    assert (tmp_path / "outcome").read_bytes() == b"ours"


def test_a_slot_that_is_published_under_another_name_is_not_written_again(tmp_path: Path) -> None:
    allocate(tmp_path / "slot")
    commit_slot(tmp_path / "slot", tmp_path / "outcome", b"first", CLOCK)
    os.link(tmp_path / "outcome", tmp_path / "slot")  # as a crash between the two leaves them
    with pytest.raises(FileExistsError):
        commit_slot(tmp_path / "slot", tmp_path / "outcome", b"second", CLOCK)
    assert (tmp_path / "outcome").read_bytes() == b"first"


def committed_on_a_full_disk(
    place: Path,
    reserve: Callable[[Path], bool],
    commit: Callable[[Path, Path, bytes, ManualClock], None],
) -> None:
    place.mkdir()
    with small_disk(place, 256):
        reserve(place / "slot")
        fill(place)
        try:
            commit(place / "slot", place / "outcome", b"y" * SLOT_BYTES, CLOCK)
            written = (place / "outcome").read_bytes()
        except OSError:
            written = b""
        assert written == b"y" * SLOT_BYTES


@needs_small_disk
def test_an_outcome_can_be_written_on_a_full_disk(tmp_path: Path) -> None:
    committed_on_a_full_disk(tmp_path / "disk", allocate, commit_slot)


@needs_small_disk
@pytest.mark.parametrize(
    ("reserve", "commit"),
    [(sparse, commit_slot), (allocate, cut_first)],
    ids=["a slot that is not allocated", "a slot cut before it is written"],
)
def test_a_slot_without_its_room_is_of_no_use_there(
    tmp_path: Path,
    reserve: Callable[[Path], bool],
    commit: Callable[[Path, Path, bytes, ManualClock], None],
) -> None:
    with pytest.raises(AssertionError):
        committed_on_a_full_disk(tmp_path / "disk", reserve, commit)
