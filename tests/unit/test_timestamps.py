"""Moments are written in one form and read in every form RFC 3339 allows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.timestamps import later, parse_rfc3339, rfc3339

NOON = datetime(2026, 9, 17, 12, 0, 0, tzinfo=UTC)


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert rfc3339(datetime(2026, 9, 17, 17, 30, 0, 123_999, east)) == "2026-09-17T12:00:00.123Z"


def test_a_naive_moment_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        rfc3339(NOON.replace(tzinfo=None))


@pytest.mark.parametrize(
    "text",
    [
        "2026-09-17T12:00:00Z",
        "2026-09-17t12:00:00z",
        "2026-09-17 12:00:00Z",
        "2026-09-17T12:00:00",
        "2026-09-17T12:00:00.0Z",
        "2026-09-17T12:00:00.000000000000Z",
        "2026-09-17T17:30:00+05:30",
        "2026-09-17T05:00:00-0700",
        " 2026-09-17T12:00:00Z\n",
    ],
)
def test_every_allowed_form_is_read(text: str) -> None:
    assert parse_rfc3339(text) == NOON


def test_digits_past_the_microsecond_are_dropped_and_a_leap_second_is_the_last_moment_before_it() -> None:
    assert parse_rfc3339("2026-09-17T12:00:00.1234567Z") == NOON + timedelta(microseconds=123_456)
    assert parse_rfc3339("2026-09-17T11:59:60Z") == NOON - timedelta(microseconds=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "later",
        "1789646400",
        "2026-09-17",
        "2026-13-17T12:00:00Z",
        "2026-02-30T12:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-09-17T24:00:00Z",
        "2026-09-17T12:00:61Z",
        "2026-09-17T12:00:00.Z",
        "2026-09-17T12:00:00+24:00",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "٢٠٢٦-09-17T12:00:00Z",
    ],
)
def test_what_is_no_moment_is_none(text: str) -> None:
    assert parse_rfc3339(text) is None


def test_a_moment_past_the_calendar_is_none() -> None:
    assert later(NOON, 60.0) == NOON + timedelta(minutes=1)
    assert later(NOON, 1e12) is None
    assert later(NOON, float("nan")) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_was_written_is_read_back_to_the_millisecond(moment: datetime) -> None:
    read = parse_rfc3339(rfc3339(moment))
    assert read is not None
    assert timedelta(0) <= moment - read < timedelta(milliseconds=1)


@given(st.text(alphabet="0123456789-:TZ+. ", max_size=40))
def test_reading_never_raises(text: str) -> None:
    parse_rfc3339(text)
