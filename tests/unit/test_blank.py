"""Blank is empty, white space, or a byte order mark with nothing else."""

from __future__ import annotations

import pytest

from prun.core.blank import is_blank, is_blank_text, stripped


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


def test_text_is_stripped_of_white_space_and_of_a_mark() -> None:
    assert stripped(" \ufeff a b\n") == "a b"
    assert is_blank_text("\ufeff\n")
    assert not is_blank_text("\u200b")
