"""Any environment gives settings or one line that names the variable; a number is plain digits in range."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prun.core.errors import UsageError
from prun.core.request import Settings
from prun.core.settings import TIMEOUT_S, read_number, read_settings
from tests.support.known_bad import assert_caught

ReadNumber = Callable[[Mapping[str, str], str, int, range], int]

NAME = "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS"
VARIABLES = [
    NAME,
    "ANTIGRAVITY_BIN",
    "ANTIGRAVITY_DISPATCH_EFFORT",
    "ANTIGRAVITY_DISPATCH_MODEL",
    "ANTIGRAVITY_PREFLIGHT",
    "ANTIGRAVITY_PREFLIGHT_TIMEOUT_SECONDS",
    "PRUN_AGY_SANDBOX",
    "PRUN_KEEP_ENV",
    "PRUN_MIN_RESULT_BYTES",
    "PRUN_REAP_GRACE_SECONDS",
    "PRUN_REAP_IDLE_SECONDS",
    "PRUN_REAP_LEFTOVERS",
    "PRUN_SCRATCH_CWD",
    "PRUN_STATE_ROOT",
    "PRUN_WORKER_SESSION",
]
OTHER_DIGITS = "\uff12\u0662\u00b2\u0968"
TEXTS = st.one_of(
    st.integers(-10, 700_000).map(str),
    st.text("0123456789", max_size=25),
    st.text(f"0123456789_+-. \n\tenamx{OTHER_DIGITS}", max_size=8),
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["", " ", "+", "0", "\n"]),
        st.integers(1, 9000),
        st.sampled_from(["", " ", "\n", "s", "m", "_0", "\0"]),
    ),
    st.builds("{}{}".format, st.integers(0, 30).map(lambda zeros: "0" * zeros), st.integers(1, 9000)),
    st.text(max_size=8),
)


def is_one_line(text: str) -> bool:
    return not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text)


def check(read: ReadNumber, text: str) -> None:
    fits = (
        all(character in "0123456789" for character in text)
        and 1 <= len(text) <= 12
        and 1 <= sum(int(digit) * 10**place for place, digit in enumerate(reversed(text))) <= 604_800
    )
    try:
        number = read({NAME: text}, NAME, 2700, TIMEOUT_S)
    except UsageError as error:
        told = str(error)
        assert not fits
        assert NAME in told
        assert is_one_line(told)
    except ValueError as error:
        raise AssertionError(text) from error
    else:
        assert fits
        assert str(number) == text.lstrip("0")


@settings(deadline=None)
@given(TEXTS)
@example("9" * 5000)
def test_a_number_is_plain_digits_in_its_range_or_refused_by_name(text: str) -> None:
    check(read_number, text)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(VARIABLES), TEXTS))
def test_any_environment_gives_settings_or_one_line_that_names_a_variable(env: dict[str, str]) -> None:
    try:
        found = read_settings(env)
    except UsageError as error:
        told = str(error)
        assert any(name in told for name in env)
        assert is_one_line(told)
        assert len(told) < 300
    else:
        assert isinstance(found, Settings)


def altered(
    env: Mapping[str, str],
    name: str,
    default: int,
    allowed: range,
    *,
    form: Callable[[str], object] = re.compile(r"[0-9]{1,12}").fullmatch,
    ranged: bool = True,
    message: str = "{name} is {value!r}",
) -> int:
    """Return what ``read_number`` does, but for what is asked otherwise."""
    value = env.get(name)
    if value is None:
        return default
    if not form(value) or (ranged and int(value) not in allowed):
        raise UsageError(message.format(name=name, value=value))
    return int(value)


def bad(**otherwise: object) -> ReadNumber:
    def read(env: Mapping[str, str], name: str, default: int, allowed: range) -> int:
        return altered(env, name, default, allowed, **otherwise)  # type: ignore[arg-type]

    return read


KNOWN_BAD = {
    "whatever int() reads": bad(form=lambda text: re.fullmatch(r"[\s+\d_]{1,12}", text)),
    "any script's digits": bad(form=re.compile(r"\d{1,12}").fullmatch),
    "isdigit": bad(form=str.isdigit),
    "a line end let through by $": bad(form=re.compile(r"[0-9]{1,12}$").match),
    "digits of any number": bad(form=re.compile(r"[0-9]+").fullmatch),
    "no range": bad(ranged=False),
    "the variable not named": bad(message="not a number: {value!r}"),
    "the value told as it is": bad(message="{name} is {value}"),
}


@settings(deadline=None)
@given(TEXTS)
def test_the_version_that_the_bad_ones_alter_is_good(text: str) -> None:
    check(altered, text)


@pytest.mark.parametrize("name", KNOWN_BAD)
def test_a_known_bad_version_is_caught(name: str) -> None:
    assert_caught(lambda text: check(KNOWN_BAD[name], text), TEXTS)
