from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from prun.core.objects import PLAIN_BYTES, STARTS, objects_on
from prun.core.skim import Broken, Keep, Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

SHAPE: Mapping[str, Shape] = {"a": Keep.HEAD, "o": {"a": Keep.HEAD}}
PAD = b" " * PLAIN_BYTES
TRUNCATED = Broken(truncated=True)
BROKEN = Broken(truncated=False)

CASES: list[tuple[bytes, list[Any]]] = [
    (b"", []),
    (b"no object", []),
    (b"]}", []),
    (b'{"a":1}', [{"a": 1}]),
    (b'\xef\xbb\xbf{"a":1}\r', [{"a": 1}]),
    (b'\x1b]0;title\x07\x1b[?2004h\r{"a":1}\x1b[0m', [{"a": 1}]),
    (b'I0101 log.go:7] {"a":1} done', [{"a": 1}]),
    (b'{"a":1}{"a":2} , {"a":3}', [{"a": 1}, {"a": 2}, {"a": 3}]),
    (b'map[{a b} {c}] {"a":1}', [{"a": 1}]),
    (b'{"a":1} {x}', [{"a": 1}, BROKEN]),
    (b'{"a":1}{"a":', [{"a": 1}, TRUNCATED]),
    (b'[{"a":1}]', [{"a": 1}]),
    (b'\xff\xfe{"a":"\xff"}', [{"a": "\ufffd"}]),
    (b'\x00{"a":"\x00"}\x00', [{"a": "\x00"}]),
    (b'{"a":NaN}', [{"a": None}]),
    (b"{" * 1000, [BROKEN]),
    (b"{x} " * STARTS + b'{"a":1}', [BROKEN]),
    (b"{x} " * (STARTS - 1) + b'{"a":1}', [{"a": 1}]),
    (b'{"a":1}' * (STARTS + 1), [{"a": 1}] * STARTS + [BROKEN]),
    (b'{"a":1}' * STARTS + b" noise", [{"a": 1}] * STARTS),
]


@pytest.mark.parametrize("pad", [b"", PAD], ids=["short", "huge"])
@pytest.mark.parametrize(("line", "found"), CASES)
def test_objects_are_found_whatever_stands_between_them(line: bytes, found: list[Any], pad: bytes) -> None:
    assert list(objects_on(pad + line, SHAPE)) == found


@pytest.mark.parametrize("pad", [b"", PAD], ids=["short", "huge"])
@pytest.mark.parametrize(
    "rest",
    [b"", b",", b',"', b',"x', b',"x\\', b',"x\\u00', b',"x":', b',"x":tr', b',"x":-', b',"x":1', b',"x":[ '],
)
def test_nothing_is_read_out_of_an_object_cut_short(rest: bytes, pad: bytes) -> None:
    assert objects_on(pad + b'{"o":{"parameters":{"a":1}' + rest, SHAPE) == (TRUNCATED,)


def test_a_line_that_another_writer_went_on_with_gives_the_later_object() -> None:
    assert objects_on(b'{"a":{"b{"a":1}', SHAPE) == ({"a": 1},)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":1,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"x":' + b"9" * 5000 + b',"a":1}',
    ],
    ids=["deep", "long number"],
)
def test_what_the_standard_reader_chokes_on_is_skimmed(line: bytes) -> None:
    assert len(line) <= PLAIN_BYTES
    assert objects_on(line, SHAPE) == ({"a": 1},)
