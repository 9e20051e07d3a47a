from __future__ import annotations

import json

import pytest

from prun.core import json_strings
from prun.core.json_strings import head, tail, whole

SMALL_PIECE_BYTES = 20


def inside(text: str, *, ascii_only: bool) -> bytes:
    """Return *text* as JSON writes it, without the quotes."""
    return json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")[1:-1]


TEXTS = [
    "",
    "plain",
    "x" * 200,
    "a€" * 50,
    "\u4e2d\u6587" * 40,
    "😀" * 40,
    "a😀" * 40,
    "ab😀" * 40,
    '"' * 90,
    "\\" * 90,
    "\\ud83d" * 30,
    "\\\\u" * 30,
    "line\n" * 40,
    "\x00\x01" * 40,
]


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("shift", range(4))
def test_a_string_in_pieces_is_the_string(
    text: str, shift: int, ascii_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_strings, "PIECE_BYTES", SMALL_PIECE_BYTES)
    text = "s" * shift + text
    raw = inside(text, ascii_only=ascii_only)
    data = b'{"' + raw + b'"'
    assert whole(data, 2, 2 + len(raw)).decode() == text
    assert tail(data, 2, 2 + len(raw)) == text
    assert head(data, 2, 2 + len(raw)) == text


def test_a_huge_string_is_kept_from_either_end() -> None:
    raw = b"".join(b"%07d\\n" % n for n in range(200_000))
    text = raw.decode().replace("\\n", "\n")
    first, last = head(raw, 0, len(raw)), tail(raw, 0, len(raw))
    assert text.startswith(first)
    assert text.endswith(last)
    assert 200_000 < len(first) < len(text)
    assert json_strings.TAIL_BYTES <= len(last) < len(text)
    assert whole(raw, 0, len(raw)).decode() == text


@pytest.mark.parametrize("raw", [b"", b"  \\n\\t", b"\xef\xbb\xbf", b" " * 200_000])
def test_a_blank_string_is_nothing(raw: bytes) -> None:
    assert whole(raw, 0, len(raw)) == b""


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a\xffb", "a\ufffdb"),
        (b"a\\ud800b", "a\ufffdb"),
        (b"\\udc00\\ud800", "\ufffd\ufffd"),
        (b"\xe2\x82", "\ufffd"),
    ],
)
def test_what_utf8_cannot_hold_becomes_a_replacement_character(raw: bytes, text: str) -> None:
    assert whole(raw, 0, len(raw)).decode() == text


@pytest.mark.parametrize("raw", [b"\\x", b"\\u12", b"a\\", b'a"b'])
def test_what_is_no_string_is_an_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        whole(raw, 0, len(raw))
