"""Conversation ids as files hold them."""

from __future__ import annotations

import pytest

from prun.core.conversation_id import valid_conversation_id
from prun.core.errors import UsageError

ID = "0b8e4b1e-12ab-4000-8000-00000000000f"


@pytest.mark.parametrize(
    "data",
    [ID, f"{ID}\n", f"{ID}\r\n", f"\ufeff{ID}", f"\ufeff{ID}\r\n"],
    ids=["bare", "line", "windows line", "mark", "mark and line"],
)
def test_a_mark_and_one_line_end_are_trimmed(data: str) -> None:
    assert valid_conversation_id(data.encode()) == ID


@pytest.mark.parametrize("text", ["a", "A.b_c-9", "x" * 128])
def test_ids_other_than_a_uuid_are_taken(text: str) -> None:
    assert valid_conversation_id(text.encode()) == text


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\r\n", b" ", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b" \t\n"], ids=repr
)
def test_an_empty_one_is_said_to_be_empty(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"^S/conversation-id is empty"):
        valid_conversation_id(data, "S/conversation-id")


@pytest.mark.parametrize(
    "data",
    [
        b"a\nb",
        b"a\n\n",
        b"a\r\r\n",
        b"\na",
        b"a\r",
        b"-rf",
        b"--help",
        b"../x",
        b"a/b",
        b"a\\b",
        b".",
        b"..",
        b"a b",
        b" a",
        b"a ",
        b"\ta",
        b"a\0",
        b"\xff\xfea\x00",
        b"caf\xe9",
        b"caf\xc3\xa9",
        b"C:x",
        b"a=b",
        b"\xef\xbb\xbf\xef\xbb\xbfa",
        b"x" * 129,
        b"a;b",
        b"$(x)",
        b"\x1b[1m",
        b"%41",
        b"\xed\xb3\xbf",
    ],
    ids=range(29),
)
def test_what_is_not_shaped_like_an_id_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"^S/conversation-id is '.*not shaped like") as caught:
        valid_conversation_id(data, "S/conversation-id")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
