"""The scrub lets through what is kept, tells names and never values, and knows no case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prun.core import scrub as shipped
from prun.core.scrub import Scrubbed, scrub
from tests.support.known_bad import assert_caught
from tests.unit.scrub_corpus import BY_VALUE, ROWS

Scrub = Callable[[Mapping[str, str], AbstractSet[str]], Scrubbed]

SECRET_VALUES = [row.value for row in BY_VALUE]
PASSWORD_URLS = [row.value for row in BY_VALUE if row.why == "a URL with a password in it"]
WORDS = [
    "KEY",
    "TOKEN",
    "AUTH",
    "AWS_",
    "GIT_DIR",
    "FORCE_COLOR",
    "COOKIE",
    "ANTIGRAVITY_",
    "_PROXY",
    "PASS",
    "A",
    "_",
    "Z9",
]
NAMES = st.one_of(
    st.sampled_from([row.name for row in ROWS]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map("".join),
    st.text("abcXYZ_019", max_size=12),
)
VALUES = st.one_of(st.sampled_from(SECRET_VALUES), st.text(max_size=30))


class Case(NamedTuple):
    env: dict[str, str]
    keep: frozenset[str]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    env = draw(st.dictionaries(NAMES, VALUES, max_size=6))
    kept = draw(st.sets(st.sampled_from(sorted(env)))) if env else set()
    recased = {draw(st.sampled_from([name, name.lower(), name.upper(), name.swapcase()])) for name in kept}
    return Case(env, frozenset(recased | draw(st.sets(NAMES, max_size=2))))


def check(scrub: Scrub, case: Case) -> None:
    env, keep = case
    found = scrub(env, keep)
    kept = {name.upper() for name in keep}

    # Nothing that has a name is lost, changed or told twice; what is told are names.
    assert sorted([*found.env, *found.withheld]) == sorted(filter(None, env))
    assert list(found.withheld) == sorted(found.withheld)
    assert all(env[name] == value for name, value in found.env.items())
    # What is to be kept is kept.
    assert not [name for name in found.withheld if name.upper() in kept]
    # agy's own is kept, and nothing that relocates git unless asked for.
    assert not [name for name in found.withheld if name.upper().startswith("ANTIGRAVITY_")]
    assert not [name for name in found.env if name.upper() in {"GIT_DIR", "FORCE_COLOR"} - kept]
    # A secret value shows under no innocent name.
    for name, value in found.env.items():
        if value in SECRET_VALUES:
            upper = name.upper()
            proxy = upper.endswith("_PROXY") and value in PASSWORD_URLS
            assert upper in kept or upper.startswith("ANTIGRAVITY_") or proxy
    # Each variable is judged by itself, and its case counts for nothing.
    for name, value in env.items():
        for other in (name, name.lower(), name.upper(), name.swapcase()):
            assert (other in scrub({other: value}, keep).env) == (name in found.env)
    # Twice is once.
    assert scrub(found.env, keep) == Scrubbed(found.env, ())


@settings(deadline=None)
@given(cases())
def test_the_scrub_keeps_its_promises(case: Case) -> None:
    check(scrub, case)


def with_rule(withheld: Callable[[str, str, set[str]], bool]) -> Scrub:
    """Return the scrub with another rule for one variable; the rule gets the kept names in capitals."""

    def bad(env: Mapping[str, str], keep: AbstractSet[str]) -> Scrubbed:
        kept = {name.upper() for name in keep}
        named = {name: value for name, value in env.items() if name}
        gone = sorted(name for name, value in named.items() if withheld(name, value, kept))
        return Scrubbed({name: value for name, value in named.items() if name not in gone}, tuple(gone))

    return bad


def _keep_after_git(name: str, value: str, kept: set[str]) -> bool:
    upper = name.upper()
    return shipped._misleads(upper) or (upper not in kept and shipped._is_withheld(name, value))


def _keep_in_one_case(name: str, value: str, kept: set[str]) -> bool:
    return name not in kept and shipped._is_withheld(name, value)


def _names_in_one_case(name: str, value: str, kept: set[str]) -> bool:
    rules = shipped._misleads(name) or shipped._is_secret_name(name) or shipped._is_secret_value(name, value)
    return name.upper() not in kept and not name.startswith("ANTIGRAVITY_") and rules


def _no_value_rule(name: str, value: str, kept: set[str]) -> bool:
    del value
    return name.upper() not in kept and shipped._is_withheld(name, "")


def _agy_last(name: str, value: str, kept: set[str]) -> bool:
    upper = name.upper()
    return upper not in kept and (
        shipped._misleads(upper) or shipped._is_secret_name(upper) or shipped._is_secret_value(upper, value)
    )


def _git_let_through(name: str, value: str, kept: set[str]) -> bool:
    return (
        name.upper() not in kept and not shipped._misleads(name.upper()) and shipped._is_withheld(name, value)
    )


def _values_told(env: Mapping[str, str], keep: AbstractSet[str]) -> Scrubbed:
    found = scrub(env, keep)
    return Scrubbed(found.env, tuple(f"{name}={env[name]}" for name in found.withheld))


def _kept_by_part(name: str, value: str, kept: set[str]) -> bool:
    return not any(part in name.upper() for part in kept) and shipped._is_withheld(name, value)


def _proxies_let_through(name: str, value: str, kept: set[str]) -> bool:
    upper = name.upper()
    return upper not in kept and shipped._is_withheld(name, "" if upper.endswith("_PROXY") else value)


def _empty_name_passed(env: Mapping[str, str], keep: AbstractSet[str]) -> Scrubbed:
    found = scrub(env, keep)
    return Scrubbed({name: env[name] for name in env if name not in found.withheld}, found.withheld)


def _empty_name_told(env: Mapping[str, str], keep: AbstractSet[str]) -> Scrubbed:
    found = scrub(env, keep)
    return Scrubbed(found.env, tuple(sorted({*found.withheld, *(name for name in env if not name)})))


def _unsorted(env: Mapping[str, str], keep: AbstractSet[str]) -> Scrubbed:
    found = scrub(env, keep)
    return Scrubbed(found.env, tuple(name for name in env if name in found.withheld))


KNOWN_BAD: dict[str, Scrub] = {
    "kept names after the rules for git": with_rule(_keep_after_git),
    "kept names in one case": with_rule(_keep_in_one_case),
    "names in one case": with_rule(_names_in_one_case),
    "no rule for values": with_rule(_no_value_rule),
    "agy's own names not let through": with_rule(_agy_last),
    "git's places let through": with_rule(_git_let_through),
    "a name kept where a part of it is": with_rule(_kept_by_part),
    "values told": _values_told,
    "names told in any order": _unsorted,
    "every value of a proxy let through": with_rule(_proxies_let_through),
    "an empty name passed on": _empty_name_passed,
    "an empty name told": _empty_name_told,
}


@settings(deadline=None)
@given(cases())
def test_the_version_that_the_bad_ones_alter_is_good(case: Case) -> None:
    check(
        with_rule(lambda name, value, kept: name.upper() not in kept and shipped._is_withheld(name, value)),
        case,
    )


@pytest.mark.parametrize("name", KNOWN_BAD)
def test_a_known_bad_version_is_caught(name: str) -> None:
    assert_caught(lambda case: check(KNOWN_BAD[name], case), cases())
