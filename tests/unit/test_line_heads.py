"""Lines are cut at line feeds alone, and a long one keeps its beginning."""

from __future__ import annotations

from prun.core.line_heads import LineHeads


def test_lines_end_at_line_feeds_only_and_the_last_one_counts() -> None:
    heads = LineHeads()
    assert heads.feed(b"a\rb\x0bc\nd") == [b"a\rb\x0bc"]
    assert heads.feed(b"e\n\nf") == [b"de", b""]
    assert heads.finish() == [b"f"]
    assert heads.finish() == []


def test_nothing_follows_a_last_line_feed() -> None:
    heads = LineHeads()
    assert heads.feed(b"a\n") == [b"a"]
    assert heads.finish() == []


def test_a_long_line_keeps_its_beginning_however_it_arrives() -> None:
    heads = LineHeads(limit_bytes=4)
    assert heads.feed(b"abcdefgh\nij") == [b"abcd"]
    assert [head for _ in range(1000) for head in heads.feed(b"kl")] == []
    assert heads.feed(b"\nmn\n") == [b"ijkl", b"mn"]
