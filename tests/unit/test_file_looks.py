"""Files that are looked at again and again: what is there is told, and read only when it changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prun.core.unit_snapshot import NO_FILE, NO_RESULT, Document, FileLook, Found
from prun.system.file_looks import CIRCLE, OutputFile, ResultFile, SmallFile, is_there, stat_of
from prun.system.reading import Contents, Missing, NotRegular, TooBig, Unreadable
from tests.support.capabilities import make_fifo, needs_denial, needs_fifos, needs_symlinks

if TYPE_CHECKING:
    from pathlib import Path

LARGE_BYTES = 2 * 1024 * 1024
HEADER = "# u-1 result (FALLBACK, some other tool's words)\nConclusion: INCOMPLETE\n"


def document(path: Path) -> tuple[Document, bool]:
    seen = ResultFile(str(path)).look()
    return seen.found, seen.fallback


# Small files.


def test_a_small_file_is_read_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    small = SmallFile(path, 10)
    assert small.read() == Missing()
    path.write_bytes(b"one")
    first = small.read()
    assert first == Contents(b"one")
    assert small.read() is first
    path.write_bytes(b"three")
    assert small.read() == Contents(b"three")
    path.write_bytes(b"more than ten bytes")
    assert small.read() == TooBig(10)
    path.unlink()
    assert small.read() == Missing()


def test_a_small_file_made_anew_with_the_same_size_is_read_again(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_bytes(b"one")
    small = SmallFile(path, 10)
    small.read()
    other.write_bytes(b"two")
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)
    assert small.read() == Contents(b"two")


def test_trouble_that_stays_is_the_same_each_time(tmp_path: Path) -> None:
    small = SmallFile(tmp_path, 10)
    first = small.read()
    assert first == NotRegular("a directory")
    assert small.read() is first


@needs_symlinks
def test_a_link_in_a_circle_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert stat_of(str(tmp_path / "a")) == NotRegular(CIRCLE)
    assert SmallFile(tmp_path / "a", 10).read() == NotRegular(CIRCLE)
    assert OutputFile(tmp_path / "a").look().found is Found.IRREGULAR
    assert ResultFile(str(tmp_path / "a")).look().found is Document.IRREGULAR


def test_what_can_be_no_path_is_nowhere_and_known_to_be_nowhere(tmp_path: Path) -> None:
    assert not is_there("a\0b")
    assert isinstance(stat_of("a\0b"), Unreadable)
    assert ResultFile("a\0b").look().found is Document.UNKNOWN
    assert not is_there(str(tmp_path / "gone"))
    assert is_there(str(tmp_path))


# Outputs.


def test_an_output_is_told_by_its_size_and_is_the_same_look_while_nothing_changed(tmp_path: Path) -> None:
    path = tmp_path / "tail"
    output = OutputFile(path)
    assert output.look() is NO_FILE
    path.write_bytes(b"x" * 7)
    os.utime(path, (100, 100))
    first = output.look()
    assert first == FileLook(Found.REGULAR, 7, 100.0)
    assert output.look() is first
    with path.open("ab") as tail:
        tail.write(b"y")
    assert output.look().size_bytes == 8
    path.unlink()
    assert output.look() is NO_FILE


def test_an_output_that_becomes_something_else_and_a_file_again_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "tail"
    path.write_bytes(b"x")
    output = OutputFile(path)
    before = output.look()
    path.unlink()
    path.mkdir()
    assert output.look() == FileLook(Found.IRREGULAR)
    assert output.trouble == NotRegular("a directory")
    path.rmdir()
    path.write_bytes(b"x")
    assert output.look().size_bytes == before.size_bytes
    assert output.trouble is None


def test_a_file_whose_parent_is_none_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    seen = OutputFile(tmp_path / "file" / "tail").look()
    assert seen.found in {Found.UNKNOWN, Found.MISSING}


@needs_denial
def test_what_is_denied_is_unknown_and_not_missing(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    try:
        assert OutputFile(closed / "tail").look().found is Found.UNKNOWN
        assert ResultFile(str(closed / "r.md")).look().found is Document.UNKNOWN
        assert isinstance(SmallFile(closed / "file", 10).read(), Unreadable)
    finally:
        closed.chmod(0o700)


@needs_denial
def test_a_result_that_may_not_be_read_is_unknown_until_it_may(tmp_path: Path) -> None:
    path = tmp_path / "r.md"
    path.write_text("an answer", encoding="utf-8")
    path.chmod(0o000)
    result = ResultFile(str(path))
    assert result.look().found is Document.UNKNOWN
    assert isinstance(result.trouble, Unreadable)
    path.chmod(0o600)
    assert result.look().found is Document.PRESENT
    assert result.trouble is None


# Results.


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", (Document.BLANK, False)),
        (b" \r\n\t", (Document.BLANK, False)),
        (b"\xef\xbb\xbf", (Document.BLANK, False)),
        (b"\xff\xfe \x00", (Document.BLANK, False)),
        (b"x", (Document.PRESENT, False)),
        (b"\x00", (Document.PRESENT, False)),
        (b" " * LARGE_BYTES, (Document.BLANK, False)),
        (b" " * LARGE_BYTES + b"x", (Document.PRESENT, False)),
        (HEADER.encode(), (Document.PRESENT, True)),
        (HEADER.replace("\n", "\r\n").encode(), (Document.PRESENT, True)),
        (("\ufeff" + HEADER).encode(), (Document.PRESENT, True)),
        (("\ufeff" + HEADER).encode("utf-16-le"), (Document.PRESENT, True)),
        (("\ufeff" + HEADER).encode("utf-16-be"), (Document.PRESENT, True)),
        (HEADER.encode() + b"x" * LARGE_BYTES, (Document.PRESENT, True)),
        (b"# u-1 result\n" + HEADER.encode(), (Document.PRESENT, False)),
        (b"# u-1 result\nThe run was a FALLBACK, it said.\n", (Document.PRESENT, False)),
        (b"> " + HEADER.encode(), (Document.PRESENT, False)),
    ],
    ids=range(17),
)
def test_a_result_is_told_by_what_it_says(tmp_path: Path, data: bytes, found: tuple[Document, bool]) -> None:
    (tmp_path / "r.md").write_bytes(data)
    assert document(tmp_path / "r.md") == found


def test_a_result_is_read_only_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "r.md"
    result = ResultFile(str(path))
    assert result.look() is NO_RESULT
    path.write_bytes(b"part one")
    first = result.look()
    assert result.look() is first
    path.write_bytes(b"part one and part two")
    second = result.look()
    assert second.stamp != first.stamp
    os.utime(path, (5, 5))
    assert result.look().stamp != second.stamp
    path.unlink()
    assert result.look() is NO_RESULT


@needs_fifos
@needs_symlinks
def test_no_look_opens_a_fifo_or_a_device(tmp_path: Path) -> None:
    make_fifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name, what in (("fifo", "a FIFO"), ("device", "a device")):
        result, output = ResultFile(str(tmp_path / name)), OutputFile(tmp_path / name)
        assert result.look().found is Document.IRREGULAR
        assert output.look().found is Found.IRREGULAR
        assert result.trouble == output.trouble == NotRegular(what)


@needs_symlinks
def test_a_result_may_be_a_link_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "r.md").symlink_to(tmp_path / "other.md")
    assert document(tmp_path / "r.md") == (Document.MISSING, False)
    (tmp_path / "other.md").write_bytes(b"said")
    assert document(tmp_path / "r.md") == (Document.PRESENT, False)
