"""Text of other programs is made harmless and kept readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.plain import one_line, tellable, utf8, visible, without_escapes


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("plain", "plain"),
        ("\x1b[31merror:\x1b[0m no", "error: no"),
        ("\x1b[?2004h\rerror", "\rerror"),
        ("\x1b]0;agy\x07{", "{"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bx\x1b=y\x1bMz", "xyz"),
        ("torn \x1b", "torn "),
        ("torn \x1b[31", "torn [31"),
        ("torn \x1b]0;title", "torn "),
    ],
    ids=ascii,
)
def test_terminal_escapes_are_removed(text: str, plain: str) -> None:
    assert without_escapes(text) == plain


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\n  b\tc ", "a b c"),
        ("\x1b[1mbold\x1b[0m", "bold"),
        ("nul \x00 bell \x07", "nul \\x00 bell \\x07"),
        ("turn \u202e back", "turn \\u202e back"),
        ("lone \ud800 half", "lone \\ud800 half"),
        ("grüße €", "grüße €"),
        ("", ""),
    ],
    ids=ascii,
)
def test_text_becomes_one_printable_line(text: str, line: str) -> None:
    assert one_line(text, 100) == line


def test_a_long_text_is_cut_and_says_so() -> None:
    assert one_line("x" * 10, 10) == "x" * 10
    assert one_line("x" * 11, 10) == "x" * 9 + "…"
    assert one_line("x" * 1_000_000, 10) == "x" * 9 + "…"
    assert one_line(" " * 1000 + "x", 10) == "…"
    assert one_line("x" + " " * 1000, 10) == "x"


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "sp ace",
        "per\u200csian",
        "\U0001f468\u200d\U0001f469",
        "\u202eabc",
        "e\u0301",
        "\u00a0",
        "\ufeff",
        ". ",
        "\u061c",
    ],
    ids=ascii,
)
def test_a_path_that_text_can_carry_is_tellable(name: str) -> None:
    assert tellable(f"/w/{name}.md")


@pytest.mark.parametrize(
    "code", [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xD800, 0xDCFF, 0xDFFF], ids=hex
)
def test_a_path_with_a_control_a_line_end_or_half_a_character_is_not(code: int) -> None:
    assert not tellable(f"/w/{chr(code)}.md")


@given(st.text(), st.integers(2, 50))
def test_a_line_is_bounded_encodable_and_without_control_characters(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert line.encode().decode() == line
    assert line == visible(line)


@given(st.text())
def test_a_tellable_path_is_one_line_and_comes_back_from_a_file_as_it_was(path: str) -> None:
    if tellable(path):
        assert path.encode().decode() == path
        assert f"a{path}z".splitlines() == [f"a{path}z"]


def test_whatever_utf8_cannot_hold_is_replaced_and_the_rest_is_kept() -> None:
    assert utf8("€") == "€".encode()
    assert utf8("a\ud800b") == "a\ufffdb".encode()
    assert utf8("\ud83d\ude00") == "\U0001f600".encode()
