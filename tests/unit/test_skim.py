from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from prun.core.skim import ITEMS, LEAF_BYTES, Broken, Found, Keep, Shape, skim

if TYPE_CHECKING:
    from collections.abc import Mapping

SHAPE: Mapping[str, Shape] = {"a": Keep.HEAD, "w": Keep.WHOLE, "t": Keep.TAIL, "o": {"a": Keep.HEAD}}
TRUNCATED = Broken(truncated=True)
BROKEN = Broken(truncated=False)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"{}", {}),
        (b"{ \t\r\n}", {}),
        (b'{"a":1}', {"a": 1}),
        (b'{"a" : "x" , "b":2}', {"a": "x"}),
        (b'{"b":[1,{"a":2}],"a":true}', {"a": True}),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"\\u0061":1}', {"a": 1}),
        (b'{"w":"x\\n"}', {"w": b"x\n"}),
        (b'{"w":" "}', {"w": b""}),
        (b'{"w":null}', {"w": None}),
        (b'{"t":"x\\u00e9"}', {"t": "xé"}),
        (b'{"o":{"a":1,"b":2}}', {"o": {"a": 1}}),
        (b'{"o":"x"}', {"o": "x"}),
        (b'{"o":[{"a":1,"b":2}]}', {"o": [{"a": 1, "b": 2}]}),
        (b'{"a":{"k":[1]}}', {"a": {"k": [1]}}),
        (b'{"a":[1,"x",null,{"k":[]},[[1],2]]}', {"a": [1, "x", None, {"k": []}, []]}),
        (b'{"a":[]}', {"a": []}),
        (b'{"a":NaN,"o":{"a":-Infinity}}', {"a": None, "o": {"a": None}}),
        (b'{"a":"\x00\x01"}', {"a": "\x00\x01"}),
        (b'{"a":-1.5e3}', {"a": -1500.0}),
        (b'{"x":"]}{[\\"","a":1}', {"a": 1}),
    ],
)
def test_the_wanted_keys_of_an_object_are_read(data: bytes, value: dict[str, Any]) -> None:
    assert skim(data, 0, SHAPE) == Found(value, len(data))
    assert skim(b"xx" + data + b"yy", 2, SHAPE) == Found(value, len(data) + 2)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b'{"a',
        b'{"a"',
        b'{"a":',
        b'{"a":1',
        b'{"a":1,',
        b'{"a":"x',
        b'{"a":"x\\',
        b'{"a":[1',
        b'{"a":[1,',
        b'{"b":[[1],{"x":"]"}',
        b'{"b":"x\\"}',
        b'{"o":{"a":1}',
    ],
)
def test_an_object_cut_short_is_truncated(data: bytes) -> None:
    assert skim(data, 0, SHAPE) == TRUNCATED


@pytest.mark.parametrize(
    "data",
    [
        b"{{}}",
        b"{a:1}",
        b'{"a" 1}',
        b'{"a":}',
        b'{"b":}',
        b'{"a":1 "b":2}',
        b'{"a":1,}',
        b'{"a":[1 2]}',
        b'{"a":[1,]}',
        b'{"a":bad}',
        b'{"a":"\\x"}',
        b'{"a":{"k":bad}}',
        b'{"a":01}',
    ],
)
def test_what_is_no_object_is_broken(data: bytes) -> None:
    assert skim(data, 0, SHAPE) == BROKEN


@pytest.mark.parametrize("opening", [b"[", b'{"x":', b'[{"x":'])
def test_depth_costs_nothing_where_it_is_not_wanted(opening: bytes) -> None:
    data = b'{"b":' + opening * 200_000
    assert skim(data, 0, SHAPE) == TRUNCATED
    closing = {b"[": b"]", b'{"x":': b"}", b'[{"x":': b"}]"}[opening]
    whole = data + b"1" + closing * 200_000 + b',"a":1}'
    assert skim(whole, 0, SHAPE) == Found({"a": 1}, len(whole))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":' + b"9" * 5000 + b"}", math.inf),
        (b'{"a":-' + b"9" * 5000 + b"}", -math.inf),
        (b'{"a":1.' + b"9" * 5000 + b"}", None),
        (b'{"a":{"k":"' + b"x" * LEAF_BYTES + b'"}}', {}),
        (b'{"a":{"k":' + b"[" * 20_000 + b"]" * 20_000 + b"}}", {}),
        (b'{"a":{"k":' + b"9" * 5000 + b"}}", {}),
        (b'{"a":[' + b"1," * ITEMS + b"2,3]}", [1] * ITEMS),
        (b'{"a":[' + b"1," * ITEMS + b"[[2]],3]}", [1] * ITEMS),
    ],
    ids=[
        "integer",
        "negative",
        "decimal",
        "large object",
        "deep object",
        "object with an integer",
        "array",
        "array with arrays",
    ],
)
def test_what_is_too_large_to_keep_is_cut(data: bytes, value: Any) -> None:
    assert skim(data, 0, SHAPE) == Found({"a": value}, len(data))


def test_a_long_key_is_no_wanted_one() -> None:
    data = b'{"' + b"a" * 100_000 + b'":1,"a":2}'
    assert skim(data, 0, SHAPE) == Found({"a": 2}, len(data))
