from __future__ import annotations

import math
from typing import Any

import pytest

from prun.core.fields import clipped, conversation_id, count, counts, message, seconds, status, word

DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize("value", [None, True, -1, 1.0, 2**53, math.inf, math.nan, "1", [], {}])
def test_what_is_no_count_is_dropped(value: Any) -> None:
    assert count(value) is None
    assert counts({"n": value}) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (0, 0.0),
        (3, 3.0),
        (2.5, 2.5),
        (-0.5, None),
        (math.inf, None),
        (math.nan, None),
        (True, None),
        ("1", None),
    ],
)
def test_seconds_are_finite_numbers_from_zero(value: Any, found: float | None) -> None:
    assert seconds(value) == found


def test_counts_keep_the_whole_numbers_and_are_bounded() -> None:
    assert counts({"a": 1, "b": "x", "c": 0}) == {"a": 1, "c": 0}
    assert counts([1]) is None
    assert len(counts({str(n): n for n in range(1000)}) or {}) == 32


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("a", "a"),
        (" \n", None),
        ("", None),
        (None, None),
        ({"message": "m", "type": "T"}, "m"),
        ({"message": 1}, None),
        ({}, None),
        (["m"], None),
        ("\ufeff", None),
    ],
)
def test_an_errors_message_is_a_string_or_within_an_object(value: Any, found: str | None) -> None:
    assert message(value) == found


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", " success ", [], {}, ["SUCCESS"], {"code": 1}])
def test_a_status_stays_as_it_is(value: Any) -> None:
    assert status(value) == value
    assert type(status(value)) is type(value)


@pytest.mark.parametrize(
    ("value", "kept"),
    [(["x" * 2000], []), ({"x": "y" * 2000}, {}), (DEEP, [])],
    ids=["list", "object", "deep"],
)
def test_a_large_status_keeps_its_kind(value: Any, kept: Any) -> None:
    assert status(value) == kept


def test_a_long_status_never_turns_into_success() -> None:
    assert str(status(" " * 5000 + "ERROR")).strip()


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("5e0c0b1a-0000-4000-8000-000000000001", "5e0c0b1a-0000-4000-8000-000000000001"),
        ("a.b_c-1", "a.b_c-1"),
        ("", None),
        ("-p", None),
        ("a b", None),
        ("a\n", None),
        (" a", None),
        ("a\nb", None),
        ("../x", None),
        ("a/b", None),
        ("é", None),
        ("\ud800", None),
        ("x" * 300, None),
        (5, None),
        (None, None),
        (["a"], None),
    ],
)
def test_only_a_well_formed_conversation_id_is_kept(value: Any, found: str | None) -> None:
    assert conversation_id(value) == found


def test_words_say_something_and_are_bounded() -> None:
    assert word("x") == "x"
    assert word(" \t") is None
    assert word(1) is None
    assert len(word("x" * 1000) or "") == 200


def test_clipped_text_fits_utf8_and_shows_that_it_is_cut() -> None:
    assert clipped("abc", 3) == "abc"
    assert clipped("abcd", 3) == "ab…"
    assert clipped("a\udc80", 3) == "a\ufffd"
