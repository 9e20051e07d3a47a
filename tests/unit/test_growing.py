"""A growing file is read on from where the last reading stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from prun.system.growing import GrowingFile
from prun.system.reading import Missing, NotRegular
from tests.support.capabilities import make_fifo, needs_fifos

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_each_reading_gives_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "tail"
    growing = GrowingFile(path)
    assert (growing.read_on(10), growing.trouble) == (b"", Missing())
    append(path, b"one")
    assert (growing.read_on(10), growing.trouble, growing.size_bytes) == (b"one", None, 3)
    assert growing.read_on(10) == b""
    append(path, b"two")
    assert (growing.read_on(10), growing.offset_bytes) == (b"two", 6)


@settings(deadline=None, max_examples=50)
@given(chunks=st.lists(st.binary(max_size=40), max_size=8), limit_bytes=st.integers(1, 50))
def test_the_readings_together_are_the_file(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], limit_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("growing") / "tail"
    growing = GrowingFile(path)
    read = b""
    for chunk in chunks:
        append(path, chunk)
        read += growing.read_on(limit_bytes)
        assert growing.size_bytes == path.stat().st_size
    while part := growing.read_on(limit_bytes):
        assert len(part) <= limit_bytes
        read += part
    assert read == b"".join(chunks)


def test_a_file_cut_short_or_made_anew_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "agy.log"
    growing = GrowingFile(path)
    append(path, b"first log")
    growing.read_on(100)
    path.write_bytes(b"cut")
    assert growing.read_on(100) == b"cut"
    (tmp_path / "new").write_bytes(b"another log")
    (tmp_path / "new").replace(path)
    assert growing.read_on(100) == b"another log"


def test_a_file_that_went_away_is_missing_until_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "tail"
    growing = GrowingFile(path)
    append(path, b"one")
    growing.read_on(10)
    path.unlink()
    assert (growing.read_on(10), growing.trouble) == (b"", Missing())


def test_no_descriptor_is_held(tmp_path: Path) -> None:
    path = tmp_path / "tail"
    append(path, b"one")
    growing = GrowingFile(path)
    growing.read_on(10)
    path.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").unlink()


@needs_fifos
def test_a_fifo_gives_nothing_and_does_not_block(tmp_path: Path) -> None:
    make_fifo(tmp_path / "tail")
    growing = GrowingFile(tmp_path / "tail")
    assert (growing.read_on(10), growing.trouble) == (b"", NotRegular("a FIFO"))
