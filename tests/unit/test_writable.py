"""A result path that can't be written is refused before anything starts, by name and with a next step."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from prun.core.errors import UsageError
from prun.system.writable import check_fresh, check_writable
from tests.support.capabilities import (
    make_fifo,
    needs_byte_limit,
    needs_denial,
    needs_fifos,
    needs_name_limit,
    needs_odd_names,
    needs_small_disk,
    needs_symlinks,
    small_disk,
)


def response_name(result: Path) -> str:
    return f"{result.stem}.response{result.suffix}"


def refusal(path: Path, *extra_names: str) -> str:
    with pytest.raises(UsageError) as caught:
        check_writable(path, extra_names)
    message = str(caught.value)
    assert "\n" not in message
    assert "--result-file" in message
    return message


@pytest.mark.parametrize("name", ["u1.md", "ü n1.md", "x", "u.", "u..", "-rf", ".hidden", "two words"])
def test_a_good_path_leaves_nothing_but_its_directory(tmp_path: Path, name: str) -> None:
    place = tmp_path / "new" / "deeper"
    check_fresh(place / name)
    check_writable(place / name, [response_name(place / name)])
    assert list(place.iterdir()) == []


def test_what_lies_beside_the_target_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / ".1.md").write_bytes(b"kept")
    check_writable(tmp_path / "u1.md")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {".1.md": b"kept"}


def test_a_parent_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "afile").write_bytes(b"kept")
    for path in (tmp_path / "afile" / "u1.md", tmp_path / "afile" / "deeper" / "u1.md"):
        check_fresh(path)
        message = refusal(path)
        assert "u1.md" in message
        assert "is a file" in message or "cannot find" in message
    assert (tmp_path / "afile").read_bytes() == b"kept"


@needs_denial
def test_a_directory_closed_to_us_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert os.strerror(errno.EACCES) in refusal(closed / "u1.md")
    assert os.strerror(errno.EACCES) in refusal(closed / "new" / "u1.md")
    closed.chmod(0o700)


@needs_name_limit
@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("n" * 243 + ".md", True),
        ("n" * 244 + ".md", False),
        ("n" * 300 + ".md", False),
    ],
    ids=["room for the response too", "no room for the response", "no room at all"],
)
def test_a_name_needs_room_for_what_goes_beside_it(tmp_path: Path, name: str, fits: bool) -> None:
    path = tmp_path / name
    if fits:
        check_writable(path, [response_name(path)])
    else:
        assert "too long" in refusal(path, response_name(path))
    assert list(tmp_path.iterdir()) == []


@needs_byte_limit
def test_bytes_are_counted_where_the_system_counts_them(tmp_path: Path) -> None:
    check_writable(tmp_path / ("é" * 126 + ".md"))
    assert "too long" in refusal(tmp_path / ("é" * 127 + ".md"))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other limits for a path")
def test_a_path_needs_room_for_a_temporary_name(tmp_path: Path) -> None:
    deep = tmp_path
    while len(str(deep)) < 4096 - 210:
        deep /= "d" * 190
    deep /= "d" * (4096 - 1 - len(str(deep)) - 1 - len("/u1.md"))
    assert len(str(deep / "u1.md")) == 4095
    with pytest.raises(UsageError, match="too long"):
        check_writable(deep / "u1.md")


def test_no_name_at_all_is_refused(tmp_path: Path) -> None:
    refusal(Path(tmp_path.anchor))
    refusal(tmp_path / "..")


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    refusal(tmp_path / "a\0b.md")
    with pytest.raises(UsageError):
        check_fresh(tmp_path / "a\0b.md")


@pytest.mark.skipif(sys.platform != "win32", reason="devices have names of their own there")
@pytest.mark.parametrize("name", ["con", "nul.md", "LPT1.txt"])
def test_a_device_is_refused(tmp_path: Path, name: str) -> None:
    refusal(tmp_path / name)


def test_a_full_disk_is_refused_by_its_own_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    assert os.strerror(errno.ENOSPC) in refusal(tmp_path / "u1.md")
    assert list(tmp_path.iterdir()) == []


@needs_small_disk
def test_a_disk_filled_to_the_brim_is_refused(tmp_path: Path) -> None:
    with small_disk(tmp_path, 64):
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            (tmp_path / "filler").write_bytes(b"x" * 100_000)
        assert os.strerror(errno.ENOSPC) in refusal(tmp_path / "u1.md")


@needs_odd_names
def test_a_name_that_is_not_utf_8_can_be_written(tmp_path: Path) -> None:
    check_writable(tmp_path / os.fsdecode(b"caf\xe9.md"))


def test_the_message_is_one_line_whatever_the_path_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught:
        check_writable(tmp_path / "file" / "a\nb\x1b[2J\u202e.md")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_a_path_that_is_taken_is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "u1.md"
    if kind == "file":
        path.touch()
    else:
        path.mkdir()
    with pytest.raises(UsageError, match=r"u1\.md exists already"):
        check_fresh(path)


@needs_symlinks
def test_a_dangling_link_takes_the_path(tmp_path: Path) -> None:
    (tmp_path / "u1.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="exists already"):
        check_fresh(tmp_path / "u1.md")


@needs_fifos
def test_a_fifo_takes_the_path(tmp_path: Path) -> None:
    make_fifo(tmp_path / "u1.md")
    with pytest.raises(UsageError, match="exists already"):
        check_fresh(tmp_path / "u1.md")


@needs_denial
def test_a_path_that_can_not_be_looked_at_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    with pytest.raises(UsageError, match="cannot write"):
        check_fresh(closed / "u1.md")
    closed.chmod(0o700)
