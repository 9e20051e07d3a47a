from __future__ import annotations

import pytest

from prun.core.framing import LINE_BYTES, Framer, Line, Overlong


def framed(*chunks: bytes, limit_bytes: int = LINE_BYTES) -> list[Line | Overlong]:
    framer = Framer(limit_bytes)
    lines = [line for chunk in chunks for line in framer.feed(chunk)]
    return lines + framer.finish()


def whole(*lines: bytes) -> list[Line | Overlong]:
    return [Line(line, terminated=True) for line in lines]


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([], []),
        ([b""], []),
        ([b"\n"], whole(b"")),
        ([b"a\n"], whole(b"a")),
        ([b"a\n\nb\n"], whole(b"a", b"", b"b")),
        ([b"a", b"", b"b\nc", b"\n"], whole(b"ab", b"c")),
        ([b"a\r\n"], whole(b"a\r")),
        ([b"a\rb\x0bc\x0cd\x1ce\x85f\n"], whole(b"a\rb\x0bc\x0cd\x1ce\x85f")),
        (["a\u2028b\u2029c\x85d\n".encode()], whole("a\u2028b\u2029c\x85d".encode())),
        ([b"\xe2\x82", b"\xac\n"], whole(b"\xe2\x82\xac")),
    ],
)
def test_lines_end_at_line_feeds_alone(chunks: list[bytes], lines: list[Line | Overlong]) -> None:
    assert framed(*chunks) == lines


def test_a_last_line_without_a_line_feed_comes_at_the_finish() -> None:
    framer = Framer()
    assert framer.feed(b"a\nb") == whole(b"a")
    assert framer.finish() == [Line(b"b", terminated=False)]
    assert framer.finish() == []


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"abcd\n"], whole(b"abcd")),
        ([b"abcde\nf\n"], [Overlong(5, terminated=True), *whole(b"f")]),
        ([b"abcd", b"e\nf\n"], [Overlong(5, terminated=True), *whole(b"f")]),
        ([b"abcde", b"fg", b"h\ni\n"], [Overlong(8, terminated=True), *whole(b"i")]),
        ([b"ab\nabcdef\nc\n"], [*whole(b"ab"), Overlong(6, terminated=True), *whole(b"c")]),
        ([b"abc", b"def"], [Overlong(6, terminated=False)]),
    ],
)
def test_of_a_line_over_the_limit_only_the_size_is_kept(
    chunks: list[bytes], lines: list[Line | Overlong]
) -> None:
    assert framed(*chunks, limit_bytes=4) == lines


@pytest.mark.parametrize("size_bytes", [LINE_BYTES, LINE_BYTES + 1])
def test_the_limit_is_sixteen_mebibytes_without_the_line_feed(size_bytes: int) -> None:
    chunk = b"x" * (1024 * 1024)
    chunks = [chunk] * (size_bytes // len(chunk)) + [b"x" * (size_bytes % len(chunk)), b"\n"]
    (line,) = framed(*chunks)
    if size_bytes > LINE_BYTES:
        assert line == Overlong(size_bytes, terminated=True)
    else:
        assert isinstance(line, Line)
        assert line.data == b"x" * size_bytes


def test_a_long_line_in_small_pieces_comes_whole() -> None:
    data = bytes(range(11, 211)) * 5000
    assert framed(*(data[at : at + 997] for at in range(0, len(data), 997)), b"\n") == whole(data)
