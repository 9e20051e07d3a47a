"""Values that are secrets, at the edges of their shapes."""

from __future__ import annotations

import pytest

from prun.core.secret_values import holds_password_url, holds_token, without_passwords

AT = "@"


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        (f"a://u:p{AT}h", True),
        (f"a://:p{AT}h", True),
        (f"  a://u:p{AT}h ", True),
        (f'url="a://u:p{AT}h"', True),
        (f"a://u:123456{AT}h", True),
        (f"a://u:80{AT}h", True),
        (f"xa//u:p{AT}h", False),
        (f"://u:p{AT}h", False),
        (f"a://u:{AT}h", False),
        (f"a://u p:q{AT}h", False),
        ("a://h?password=", False),
        ("a://h?password=x", True),
        ("a://h?x=1;pwd=x", True),
        ("a://h?nopassword=x", False),
        ("a://h", False),
        (f"a://u{AT}d:p{AT}h", True),
        (f"a://u{AT}:p{AT}h", True),
        (f"a://u{AT}d:80{AT}h", True),
        (f"a://u{AT}h:80/{AT}x", False),
        (f"a://u{AT}h:o/r{AT}v", False),
        (f"[a://u:p{AT}h]", True),
        (f"`a://u:p{AT}h`", True),
        (f"xa:a://u:p{AT}h", True),
    ],
    ids=range(23),
)
def test_a_url_with_a_password_is_told_from_others(value: str, holds: bool) -> None:
    assert holds_password_url(value) is holds


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (f"a://u:p{AT}h:1 b", "a://h:1 b"),
        (f"a://u:p{AT}h,b://u{AT}d:q{AT}i", "a://h,b://i"),
        (f"a://u{AT}h/p:q", f"a://u{AT}h/p:q"),
        ("a://h:80", "a://h:80"),
        (f"u:p{AT}h", f"u:p{AT}h"),
    ],
    ids=range(5),
)
def test_passwords_are_taken_out_of_urls(value: str, left: str) -> None:
    assert without_passwords(value) == left


@pytest.mark.parametrize(
    ("head", "least"),
    [("ghp_", 20), ("npm_", 20), ("hf_", 20), ("AKIA", 16), ("AIza", 30), ("glpat-", 20), ("sk-", 20)],
)
def test_a_token_counts_from_its_full_length_on(head: str, least: int) -> None:
    assert holds_token(head + "A" * least)
    assert not holds_token(head + "A" * (least - 1))


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ("", "", True),
        ("x=", ";", True),
        ("'", "'", True),
        ("https://", f"{AT}h", True),
        ("https://u:", f"{AT}h", True),
        ("x", "", False),
        ("_", "", False),
        ("-", "", False),
        ("", "_", False),
        ("", "-", False),
        ("/", "", False),
        ("/tmp/", "", False),  # noqa: S108 - a text, no place
        ("\\", "", False),
    ],
    ids=range(13),
)  # fmt: skip
def test_a_token_is_a_word_of_its_own(before: str, after: str, holds: bool) -> None:
    assert holds_token(f"{before}ghp_{'A' * 36}{after}") is holds


@pytest.mark.parametrize(
    "value",
    [
        "a://b:c," * 16_000,
        "a://b@c:d," * 16_000,
        "a://b@" * 16_000,
        "a://" * 30_000,
        "a:" * 60_000,
        "sk-" + "a-" * 60_000,
        "eyJ" * 40_000,
        "a://b?" * 20_000,
        "xox" * 40_000,
    ],
    ids=lambda value: value[:8],
)
def test_a_huge_value_without_a_secret_is_read_to_its_end(value: str) -> None:
    assert not holds_token(value)
    assert not holds_password_url(value)
