"""Slugs, families and the newest of one, case by case."""

from __future__ import annotations

import pytest

from prun.core.families import (
    Group,
    Slug,
    contradicts,
    group_of,
    newest_in_family,
    parse_slug,
    same_family,
    tier_of,
    with_tier,
)

DEFAULT, SECOND = "gemini-3.8-flash-high", "claude-sonnet-5-5-high"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (DEFAULT, Slug(("gemini", "flash"), (3, 8), dated=False, tier="high")),
        (SECOND, Slug(("claude", "sonnet"), (5, 5), dated=False, tier="high")),
        ("claude-opus-4-6-thinking", Slug(("claude", "opus"), (4, 6), dated=False, tier="thinking")),
        ("gemini-4-flash", Slug(("gemini", "flash"), (4,), dated=False, tier=None)),
        (
            "gemini-3.8.1-flash-lite-xhigh",
            Slug(("gemini", "flash", "lite"), (3, 8, 1), dated=False, tier="xhigh"),
        ),
        ("gemini-4-flash-preview-high", Slug(("gemini", "flash", "preview"), (4,), dated=False, tier="high")),
        ("gpt-oss-120b-medium", Slug(("gpt", "oss", "120b"), (), dated=False, tier="medium")),
        ("claude-sonnet-5-5-20260930-high", Slug(("claude", "sonnet"), (5, 5), dated=True, tier="high")),
        ("gemini-2026-flash-high", Slug(("gemini", "flash"), (), dated=True, tier="high")),
        ("claude-3-5-sonnet-20241022", Slug(("claude", "sonnet"), (3, 5), dated=True, tier=None)),
        ("gemini-3.8-flash-002", Slug(("gemini", "flash", "002"), (3, 8), dated=False, tier=None)),
        ("high", Slug(("high",), (), dated=False, tier=None)),
        ("gemini-\u0663-flash", Slug(("gemini", "\u0663", "flash"), (), dated=False, tier=None)),
        ("gemini-" + "9" * 5000, Slug(("gemini",), (), dated=True, tier=None)),
    ],
    ids=range(14),
)
def test_a_slug_is_taken_apart(text: str, slug: Slug) -> None:
    assert parse_slug(text) == slug
    assert tier_of(text) == slug.tier


@pytest.mark.parametrize("text", ["", "-", "a--b", "-a", "a-", "Gemini 3.8 Flash", "a\tb", "a-\n"])
def test_what_is_no_slug_has_no_parts(text: str) -> None:
    assert parse_slug(text) is None
    assert tier_of(text) is None
    assert not same_family(text, text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (DEFAULT, "gemini-4-flash-low", True),
        (DEFAULT, "gemini-3-8-flash", True),
        (SECOND, "claude-sonnet-6", True),
        (SECOND, "claude-sonnet-5-5-20260930", True),
        (DEFAULT, "gemini-3.8-flash-lite-high", False),
        (DEFAULT, "gemini-3.8-pro-high", False),
        (DEFAULT, "gemini-4-flash-preview-high", False),
        (SECOND, "claude-opus-5-5-high", False),
    ],
    ids=range(8),
)
def test_a_family_is_the_slug_without_version_and_tier(one: str, other: str, same: bool) -> None:
    assert same_family(one, other) is same
    assert same_family(other, one) is same


@pytest.mark.parametrize(
    ("slug", "tier", "changed"),
    [
        (DEFAULT, "low", "gemini-3.8-flash-low"),
        (DEFAULT, "high", DEFAULT),
        ("gemini-3.8-flash", "max", "gemini-3.8-flash-max"),
        (SECOND, "medium", "claude-sonnet-5-5-medium"),
    ],
    ids=range(4),
)
def test_a_tier_is_put_in_place_of_the_slugs_own(slug: str, tier: str, changed: str) -> None:
    assert with_tier(slug, tier) == changed


@pytest.mark.parametrize(
    ("model", "group"),
    [
        (DEFAULT, Group.GEMINI),
        (SECOND, Group.SECOND),
        ("gpt-oss-120b-medium", Group.SECOND),
        ("gemini", None),
        ("claudette-1", None),
        ("Gemini 3.8 Flash", None),
        ("my-gemini-1", None),
        ("", None),
    ],
    ids=range(8),
)
def test_a_model_draws_on_the_meter_of_its_group(model: str, group: Group | None) -> None:
    assert group_of(model) is group


