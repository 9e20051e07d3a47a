"""Reading is bounded, tells what it could not read, and never waits for a writer."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from prun.system.growing import GrowingFile
from prun.system.reading import (
    Contents,
    Missing,
    NotRegular,
    Standing,
    TooBig,
    Unreadable,
    is_blank_file,
    read_bounded,
    read_end,
    read_start,
    sha256_of,
    standing,
)
from tests.support.capabilities import (
    make_fifo,
    make_socket,
    needs_byte_limit,
    needs_denial,
    needs_fifos,
    needs_sockets,
    needs_symlinks,
)


@pytest.mark.parametrize(
    ("size_bytes", "limit_bytes", "found"),
    [
        (0, 0, Contents(b"")),
        (0, 10, Contents(b"")),
        (10, 10, Contents(b"x" * 10)),
        (11, 10, TooBig(10)),
        (3_000_000, 10, TooBig(10)),
        (3_000_000, 3_000_000, Contents(b"x" * 3_000_000)),
    ],
)
def test_a_file_is_read_up_to_the_limit(
    tmp_path: Path, size_bytes: int, limit_bytes: int, found: Contents | TooBig
) -> None:
    (tmp_path / "file").write_bytes(b"x" * size_bytes)
    assert read_bounded(tmp_path / "file", limit_bytes) == found


def test_bytes_come_as_they_are(tmp_path: Path) -> None:
    data = bytes(range(256)) + b"\r\n\x1a\n"
    (tmp_path / "file").write_bytes(data)
    assert read_bounded(tmp_path / "file", 1000) == Contents(data)


def test_only_no_such_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert read_bounded(tmp_path / "gone", 10) == Missing()
    assert read_bounded(tmp_path / "gone" / "deeper", 10) == Missing()
    assert isinstance(read_bounded(Path("a\0b"), 10), Unreadable)


@needs_byte_limit
def test_a_name_that_can_not_be_is_unreadable(tmp_path: Path) -> None:
    assert read_bounded(tmp_path / ("n" * 300), 10) == Unreadable(os.strerror(errno.ENAMETOOLONG))


@needs_denial
def test_a_denied_look_is_no_proof_of_absence(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    assert read_bounded(closed / "file", 10) == Unreadable(os.strerror(errno.EACCES))
    assert standing(closed / "file") is Standing.UNKNOWN
    closed.chmod(0o700)


def test_a_directory_is_not_regular(tmp_path: Path) -> None:
    assert read_bounded(tmp_path, 10) == NotRegular("a directory")
    assert read_end(tmp_path, 10) == b""
    assert sha256_of(tmp_path) is None
    assert standing(tmp_path) is Standing.OTHER


@needs_fifos
def test_a_fifo_is_neither_waited_for_nor_read(tmp_path: Path) -> None:
    make_fifo(tmp_path / "fifo")
    assert read_bounded(tmp_path / "fifo", 10) == NotRegular("a FIFO")
    assert read_start(tmp_path / "fifo", 10) == b""
    assert sha256_of(tmp_path / "fifo") is None
    assert not is_blank_file(tmp_path / "fifo")


@needs_fifos
@needs_symlinks
def test_a_link_to_a_fifo_or_a_device_is_not_read(tmp_path: Path) -> None:
    make_fifo(tmp_path / "fifo")
    (tmp_path / "to fifo").symlink_to(tmp_path / "fifo")
    (tmp_path / "to device").symlink_to("/dev/zero")
    assert read_bounded(tmp_path / "to fifo", 10) == NotRegular("a FIFO")
    assert read_bounded(tmp_path / "to device", 10) == NotRegular("a device")


@needs_fifos
def test_a_fifo_put_there_between_look_and_opening_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.touch()
    opened = os.open

    def swapped(name: Path, flags: int) -> int:
        path.unlink()
        make_fifo(path)
        return opened(name, flags)

    monkeypatch.setattr(os, "open", swapped)
    assert read_bounded(path, 10) == NotRegular("a FIFO")


@needs_sockets
def test_a_socket_is_not_regular(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    with make_socket("socket"):
        assert read_bounded(tmp_path / "socket", 10) == NotRegular("a socket")


def test_a_disk_that_fails_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")

    def fail(*_: Any) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "read", fail)
    assert read_bounded(path, 10) == Unreadable(os.strerror(errno.EIO))
    assert read_start(path, 10) == read_end(path, 10) == b""
    assert sha256_of(path) is None
    assert standing(path) is Standing.UNKNOWN
    growing = GrowingFile(path)
    assert (growing.read_on(10), growing.trouble) == (b"", Unreadable(os.strerror(errno.EIO)))


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (Missing(), "there is no such file"),
        (NotRegular("a FIFO"), "it is a FIFO, not a regular file"),
        (Unreadable("Permission denied"), "Permission denied"),
        (TooBig(10), "it is larger than 10 bytes"),
    ],
)
def test_a_finding_ends_a_sentence(finding: Missing | NotRegular | Unreadable | TooBig, words: str) -> None:
    assert finding.describe() == words


@pytest.mark.parametrize(
    ("limit_bytes", "start", "end"), [(0, b"", b""), (2, b"ab", b"de"), (9, b"abcde", b"abcde")]
)
def test_the_start_and_the_end_of_a_file(tmp_path: Path, limit_bytes: int, start: bytes, end: bytes) -> None:
    (tmp_path / "file").write_bytes(b"abcde")
    assert read_start(tmp_path / "file", limit_bytes) == start
    assert read_end(tmp_path / "file", limit_bytes) == end
    assert read_end(tmp_path / "gone", limit_bytes) == read_start(tmp_path / "gone", limit_bytes) == b""


@pytest.mark.parametrize("size_bytes", [0, 1, 3_000_000])
def test_the_digest_of_a_file(tmp_path: Path, size_bytes: int) -> None:
    data = b"y" * size_bytes
    (tmp_path / "file").write_bytes(data)
    assert sha256_of(tmp_path / "file") == hashlib.sha256(data).hexdigest()
    assert sha256_of(tmp_path / "gone") is None


@pytest.mark.parametrize(
    ("data", "stands"),
    [
        (b"", Standing.BLANK),
        (b"\xef\xbb\xbf", Standing.BLANK),
        (b" \r\n" * 1000, Standing.BLANK),
        (b"a", Standing.CONTENT),
        (b"\0", Standing.CONTENT),
        (b" " * 2_000_000, Standing.BLANK),
        (b"\xef\xbb\xbf" + "\u3000".encode() * 1_000_000, Standing.BLANK),
        (b" " * 2_000_000 + b"a", Standing.CONTENT),
        (b" " * 2_000_000 + b"\xe3\x80", Standing.CONTENT),
        (("\ufeff" + " " * 1_000_000).encode("utf-16-le"), Standing.BLANK),
        (("\ufeff" + " " * 1_000_000 + "a").encode("utf-16-be"), Standing.CONTENT),
    ],
    ids=[
        *("empty", "mark", "spaces", "letter", "NUL", "spaces without end", "wide spaces after a mark"),
        *("a letter at the end", "half a letter at the end", "UTF-16", "UTF-16 with a letter at the end"),
    ],
)
def test_what_a_file_at_the_result_path_counts_for(tmp_path: Path, data: bytes, stands: Standing) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert standing(path) is stands
    assert is_blank_file(path) is (stands is Standing.BLANK)


def test_a_file_is_read_no_further_than_it_says_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b" " * 1_000_000 + b"a" + b" " * 5_000_000)
    read, got = os.read, 0

    def counted(descriptor: int, size_bytes: int) -> bytes:
        nonlocal got
        data = read(descriptor, size_bytes)
        got += len(data)
        return data

    monkeypatch.setattr(os, "read", counted)
    assert standing(path) is Standing.CONTENT
    assert 1_000_000 < got < 2_000_000


def test_nothing_is_neither_blank_nor_content(tmp_path: Path) -> None:
    assert standing(tmp_path / "gone") is Standing.NOTHING
    assert not is_blank_file(tmp_path / "gone")
    assert not is_blank_file(Path("a\0b"))


@needs_symlinks
def test_a_link_counts_for_what_it_leads_to_but_is_no_blank_file_itself(tmp_path: Path) -> None:
    (tmp_path / "said").write_bytes(b"a")
    (tmp_path / "blank").touch()
    for name in ("said", "blank", "gone"):
        (tmp_path / f"to {name}").symlink_to(tmp_path / name)
    found = [standing(tmp_path / f"to {name}") for name in ("said", "blank", "gone")]
    assert found == [Standing.CONTENT, Standing.BLANK, Standing.OTHER]
    assert not is_blank_file(tmp_path / "to blank")
