"""Files appear whole, replace nothing that says anything, and leave nothing of a failed attempt."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from prun.system.files import (
    SHARED,
    publish_new,
    publish_over_blank,
    replace,
    set_aside,
    temporary_beside,
    write_new,
)
from tests.support.capabilities import make_fifo, needs_fifos, needs_modes, needs_name_limit, needs_symlinks
from tests.support.clocks import ManualClock
from tests.support.steps import fails_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CLOCK = ManualClock()


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("data", [b"", b"text\n", b"\x00\xff\r\n", b"x" * 3_000_000], ids=len)
def test_a_published_file_holds_its_data_and_nothing_lies_beside_it(tmp_path: Path, data: bytes) -> None:
    publish_new(tmp_path / "u1.md", data, CLOCK)
    assert (tmp_path / "u1.md").read_bytes() == data
    assert names(tmp_path) == ["u1.md"]


def test_what_stands_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "directory").mkdir()
    for name in ("file", "directory"):
        with pytest.raises(FileExistsError):
            publish_new(tmp_path / name, b"new", CLOCK)
    assert names(tmp_path) == ["directory", "file"]
    assert (tmp_path / "file").read_bytes() == b""


@needs_symlinks
def test_a_dangling_link_stands_and_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for publish in (publish_new, publish_over_blank):
        with pytest.raises(FileExistsError):
            publish(link, b"new", CLOCK)
    assert names(tmp_path) == ["link"]
    assert link.is_symlink()


@needs_fifos
def test_a_fifo_stands_and_is_not_opened(tmp_path: Path) -> None:
    make_fifo(tmp_path / "fifo")
    for publish in (publish_new, publish_over_blank):
        with pytest.raises(FileExistsError):
            publish(tmp_path / "fifo", b"new", CLOCK)
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


def test_a_missing_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        publish_new(tmp_path / "gone" / "u1.md", b"new", CLOCK)


@pytest.mark.parametrize("blank", [b"", b" \r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_blank_file_is_replaced_where_that_is_asked_for(tmp_path: Path, blank: bytes) -> None:
    path = tmp_path / "u1.md"
    path.write_bytes(blank)
    publish_over_blank(path, b"new", CLOCK)
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["u1.md"]


def test_nothing_there_is_as_good_as_a_blank_file(tmp_path: Path) -> None:
    publish_over_blank(tmp_path / "u1.md", b"new", CLOCK)
    assert (tmp_path / "u1.md").read_bytes() == b"new"


@pytest.mark.parametrize("said", [b"a", b"\n\n.\n", b"\xef\xbb\xbfa", b" " * 2_000_000 + b"a"])
def test_a_file_that_may_say_something_is_not_replaced(tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "u1.md"
    path.write_bytes(said)
    with pytest.raises(FileExistsError):
        publish_over_blank(path, b"new", CLOCK)
    assert path.read_bytes() == said
    assert names(tmp_path) == ["u1.md"]


@needs_symlinks
def test_a_link_to_a_blank_file_is_not_a_blank_file(tmp_path: Path) -> None:
    (tmp_path / "blank").touch()
    (tmp_path / "link").symlink_to(tmp_path / "blank")
    with pytest.raises(FileExistsError):
        publish_over_blank(tmp_path / "link", b"new", CLOCK)
    assert (tmp_path / "blank").read_bytes() == b""


def test_a_record_that_changes_is_replaced(tmp_path: Path) -> None:
    for data in (b"one", b"two and more", b"3"):
        replace(tmp_path / "record", data, CLOCK)
        assert (tmp_path / "record").read_bytes() == data
    assert names(tmp_path) == ["record"]


@needs_modes
def test_files_are_private_unless_they_are_the_users_own(tmp_path: Path, umask: Callable[[int], int]) -> None:
    umask(0o022)
    publish_new(tmp_path / "record", b"", CLOCK)
    replace(tmp_path / "changing", b"", CLOCK)
    write_new(tmp_path / "fresh", b"")
    publish_new(tmp_path / "result", b"", CLOCK, mode=SHARED)
    umask(0o027)
    publish_over_blank(tmp_path / "guarded", b"", CLOCK, mode=SHARED)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()}
    assert modes == {
        "record": "0o600",
        "changing": "0o600",
        "fresh": "0o600",
        "result": "0o644",
        "guarded": "0o640",
    }


@needs_name_limit
def test_the_longest_name_that_a_directory_takes_can_be_published(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    publish_new(path, b"new", CLOCK)
    assert path.read_bytes() == b"new"


def test_temporary_names_are_short_hidden_and_never_the_same(tmp_path: Path) -> None:
    made = {temporary_beside(tmp_path / "u1.md").name for _ in range(100)}
    assert len(made) == 100
    assert all(name.startswith(".prun-") and len(name) <= 30 for name in made)


WRITERS = {
    "publish_new": publish_new,
    "publish_over_blank": publish_over_blank,
    "replace": replace,
}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES], ids=errno.errorcode.get)
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS.keys())
def test_a_call_that_fails_leaves_the_target_whole_or_absent_and_no_temporary_file(
    tmp_path: Path, writer: Callable[[Path, bytes, ManualClock], None], number: int
) -> None:
    step = 1
    while True:
        place = tmp_path / str(step)
        place.mkdir()

        def write(place: Path = place) -> None:
            writer(place / "u1.md", b"new and whole", ManualClock())

        failed = fails_at(step, write, number)
        if failed is None:
            break
        left = {path.name: path.read_bytes() for path in place.iterdir()}
        assert left.pop("u1.md", b"new and whole") == b"new and whole"
        assert left == {} or failed == "unlink"
        step += 1
    assert step > 4
    assert names(place) == ["u1.md"]


def test_a_foreign_file_is_moved_to_the_first_free_place(tmp_path: Path) -> None:
    (tmp_path / "aside.1").write_bytes(b"earlier")
    (tmp_path / "it").write_bytes(b"foreign")
    assert set_aside(tmp_path / "it", lambda n: tmp_path / f"aside.{n}", CLOCK) == tmp_path / "aside.2"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "aside.1": b"earlier",
        "aside.2": b"foreign",
    }


def test_a_foreign_directory_is_moved_whole(tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "inside").write_bytes(b"foreign")
    set_aside(tmp_path / "it", lambda n: tmp_path / f"aside.{n}", CLOCK)
    assert (tmp_path / "aside.1" / "inside").read_bytes() == b"foreign"


@needs_symlinks
def test_a_foreign_link_is_moved_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"kept")
    (tmp_path / "it").symlink_to(tmp_path / "elsewhere")
    set_aside(tmp_path / "it", lambda n: tmp_path / f"aside.{n}", CLOCK)
    assert (tmp_path / "aside.1").is_symlink()
    assert (tmp_path / "elsewhere").read_bytes() == b"kept"


def test_nothing_to_set_aside_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        set_aside(tmp_path / "it", lambda n: tmp_path / f"aside.{n}", CLOCK)
