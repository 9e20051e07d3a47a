"""Reset times are read from agy's words in every form seen."""

from __future__ import annotations

import pytest

from prun.core.durations import LONGEST_S, find_reset, find_retry, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("34m7s", 2047.0),
        ("2h39m52s", 9592.0),
        ("76h3m46s", 273_826.0),
        ("143h32m18s", 516_738.0),
        ("1h45m7s", 6307.0),
        ("34m", 2040.0),
        ("~2h", 7200.0),
        ("5d 3h", 442_800.0),
        ("172514s", 172_514.0),
        ("391609.79s", 391_609.79),
        ("25h20m26.18s", 91_226.18),
        ("500ms", 0.5),
        ("1µs", 1e-6),
        (" 0s ", 0.0),
        ("8784h", LONGEST_S),
    ],
    ids=str,
)
def test_a_go_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "soon", "34", "m7s", "34m7", "-5m", "+5m", "1e3s", "5m each", "٣h", "8785h"),
        *("9" * 5000 + "h", "1h" * 5000),
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_duration_is_none(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Individual quota reached. Resets in 37h50m21s.", 136_221.0),
        ("Contact your administrator to enable overages. Resets in 152h59m39s.", 550_779.0),
        ("reached. Resets in ~2h.), retrying in 1s", 7200.0),
        ("Your quota will reset after 25h20m26.18s", 91_226.18),
        ('{"reason":"QUOTA_EXHAUSTED","metadata":{"quotaResetDelay":"172514s"}}', 172_514.0),
        ("RESETS IN 5M", 300.0),
        ("attempt 3 failed, retrying in 5m", None),
        ("read tcp: connection reset after 30s", None),
        ("Resets in a while", None),
        ("Resets in 9000h", None),
        ("", None),
    ],
    ids=str,
)
def test_a_reset_is_found_in_a_sentence(text: str, seconds: float | None) -> None:
    found = find_reset(text)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_a_retry_delay_is_not_taken_for_a_reset() -> None:
    body = '"retryDelay":"391609.79s"'
    assert find_reset(body) is None
    assert find_retry(body) == pytest.approx(391_609.79)
    assert find_retry("retry later") is None
