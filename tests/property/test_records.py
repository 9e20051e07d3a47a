"""Records survive the way to disk and back, and no bytes make a reader raise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.codec import LIMIT_BYTES
from prun.core.identity import Hold, HoldKind, Identity, Machine
from prun.core.outcome import Outcome, QuotaStop
from prun.core.records import (
    Owner,
    Publication,
    Worker,
    decode_outcome,
    decode_owner,
    decode_publication,
    decode_request,
    decode_worker,
    encode_outcome,
    encode_owner,
    encode_publication,
    encode_request,
    encode_worker,
)
from prun.core.request import Request
from tests.support.known_bad import assert_caught

Encode = Callable[[Any], bytes]
Decode = Callable[[bytes], Any]

# A path that is not UTF-8 holds low surrogates, one for each stray byte.
words = st.text(
    st.one_of(st.characters(), st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)), max_size=20
)
whole = st.integers(-(2**63), 2**63 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.one_of(st.none(), st.booleans(), whole, finite, words)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)
mappings = st.dictionaries(words, values, max_size=3)
tuples = st.lists(words, max_size=3).map(tuple)
identities = st.builds(
    Identity,
    st.builds(Machine, words, st.one_of(st.none(), words), st.one_of(st.none(), words)),
    whole,
    st.one_of(st.none(), words),
)
holds = st.builds(Hold, st.sampled_from(HoldKind), st.one_of(st.none(), whole), st.one_of(st.none(), words))
BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    str: words,
    int: whole,
    float: finite,
    bool: st.booleans(),
    "str | None": st.one_of(st.none(), words),
    "int | None": st.one_of(st.none(), whole),
    "tuple[str, ...]": tuples,
    "tuple[Any, ...]": st.lists(values, max_size=3).map(tuple),
    "dict[str, Any] | None": st.one_of(st.none(), mappings),
    "dict[str, str]": st.dictionaries(words, words, max_size=3),
    "QuotaStop | None": st.one_of(
        st.none(), st.builds(QuotaStop, st.one_of(st.none(), words), st.one_of(st.none(), words), words)
    ),
}


def built(record: type) -> st.SearchStrategy[Any]:
    types: dict[str, str] = record.__annotations__
    by_name = {getattr(kind, "__name__", kind): strategy for kind, strategy in BY_TYPE.items()}
    return st.builds(record, **{name: by_name[kind] for name, kind in types.items()})


class Codec(NamedTuple):
    encode: Encode
    decode: Decode
    records: st.SearchStrategy[Any]


OUTCOMES = Codec(encode_outcome, decode_outcome, built(Outcome))
CODECS = {
    "outcome": OUTCOMES,
    "request": Codec(encode_request, decode_request, built(Request)),
    "owner": Codec(encode_owner, decode_owner, st.builds(Owner, identities, words, whole)),
    "worker": Codec(encode_worker, decode_worker, st.builds(Worker, identities, holds, words, whole)),
    "publication": Codec(
        encode_publication, decode_publication, st.builds(Publication, words, words, whole, whole)
    ),
}
ALL = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS.keys())


def check_it_comes_back(encode: Encode, decode: Decode, record: Any) -> None:
    data = encode(record)
    assert data.decode("utf-8").endswith("\n")
    found = decode(data)
    assert found == record
    assert encode(found) == data


def check_a_newer_writer_is_understood(encode: Encode, decode: Decode, record: Any) -> None:
    loaded = json.loads(encode(record))
    newer = json.dumps({**loaded, "a field of tomorrow": [1, {}]}).encode()
    try:
        assert decode(newer) == record
    except TypeError as error:
        raise AssertionError(error) from error


def check_nothing_raises(encode: Encode, decode: Decode, data: bytes) -> None:
    try:
        found = decode(data)
        if found is not None:
            encode(found)
    except Exception as error:
        raise AssertionError(error) from error


@st.composite
def spoilt(draw: st.DrawFn, codec: Codec) -> bytes:
    """Return a record in which one value is another, or whose bytes are cut or changed."""
    data = codec.encode(draw(codec.records))
    loaded = json.loads(data)
    how = draw(st.sampled_from(["value", "missing", "nested", "cut", "flipped", "junk"]))
    name = draw(st.sampled_from(sorted(loaded)))
    at = draw(st.integers(0, len(data) - 1))
    match how:
        case "value":
            return json.dumps({**loaded, name: draw(st.one_of(values, st.just(float("nan"))))}).encode()
        case "missing":
            return json.dumps({key: value for key, value in loaded.items() if key != name}).encode()
        case "nested":
            return data.replace(b"null", b"[" * 100_000, 1)
        case "cut":
            return data[:at]
        case "flipped":
            return data[:at] + draw(st.binary(min_size=1, max_size=1)) + data[at + 1 :]
        case _:
            return draw(st.binary(max_size=50))


@ALL
@given(data=st.data())
def test_what_was_written_comes_back(codec: Codec, data: st.DataObject) -> None:
    record = data.draw(codec.records)
    check_it_comes_back(codec.encode, codec.decode, record)
    check_a_newer_writer_is_understood(codec.encode, codec.decode, record)


@ALL
@given(data=st.data())
def test_no_bytes_make_a_reader_raise(codec: Codec, data: st.DataObject) -> None:
    check_nothing_raises(codec.encode, codec.decode, data.draw(spoilt(codec)))


@given(outcome=OUTCOMES.records, size=st.integers(LIMIT_BYTES, LIMIT_BYTES + 1))
def test_only_what_is_over_the_limit_is_refused_for_its_size(outcome: Outcome, size: int) -> None:
    data = encode_outcome(outcome)
    padded = data + b" " * (size - len(data))
    assert decode_outcome(padded) == (outcome if size <= LIMIT_BYTES else None)


def encode_losing_odd_bytes(outcome: Outcome) -> bytes:
    return json.dumps(asdict(outcome), ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


def encode_without_a_field(outcome: Outcome) -> bytes:
    return encode_outcome(replace(outcome, worker_signal=None))


def decode_strictly(data: bytes) -> Outcome:
    loaded = json.loads(data)
    lists = {name: tuple(loaded[name]) for name in ("denied_actions", "warnings", "leftovers")}
    quota = None if loaded["quota"] is None else QuotaStop(**loaded["quota"])
    return Outcome(**{**loaded, **lists, "quota": quota})


def decode_leaving_lists(data: bytes) -> Outcome | None:
    found = decode_outcome(data)
    return None if found is None else replace(found, warnings=list(found.warnings))  # type: ignore[arg-type]


BAD_ENCODERS = [encode_losing_odd_bytes, encode_without_a_field]


@pytest.mark.parametrize("encode", BAD_ENCODERS, ids=lambda encode: encode.__name__)
def test_a_writer_that_loses_something_is_caught(encode: Encode) -> None:
    assert_caught(partial(check_it_comes_back, encode, decode_outcome), OUTCOMES.records)


def test_a_reader_that_changes_types_is_caught() -> None:
    assert_caught(partial(check_it_comes_back, encode_outcome, decode_leaving_lists), OUTCOMES.records)


def test_a_reader_that_knows_its_own_fields_only_is_caught() -> None:
    assert_caught(
        partial(check_a_newer_writer_is_understood, encode_outcome, decode_strictly), OUTCOMES.records
    )
    assert_caught(partial(check_nothing_raises, encode_outcome, decode_strictly), spoilt(OUTCOMES))
