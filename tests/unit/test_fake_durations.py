"""Go durations, both ways."""

from __future__ import annotations

import pytest

from fake_agy.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("90s", 90.0),
        ("5m0s", 300.0),
        ("76h3m46s", 273_826.0),
        ("1.5h", 5400.0),
        (".5s", 0.5),
        ("100ms", 0.1),
        ("-2s", -2.0),
        ("+2s", 2.0),
        ("", None),
        ("-", None),
        ("90", None),
        ("5 m", None),
        ("5m s", None),
        ("1d", None),
        ("s", None),
        ("１s", None),
    ],
)
def test_a_duration_is_read_as_go_reads_it(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (5, "5s"),
        (1.5, "1.5s"),
        (0.25, "250ms"),
        (59.9999999, "1m0s"),
        (300, "5m0s"),
        (2047, "34m7s"),
        (3600, "1h0m0s"),
        (273_826, "76h3m46s"),
        (-90, "-1m30s"),
    ],
)
def test_a_duration_is_printed_as_go_prints_it(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
