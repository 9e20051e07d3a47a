"""Blank is empty, white space, or a byte order mark with nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.blank import are_blank, is_blank, is_blank_text, stripped


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \t\r\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf \n",
        b"\xff\xfe",
        b"\xfe\xff",
        "\ufeff \r\n".encode("utf-16-le"),
        "\ufeff\n".encode("utf-16-be"),
        "\u00a0\u3000".encode(),
    ],
    ids=repr,
)
def test_these_are_blank(data: bytes) -> None:
    assert is_blank(data)


@pytest.mark.parametrize(
    "data",
    [b"x", b"\x00", b" \n.", b"\xef\xbb\xbfx", b"\xff", "\ufeffx".encode("utf-16-le"), b"\xff\xfe\x00"],
    ids=repr,
)
def test_these_are_not(data: bytes) -> None:
    assert not is_blank(data)


@given(
    st.lists(st.sampled_from(["\ufeff", " ", "\u3000", "\n", "x", "\u200b"]), max_size=5),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
    st.sampled_from([b"", b"", b"\xe3", b"\x00"]),
    st.integers(1, 4),
)
def test_it_does_not_matter_how_a_file_is_cut(
    parts: list[str], encoding: str, rest: bytes, size: int
) -> None:
    mark = "" if encoding == "utf-8" else "\ufeff"
    data = (mark + "".join(parts)).encode(encoding) + rest
    blank = not rest and is_blank_text("".join(parts))
    assert is_blank(data) is blank
    assert are_blank(data[at : at + size] for at in range(0, len(data), size)) is blank
    assert are_blank(byte for part in data for byte in (b"", bytes([part]))) is blank


def test_no_chunk_is_taken_after_one_that_says_something() -> None:
    chunks = iter([b"\n", b" x", b"y"])
    assert not are_blank(chunks)
    assert list(chunks) == [b"y"]


def test_text_is_stripped_of_white_space_and_of_a_mark() -> None:
    assert stripped(" \ufeff a b\n") == "a b"
    assert is_blank_text("\ufeff\n")
    assert not is_blank_text("\u200b")
