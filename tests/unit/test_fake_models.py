"""The fake's models: what is listed, and what is said to a selection that can't be."""

from __future__ import annotations

import pytest

from fake_agy.models import Model, ModelError, choose, label_of, listing
from fake_agy.profiles import PROFILES

NEW, OLD = PROFILES["1.3.5"], PROFILES["1.2.2"]


def test_the_listing_of_1_3_5_is_the_measured_one() -> None:
    assert [slug for slug, _ in listing(NEW)] == [
        *(f"gemini-3.8-flash-{tier}" for tier in ("low", "medium", "high")),
        *(f"claude-opus-5-5-{tier}" for tier in ("low", "medium", "high")),
        *(f"claude-sonnet-5-5-{tier}" for tier in ("low", "medium", "high")),
        "gpt-oss-120b-medium",
    ]


def test_the_listing_of_1_2_2_has_the_older_families() -> None:
    slugs = [slug for slug, _ in listing(OLD)]
    assert {
        "gemini-3.6-flash-low",
        "gemini-3.1-pro-high",
        "claude-sonnet-4-6",
        "claude-opus-4-6-thinking",
    } <= set(slugs)
    assert not any("5-5" in slug or "3.5" in slug for slug in slugs)


def test_a_label_names_family_and_tier() -> None:
    assert label_of(NEW, "claude-opus-5-5-high") == "Claude Opus 5.5 (High)"
    assert label_of(NEW, "of-my-own") == "Of My Own"


@pytest.mark.parametrize(
    ("model", "effort", "chosen"),
    [
        (None, None, Model("gemini-3.8-flash", "gemini-3.8-flash", gemini=True)),
        ("gemini-3.8-flash", "low", Model("gemini-3.8-flash-low", "gemini-3.8-flash", gemini=True)),
        ("gemini-3.8-flash-high", None, Model("gemini-3.8-flash-high", "gemini-3.8-flash", gemini=True)),
        ("gemini-3.8-flash-high", "high", Model("gemini-3.8-flash-high", "gemini-3.8-flash", gemini=True)),
        ("gemini-3.6-flash-low", None, Model("gemini-3.6-flash-low", "gemini-3.6-flash", gemini=True)),
        ("claude-sonnet-5-5-high", None, Model("claude-sonnet-5-5-high", "claude-sonnet-5-5", gemini=False)),
        ("gpt-oss-120b-medium", None, Model("gpt-oss-120b-medium", "gpt-oss-120b", gemini=False)),
    ],
)
def test_a_selection_that_can_be_names_slug_and_base(
    model: str | None, effort: str | None, chosen: Model
) -> None:
    assert choose(NEW, None, model, effort) == chosen


@pytest.mark.parametrize(
    ("profile", "model", "effort", "words"),
    [
        (NEW, "x", None, 'invalid model selection (--model "x" --effort ""): model x is not recognized'),
        (NEW, "x", "high", 'invalid model selection (--model "x" --effort "high")'),
        (NEW, "gemini-3.8-flash", "bogus", 'invalid --effort "bogus" (valid: low, medium, high, xhigh, max)'),
        (OLD, "gemini-3.8-flash", "max", 'invalid --effort "max" (valid: low, medium, high)'),
        (NEW, "gemini-3.1-pro-high", "medium", "--model gemini-3.1-pro-high conflicts with --effort=medium"),
        (
            NEW,
            "gemini-3.8-flash",
            "xhigh",
            'gemini-3.8-flash has no "xhigh" effort (available: low, medium, high)',
        ),
        (OLD, "claude-sonnet-4-6", "high", '--effort is not supported for model "claude-sonnet-4-6"'),
        (NEW, "claude-opus-5-5-high", "high", '--effort is not supported for model "claude-opus-5-5-high"'),
        (NEW, "gpt-oss-120b", "medium", '--effort is not supported for model "gpt-oss-120b"'),
        (OLD, "gemini-3.8-flash", None, "requires --effort (available: low, medium, high)"),
    ],
)
def test_a_selection_that_cannot_be_is_refused_in_agys_words(
    profile: object, model: str, effort: str | None, words: str
) -> None:
    with pytest.raises(ModelError) as caught:
        choose(profile, None, model, effort)  # type: ignore[arg-type]  # a profile, from the table
    assert words in caught.value.text


def test_an_unknown_model_is_answered_with_the_list() -> None:
    with pytest.raises(ModelError) as caught:
        choose(NEW, None, "x", None)
    assert caught.value.text.split("Available models:\n")[1].splitlines() == [
        f"  {s}" for s, _ in listing(NEW)
    ]


def test_an_accounts_own_list_is_all_that_is_known() -> None:
    own = ("gemini-9-flash-high", "of-my-own")
    assert listing(NEW, own) == [("gemini-9-flash-high", "Gemini 9 Flash High"), ("of-my-own", "Of My Own")]
    assert choose(NEW, own, "of-my-own", None) == Model("of-my-own", "of-my-own", gemini=False)
    with pytest.raises(ModelError):
        choose(NEW, own, "gemini-3.8-flash-high", None)
