"""The fake's reading of stdin: user messages, and what is refused or passed over."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from fake_agy.profiles import PROFILES
from fake_agy.stream import LONGEST_MESSAGE_CHARS, Ignored, Message, Refused, lines, peek, read_line
from fake_agy.waiting import Waiter
from fake_agy.witness import Witness

if TYPE_CHECKING:
    from pathlib import Path

NEW, OLD = PROFILES["1.3.5"], PROFILES["1.2.2"]


def user(content: Any, **more: Any) -> bytes:
    return json.dumps({"event": "user", "message": {"content": content, **more}}).encode()


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (user("hello"), Message("hello")),
        (user("hello", role="user"), Message("hello")),
        (user([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), Message("ab")),
        (user("-x"), Message("-x")),
        (b"", Ignored()),
        (b"  \r", Ignored()),
        (b"{", Refused("stream input line 4 is not valid JSON", 1)),
        (b"[" * 100_000, Refused("stream input line 4 is not valid JSON", 1)),
        (b"[1]", Refused('stream input message is missing the "event" field', 1)),
        (b'{"type":"user"}', Refused('stream input message is missing the "event" field', 1)),
        (
            user([{"type": "image"}]),
            Refused("stream input message content must be a string or text blocks", 1),
        ),
        (b'{"event":"user"}', Refused("stream input message content must be a string or text blocks", 1)),
        (
            user("/model x"),
            Refused(
                "/model is not available in print mode; pass --disable-slash-commands to send it as a prompt",
                2,
            ),
        ),
    ],
)
def test_a_line_is_a_message_or_refused_in_agys_words(data: bytes, line: object) -> None:
    assert read_line(data, 4, NEW, slash_commands=True) == line


def test_a_control_event_is_passed_over_by_1_3_5_and_refused_by_1_2_2() -> None:
    data = b'{"event":"interrupt"}'
    assert read_line(data, 1, NEW, slash_commands=True) == Ignored(
        'warning: ignoring unsupported stream input "interrupt"'
    )
    assert read_line(data, 1, OLD, slash_commands=True) == Refused(
        'unsupported stream input event "interrupt"', 2
    )


def test_a_slash_is_a_prompt_where_commands_are_disabled() -> None:
    assert read_line(user("/model x"), 1, NEW, slash_commands=False) == Message("/model x")


def test_an_overlong_message_is_cut_without_a_word() -> None:
    assert read_line(user("x" * 324_000), 1, NEW, slash_commands=True) == Message("x" * LONGEST_MESSAGE_CHARS)


def descriptor(path: Path, data: bytes) -> int:
    path.write_bytes(data)
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\n\nb", [b"a", b"", b"b"]),
        (b"x" * 200_000 + b"\n", [b"x" * 200_000]),
    ],
)
def test_lines_end_at_line_feeds_and_the_last_may_lack_one(
    tmp_path: Path, data: bytes, whole: list[bytes]
) -> None:
    opened = descriptor(tmp_path / "in", data)
    try:
        assert list(lines(Waiter(), Witness(None, [], {}, []), opened)) == whole
    finally:
        os.close(opened)


def test_a_file_can_be_looked_into_and_is_still_read_whole(tmp_path: Path) -> None:
    opened = descriptor(tmp_path / "in", b"first\nsecond")
    try:
        assert peek(opened) == b"first"
        assert list(lines(Waiter(), Witness(None, [], {}, []), opened)) == [b"first", b"second"]
        assert peek(opened) == b""
    finally:
        os.close(opened)


def test_a_pipe_cannot_be_looked_into() -> None:
    reading, writing = os.pipe()
    try:
        assert peek(reading) is None
    finally:
        os.close(reading)
        os.close(writing)
    assert peek(reading) is None