@pytest.mark.parametrize(
    ("template", "listed", "chosen"),
    [
        (DEFAULT, "gemini-3.10-flash-high gemini-3.9-flash-high", "gemini-3.10-flash-high"),
        (DEFAULT, "gemini-3.8-flash-high gemini-4-flash-high", "gemini-4-flash-high"),
        (DEFAULT, "gemini-3.8.1-flash-high gemini-3.8-flash-high", "gemini-3.8.1-flash-high"),
        (DEFAULT, "gemini-2026-flash-high gemini-3.6-flash-high", "gemini-3.6-flash-high"),
        (DEFAULT, "gemini-4-flash-preview-high gemini-4-flash-lite-high", DEFAULT),
        (SECOND, "claude-sonnet-5-5-high claude-sonnet-5-5-20260930-high", SECOND),
        (SECOND, "claude-sonnet-5-5-20260930-high", SECOND),
        (SECOND, "claude-sonnet-6-high claude-sonnet-5-5-high", "claude-sonnet-6-high"),
        # The tier comes first: the template's, then high, then none, then any.
        (DEFAULT, "gemini-4-flash-low gemini-3.6-flash-high", "gemini-3.6-flash-high"),
        ("gemini-3.8-flash-low", "gemini-4-flash-high gemini-3.6-flash-low", "gemini-3.6-flash-low"),
        ("gemini-3.8-flash-low", "gemini-5-flash gemini-4-flash-high", "gemini-4-flash-high"),
        ("gemini-3.8-flash-low", "gemini-5-flash-max gemini-4-flash", "gemini-4-flash"),
        ("gemini-3.8-flash-low", "gemini-5-flash-max gemini-4-flash-medium", "gemini-5-flash-max"),
        ("gemini-3.8-flash", "gemini-5-flash gemini-4-flash-high", "gemini-4-flash-high"),
        # A tie.
        (DEFAULT, "gemini-3-8-flash-high gemini-3.8-flash-high", DEFAULT),
        (DEFAULT, "gemini-3-9-flash-high gemini-3.9-flash-high", "gemini-3-9-flash-high"),
        (DEFAULT, "gemini-3.9-flash-high gemini-3-9-flash-high", "gemini-3.9-flash-high"),
        # Nothing to choose from, or nothing to choose by.
        (DEFAULT, "", DEFAULT),
        (DEFAULT, "claude-sonnet-6-high", DEFAULT),
        ("gpt-oss-120b-medium", "gpt-oss-240b-medium gpt-oss-6-120b-medium", "gpt-oss-120b-medium"),
        ("gemini-2026-flash-high", "gemini-4-flash-high", "gemini-2026-flash-high"),
        ("a--b-3", "a--b-4", "a--b-3"),
        (DEFAULT, "gemini-flash-high", "gemini-flash-high"),
        (DEFAULT, "gemini-flash-high gemini-3.6-flash-high", "gemini-3.6-flash-high"),
    ],
    ids=range(24),
)
def test_the_newest_of_a_family_is_chosen(template: str, listed: str, chosen: str) -> None:
    assert newest_in_family(template, listed.split()) == chosen


@pytest.mark.parametrize(
    ("pinned", "reported", "contradicted"),
    [
        (DEFAULT, "gemini-3.8-flash", False),
        (DEFAULT, DEFAULT, False),
        (DEFAULT, "Gemini 3.8 Flash (High)", False),
        (DEFAULT, "gemini-3-8-flash", False),
        ("gpt-oss-120b-medium", "GPT-OSS 120B (Medium)", False),
        ("claude-opus-4-6-thinking", "claude-opus-4-6", False),
        ("claude-sonnet-5-5-20260930-high", "claude-sonnet-5-5", False),
        ("gemini-flash-high", "gemini-3.8-flash", False),
        (DEFAULT, "", False),
        (DEFAULT, "???", False),
        ("gemini-3.1-pro-high", "gemini-3.8-flash", True),
        (DEFAULT, "gemini-3.6-flash", True),
        (DEFAULT, "gemini-3.8-flash-lite", True),
        (SECOND, "gemini-3.8-flash", True),
        ("gemini-3.1-pro-hgih", "gemini-3.8-flash", True),
    ],
    ids=range(15),
)
def test_a_reported_model_contradicts_by_family_and_version(
    pinned: str, reported: str, contradicted: bool
) -> None:
    assert contradicts(pinned, reported) is contradicted
