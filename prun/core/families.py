"""Model slugs taken apart: which family, version and tier, and which of a family is the newest."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TIERS = frozenset({"low", "medium", "high", "xhigh", "max", "thinking"})
USUAL_TIER = "high"

_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_WORD = re.compile(r"[^\s-]+")
_NOT_OF_A_SLUG = re.compile(r"[^a-z0-9.]+")
_DATE_DIGITS = 4


class Group(StrEnum):
    """Models that share a meter."""

    GEMINI = "gemini"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class Slug:
    """A model's name taken apart: *family* is what stays without version, date and tier."""

    family: tuple[str, ...]
    version: tuple[int, ...]
    dated: bool
    tier: str | None


def group_of(model: str) -> Group | None:
    """Return the group whose meter *model* draws on, ``None`` for a model of no known group."""
    if model.startswith("gemini-"):
        return Group.GEMINI
    return Group.SECOND if model.startswith(("claude-", "gpt-")) else None


def parse_slug(text: str) -> Slug | None:
    """Return the parts of the slug *text*, or ``None`` where it is none.

    The version is the first run of numbers; a number of four digits or more is a date, and so is a later run
    that holds one.
    """
    words = text.split("-")
    if not all(_WORD.fullmatch(word) for word in words):
        return None
    tier = words.pop() if words[-1] in TIERS and len(words) > 1 else None
    family: list[str] = []
    version: tuple[int, ...] | None = None
    dated = False
    for run in _runs(words):
        numbers = _numbers(run)
        date_at = next((at for at, number in enumerate(numbers) if len(number) >= _DATE_DIGITS), None)
        dated = dated or date_at is not None
        if numbers and version is None:
            version = tuple(int(number) for number in numbers[:date_at])
        elif date_at is None:
            family += run
    return Slug(tuple(family), version or (), dated, tier)


def tier_of(slug: str) -> str | None:
    """Return the tier that *slug* ends in, ``None`` where it ends in none."""
    parts = parse_slug(slug)
    return None if parts is None else parts.tier


def with_tier(slug: str, tier: str) -> str:
    """Return *slug* in another *tier*."""
    own = tier_of(slug)
    return f"{slug if own is None else slug.removesuffix(f'-{own}')}-{tier}"


def same_family(one: str, other: str) -> bool:
    """Return whether two slugs name the same model but for version and tier."""
    first, second = parse_slug(one), parse_slug(other)
    return first is not None and second is not None and first.family == second.family


def newest_in_family(template: str, listed: Sequence[str]) -> str:
    """Return the member of *template*'s family in *listed* to run: tier first, then newest version.

    The tier is the template's (or high), else high, else none, else any. A tie goes to the template itself,
    then to listing order. Dated slugs are never chosen. Without a member, or for a template that
    has no version of its own, *template* is returned.
    """
    own = parse_slug(template)
    if own is None or own.dated or not own.version:
        return template
    members = [
        (slug, parts)
        for slug in listed
        if (parts := parse_slug(slug)) is not None and parts.family == own.family and not parts.dated
    ]
    for tier in (own.tier or USUAL_TIER, USUAL_TIER, None):
        if of_tier := [member for member in members if member[1].tier == tier]:
            members = of_tier
            break
    best = max((parts.version for _, parts in members), default=None)
    tied = [slug for slug, parts in members if parts.version == best]
    return template if template in tied or not tied else tied[0]


def contradicts(pinned: str, reported: str) -> bool:
    """Return whether the model that a stream's ``init`` *reported* can't be the *pinned* one.

    agy drops the tier there, so family and version are compared, a version only where both name one. Dates
    and the spelling of a label (``Gemini 3.8 Flash (High)``) don't count.
    """
    asked, ran = _loosely(pinned), _loosely(reported)
    if asked is None or ran is None:
        return False
    if asked.family != ran.family:
        return True
    return bool(asked.version and ran.version) and asked.version != ran.version


def _loosely(name: str) -> Slug | None:
    return parse_slug(_NOT_OF_A_SLUG.sub("-", name.lower()).strip("-"))


def _runs(words: Iterable[str]) -> list[list[str]]:
    """Return *words* with neighbouring numbers joined into one run."""
    runs: list[list[str]] = []
    numeric = False
    for word in words:
        was, numeric = numeric, _NUMBERS.fullmatch(word) is not None
        if was and numeric:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _numbers(run: Sequence[str]) -> list[str]:
    return [number for word in run if _NUMBERS.fullmatch(word) for number in word.split(".")]
