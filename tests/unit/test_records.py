"""Records are written exactly and read from whatever is there."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from prun.core.codec import LIMIT_BYTES, dump, load
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

if TYPE_CHECKING:
    from collections.abc import Callable

OUTCOME_KEYS = {
    *("schema", "unit", "attempt", "verdict", "kind", "reason", "exit_code", "worker_exit", "worker_signal"),
    *("status", "result_path", "result_author", "response_path", "conversation_id", "model_asked", "model"),
    *("usage", "num_turns", "denied_actions", "warnings", "quota", "tree", "leftovers", "adopted"),
    *("started_at", "ended_at", "duration_s"),
}
OUTCOME = Outcome(
    unit="u",
    attempt=2,
    verdict="failed",
    kind="quota",
    reason="Agy reported status ERROR: grüße",
    exit_code=3,
    result_path="/w/u\udcff.md",
    result_author="fallback",
    model="gemini-3.8-flash-high",
    tree="gone",
    started_at="2026-09-17T12:00:00.000Z",
    ended_at="2026-09-17T12:00:05.250Z",
    duration_s=5.25,
    worker_exit=3,
    status="ERROR",
    response_path="/w/u.response.md",
    conversation_id="5e0c0b1a",
    model_asked="gemini-3.8-flash-high",
    usage={"input_tokens": 1, "nested": {"a": [1.5, None, True]}},
    num_turns=1,
    denied_actions=({"action": "command", "display_name": "RunCommand"}, "write_file"),
    warnings=("denied: command",),
    quota=QuotaStop("gemini", "2026-09-17T13:00:00.000Z", "Resets in 1h"),
    leftovers=("sh (12)",),
    adopted=True,
)
REQUEST = Request(
    unit="u",
    attempt=1,
    batch=None,
    prompt_file="/w/p.md",
    result_file="/w/u.md",
    mode="plan",
    work_dir="/s/work",
    work_dir_made=True,
    add_dirs=("/a", "/b\udc80"),
    continued_id="5e0c0b1a",
    agy="/usr/bin/agy",
    model_asked=None,
    effort_asked="high",
    timeout_s=2700,
    reap_idle_s=0,
    reap_grace_s=60,
    reap_leftovers=False,
    min_result_bytes=20,
    preflight="auto",
    preflight_timeout_s=60,
    sandbox=True,
    session="session",
    worker_token="0123456789abcdef",
    started_at="2026-09-17T12:00:00.000Z",
    started_monotonic_s=12.5,
    boot="b00t",
    versions={"prun": "0.1.0", "agy": "1.3.5"},
)
IDENTITY = Identity(Machine("host", "b00t", "4026531836"), 12, "345678")
OWNER = Owner(IDENTITY, "0.1.0")
WORKER = Worker(IDENTITY, Hold(HoldKind.SESSION, id=12), "/usr/bin/agy")
PUBLICATION = Publication("response", "ab" * 32, 12)

CODECS: list[tuple[Any, Callable[[Any], bytes], Callable[[bytes], Any]]] = [
    (OUTCOME, encode_outcome, decode_outcome),
    (REQUEST, encode_request, decode_request),
    (OWNER, encode_owner, decode_owner),
    (WORKER, encode_worker, decode_worker),
    (Worker(IDENTITY, Hold(HoldKind.JOB, name="prun-12"), "C:\\agy.exe"), encode_worker, decode_worker),
    (PUBLICATION, encode_publication, decode_publication),
]
NAMES = ["outcome", "request", "owner", "worker", "job", "publication"]
ALL = pytest.mark.parametrize(("record", "encode", "decode"), CODECS, ids=NAMES)
WRONG: list[Any] = [None, True, 1, -1.5, 10**400, "text", [], {}, ["a", 1], {"a": {}}]
JUNK = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"{}",
    b"\xff\xfe{}",
    b"\x00" * 100,
    b"[" * 200_000,
    b'{"unit":' * 50_000,
    b'{"pid":' + b"9" * 5000 + b"}",
    b"{" + b" " * LIMIT_BYTES + b"}",
]


def changed(data: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(data), **changes}).encode()


@ALL
def test_what_was_written_is_read_back(
    record: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]
) -> None:
    assert decode(encode(record)) == record


@ALL
def test_a_record_is_sorted_utf8_json_with_a_line_feed(
    record: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]
) -> None:
    text = encode(record).decode("utf-8")
    assert text.endswith("}\n")
    keys = list(json.loads(text))
    assert keys == sorted(keys)
    assert decode(b"\xef\xbb\xbf" + text.encode()) == record


@ALL
def test_an_older_reader_passes_over_what_a_newer_writer_added(
    record: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]
) -> None:
    newer = decode(changed(encode(record), schema=2, added={"a": [1]}))
    assert newer == replace(record, schema=2)


@ALL
@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:12]))
def test_bytes_that_are_no_record_are_none(
    record: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], junk: bytes
) -> None:
    assert decode(junk) is None
    assert decode(encode(record)[:-4]) is None


@ALL
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:12])
def test_a_value_of_any_other_type_never_raises(
    record: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], wrong: Any
) -> None:
    data = encode(record)
    for name in json.loads(data):
        found = decode(changed(data, **{name: wrong}))
        assert found is None or encode(found)


def test_an_outcome_has_exactly_the_keys_that_are_promised() -> None:
    assert set(json.loads(encode_outcome(OUTCOME))) == OUTCOME_KEYS
    assert {field.name for field in fields(Outcome)} == OUTCOME_KEYS


@ALL
def test_every_field_is_written_and_read(
    record: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]
) -> None:
    read = decode(encode(record))
    for field in fields(record):
        assert getattr(read, field.name) == getattr(record, field.name)


def test_kinds_and_verdicts_of_a_newer_writer_are_kept() -> None:
    newer = replace(OUTCOME, kind="eclipsed", verdict="postponed", result_author="oracle", tree="petrified")
    assert decode_outcome(encode_outcome(newer)) == newer


@pytest.mark.parametrize("name", ["unit", "verdict", "kind", "exit_code", "result_path"])
def test_an_outcome_without_its_essentials_is_none(name: str) -> None:
    loaded = json.loads(encode_outcome(OUTCOME))
    del loaded[name]
    assert decode_outcome(json.dumps(loaded).encode()) is None
    assert decode_outcome(changed(encode_outcome(OUTCOME), **{name: []})) is None


def test_an_outcome_of_its_essentials_alone_is_read() -> None:
    small = {"unit": "u", "verdict": "completed", "kind": "ok", "exit_code": 0, "result_path": "/w/u.md"}
    found = decode_outcome(json.dumps(small).encode())
    assert found is not None
    assert (found.result_author, found.tree, found.warnings, found.usage) == ("none", "not-proved", (), None)


@pytest.mark.parametrize(
    ("name", "wrong", "read"),
    [
        ("duration_s", "soon", 0.0),
        ("worker_exit", True, None),
        ("warnings", ["a", 1, "b"], ("a", "b")),
        ("warnings", "a", ()),
        ("usage", [1], None),
        ("quota", "yes", None),
        ("quota", {"text": 1}, None),
        ("quota", {"text": "Resets in 1h", "group": 5}, QuotaStop(None, None, "Resets in 1h")),
        ("adopted", "yes", False),
    ],
    ids=str,
)
def test_a_wrong_value_where_one_may_be_missing_is_the_default(name: str, wrong: Any, read: Any) -> None:
    found = decode_outcome(changed(encode_outcome(OUTCOME), **{name: wrong}))
    assert found is not None
    assert getattr(found, name) == read


def test_an_owner_without_a_start_token_is_an_owner_and_one_without_a_pid_is_none() -> None:
    data = encode_owner(OWNER)
    found = decode_owner(changed(data, start=5, boot=[]))
    assert found == Owner(Identity(Machine("host", None, "4026531836"), 12, None), "0.1.0")
    assert decode_owner(changed(data, pid="12")) is None
    assert decode_owner(changed(data, host=None)) is None


def test_a_hold_of_an_unknown_kind_is_none_for_nobody_can_end_it() -> None:
    data = encode_worker(WORKER)
    assert decode_worker(changed(data, hold={"kind": "cgroup", "id": 1})) is None
    assert decode_worker(changed(data, hold="session")) is None


def test_a_publication_is_its_author_hash_and_size() -> None:
    assert json.loads(encode_publication(PUBLICATION)) == {
        "author": "response",
        "schema": 1,
        "sha256": "ab" * 32,
        "size": 12,
    }


def test_what_json_can_not_hold_becomes_null() -> None:
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    odd = {"a": float("nan"), "b": float("inf"), "c": 10**5000, "d": object(), "e": deep, "f": {1: (1, 2)}}
    found = load(dump(odd))
    assert found is not None
    assert [found[name] for name in "abcd"] == [None] * 4
    assert found["f"] == {"1": [1, 2]}


def test_numbers_that_json_does_not_know_are_read_as_null() -> None:
    assert load(b'{"a": NaN, "b": -Infinity}') == {"a": None, "b": None}


def test_a_number_beyond_all_measure_is_none() -> None:
    endless = encode_outcome(OUTCOME).replace(b"5.25", b"1e999")
    found = decode_outcome(endless)
    assert found is not None
    assert found.duration_s == 0.0


def test_a_path_that_is_not_utf8_is_escaped_and_other_text_is_not() -> None:
    assert dump({"a": "€\udcff"}) == '{\n  "a": "€\\udcff"\n}\n'.encode()
