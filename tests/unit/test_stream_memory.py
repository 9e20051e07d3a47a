"""Reading a stream takes bounded memory, whatever is in it."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from prun.core import objects
from prun.core.framing import LINE_BYTES
from prun.core.transcript import Reader, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PEAK_BYTES = 60 * 1000 * 1000
MIB = 1024 * 1024
BLOCK_BYTES = MIB // 8
HEADS = {
    "output": b'{"event":"step_update","step_update":{"step_type":"tool","tool_info":{"output":"',
    "delta": b'{"event":"step_update","step_update":{"step_type":"agent_response","text_delta":"',
    "response": b'{"event":"result","result":{"status":"SUCCESS","response":"',
}
TAILS = {"output": b'"}}}\n', "delta": b'"}}\n', "response": b'"}}\n'}
FILLINGS = {
    "ascii": b"a",
    "escapes": b"a line\\n",
    "quotes": b'\\"',
    "chinese": "\u4e2d".encode(),
    "escaped chinese": b"\\u4e2d",
}


def line(head: bytes, filling: bytes, tail: bytes, size_bytes: int = LINE_BYTES) -> Iterator[bytes]:
    """Yield a line of nearly *size_bytes* in chunks."""
    block = filling * (BLOCK_BYTES // len(filling))
    yield head
    for _ in range((size_bytes - len(head) - len(tail)) // len(block)):
        yield block
    yield tail


def huge(field: str, filling: bytes, first: bytes = b"") -> Iterator[bytes]:
    for _ in range(2):
        yield from line(HEADS[field] + first, filling, TAILS[field])


def peak_bytes(chunks: Iterable[bytes]) -> tuple[int, Transcript]:
    tracemalloc.start()
    try:
        reader = Reader()
        for chunk in chunks:
            reader.feed(chunk)
        reader.finish()
        told = reader.transcript()
        return tracemalloc.get_traced_memory()[1], told
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("filling", FILLINGS.values(), ids=FILLINGS)
@pytest.mark.parametrize("field", HEADS)
def test_huge_lines_take_bounded_memory(field: str, filling: bytes) -> None:
    peak, told = peak_bytes(huge(field, filling))
    assert told.unrecognised == 0
    assert field != "response" or len(told.response or "") > 2 * MIB
    assert peak < PEAK_BYTES


@pytest.mark.parametrize("field", ["output", "delta"])
def test_one_wide_character_does_not_widen_a_huge_line(field: str) -> None:
    peak, told = peak_bytes(huge(field, b"a", first="😀".encode()))
    assert told.unrecognised == 0
    assert peak < PEAK_BYTES


@pytest.mark.parametrize("filling", [b"{},", b"[],", b'"ab",', b"1,", b'{"k":['], ids=lambda it: it.decode())
def test_a_large_structure_takes_little_more_than_its_line(filling: bytes) -> None:
    head, tail = b'{"event":"later","later":{},"x":[', b"1]}\n"
    peak, told = peak_bytes(line(head, filling, tail, MIB // 2))
    assert told.unrecognised == (filling == b'{"k":[')
    assert peak < 4 * MIB


def test_many_lines_take_little_memory() -> None:
    delta = HEADS["delta"] + b"some text\\n" * 10 + TAILS["delta"]
    peak, told = peak_bytes(delta * 500 for _ in range(20))
    assert len(told.salvaged) == 256 * 1024
    assert peak < 5 * MIB


def test_giving_huge_lines_to_the_standard_reader_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "PLAIN_BYTES", LINE_BYTES)
    assert peak_bytes(huge("output", b"a", first="😀".encode()))[0] > PEAK_BYTES
