"""The newest of a family is the same whatever the order of the listing, and never a dated one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prun.core.families import Slug, newest_in_family, parse_slug
from tests.support.known_bad import assert_caught

Newest = Callable[[str, Sequence[str]], str]

FAMILIES = [("gemini", "flash"), ("gemini", "flash-lite"), ("gemini", "pro"), ("claude-sonnet", "")]
DATES = ("2026", "20260930", "0613", "2027")
DATE = re.compile(r"[0-9]{4}")


class Made(NamedTuple):
    """A slug put together from parts, so that the test need not take it apart."""

    family: tuple[str, str]
    version: tuple[int, ...]
    separator: str
    date: str
    tier: str

    def respelled(self) -> Made:
        return self._replace(separator="-" if self.separator == "." else ".")

    @property
    def slug(self) -> str:
        before, after = self.family
        version = self.separator.join(map(str, self.version))
        return "-".join(part for part in (before, version, self.date, after, self.tier) if part)


class Case(NamedTuple):
    template: Made
    listed: tuple[Made, ...]
    shuffled: tuple[Made, ...]


def made(dates: Sequence[str] = ("", "", "", *DATES)) -> st.SearchStrategy[Made]:
    return st.builds(
        Made,
        family=st.sampled_from(FAMILIES),
        version=st.lists(st.sampled_from([0, 8, 9, 10]), min_size=1, max_size=2).map(tuple),
        separator=st.sampled_from(".-"),
        date=st.sampled_from(dates),
        tier=st.sampled_from(["", "low", "high", "max", "thinking"]),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    template = draw(made(dates=("",)))
    kin = made().map(lambda other: other._replace(family=template.family))
    some = draw(st.lists(st.one_of(kin, kin, made(), st.just(template)), max_size=5))
    listed = [*some, *(draw(st.sampled_from(some)).respelled() for _ in some[: draw(st.integers(0, 3))])]
    return Case(template, tuple(listed), tuple(draw(st.permutations(listed))))


def best_of(case: Case) -> list[str]:
    """Return the slugs that may be chosen, judged from the parts."""
    members = [one for one in case.listed if one.family == case.template.family and not one.date]
    for wanted in (case.template.tier or "high", "high", ""):
        if of_tier := [one for one in members if one.tier == wanted]:
            members = of_tier
            break
    newest = max((one.version for one in members), default=())
    return [one.slug for one in members if one.version == newest]


def check(newest: Newest, case: Case) -> None:
    template, listed = case.template.slug, [one.slug for one in case.listed]
    best = best_of(case)
    chosen = newest(template, listed)
    again = newest(template, [one.slug for one in case.shuffled])
    if not best or template in best:
        assert chosen == again == template
    else:
        assert chosen == best[0]
        assert again in best
    assert chosen == template or DATE.search(chosen) is None


@settings(deadline=None)
@given(cases())
def test_the_newest_of_a_family_does_not_depend_on_listing_order_but_for_a_tie(case: Case) -> None:
    check(newest_in_family, case)


@settings(deadline=None)
@given(st.text(), st.lists(st.text()))
def test_any_text_gives_the_template_or_a_listed_one(template: str, listed: list[str]) -> None:
    assert newest_in_family(template, listed) in {template, *listed}


@settings(deadline=None)
@given(made())
def test_a_slug_gives_back_the_parts_it_was_made_from(one: Made) -> None:
    words = tuple("-".join(part for part in one.family if part).split("-"))
    assert parse_slug(one.slug) == Slug(words, one.version, dated=bool(one.date), tier=one.tier or None)


def altered(
    template: str,
    listed: Sequence[str],
    *,
    key: Callable[[tuple[int, ...]], object] = lambda version: version,
    dated: bool = False,
    version_first: bool = False,
    every_family: bool = False,
    template_wins: bool = True,
) -> str:
    """Return what ``newest_in_family`` does, but for what is asked otherwise."""
    own = parse_slug(template)
    if own is None or own.dated or not own.version:
        return template
    members = [
        (slug, parts)
        for slug in listed
        if (parts := parse_slug(slug)) is not None
        and (every_family or parts.family == own.family)
        and (dated or not parts.dated)
    ]
    tiers: list[str | None] = [] if version_first else [own.tier or "high", "high", None]
    for tier in tiers:
        if of_tier := [member for member in members if member[1].tier == tier]:
            members = of_tier
            break
    ranks = [key(_version(slug, parts)) if dated else key(parts.version) for slug, parts in members]
    best = max(ranks, default=None)  # type: ignore[type-var]
    tied = [slug for (slug, _), rank in zip(members, ranks, strict=True) if rank == best]
    return template if not tied or (template_wins and template in tied) else tied[0]


def _version(slug: str, parts: Slug) -> tuple[int, ...]:
    date = DATE.search(slug)
    return (*parts.version, int(date[0])) if date else parts.version


KNOWN_BAD: dict[str, Newest] = {
    "versions compared as text": lambda template, listed: altered(template, listed, key=str),
    "a date counted as a version": lambda template, listed: altered(template, listed, dated=True),
    "the version before the tier": lambda template, listed: altered(template, listed, version_first=True),
    "any family": lambda template, listed: altered(template, listed, every_family=True),
    "the first of a tie, template or not": lambda template, listed: altered(
        template, listed, template_wins=False
    ),
    "the last of a tie": lambda template, listed: altered(template, listed[::-1]),
    "major versions only": lambda template, listed: altered(template, listed, key=lambda version: version[0]),
}


@settings(deadline=None)
@given(cases())
def test_the_version_that_the_bad_ones_alter_is_good(case: Case) -> None:
    check(altered, case)


@pytest.mark.parametrize("name", KNOWN_BAD)
def test_a_known_bad_version_is_caught(name: str) -> None:
    assert_caught(lambda case: check(KNOWN_BAD[name], case), cases())
