"""Which model runs for what was asked and listed."""

from __future__ import annotations

import pytest

from prun.core.errors import UsageError
from prun.core.families import Group
from prun.core.listing import Listing, read_models
from prun.core.routing import (
    DEFAULT_MODEL,
    SECOND_MODEL,
    Choice,
    Route,
    Unroutable,
    check_effort,
    choose,
    ran_another,
    replaced_if_unlisted,
    resolve,
    route,
    template,
)

LISTED = read_models(
    "gemini-3.8-flash-high\ngemini-3.8-flash-low\ngemini-3.10-flash-high\ngemini-3.1-pro-high\n"
    "claude-opus-5-5-high\nclaude-sonnet-5-5-high\ngpt-oss-120b-medium\nmy-model-7\n"
)
FLOATED = "MODEL-RESOLVE from={} to={} reason=newest-in-family"


def listing(slugs: str) -> Listing:
    return Listing(tuple(slugs.split()), ())


def routed(model: str | None, effort: str | None, listed: Listing | None) -> Route:
    found = route(model, effort, listed)
    assert isinstance(found, Route), found
    return found


def test_without_a_model_the_default_floats_to_the_newest_of_its_family() -> None:
    assert routed(None, None, LISTED) == Route(
        "gemini-3.10-flash-high",
        Group.GEMINI,
        "high",
        (FLOATED.format(DEFAULT_MODEL, "gemini-3.10-flash-high"),),
        floated=True,
    )


def test_a_default_that_is_the_newest_stays_without_a_note() -> None:
    assert routed(None, None, listing(DEFAULT_MODEL)) == Route(
        DEFAULT_MODEL, Group.GEMINI, "high", (), floated=False
    )


def test_without_a_listing_the_default_is_run_as_it_is() -> None:
    assert routed(None, None, None) == Route(DEFAULT_MODEL, Group.GEMINI, "high", (), floated=False)


def test_a_named_model_never_floats() -> None:
    assert routed(DEFAULT_MODEL, None, LISTED) == Route(
        DEFAULT_MODEL, Group.GEMINI, "high", (), floated=False
    )
    assert routed("gemini-9-nope", None, None).model == "gemini-9-nope"


@pytest.mark.parametrize(
    ("model", "effort", "given"),
    [
        ("gemini-3.8-flash-low", None, "low"),
        ("gemini-3.8-flash-medium", None, "medium"),
        ("gemini-3.8-flash-max", None, "max"),
        ("gemini-3.8-flash-xhigh", None, None),
        ("gemini-3.8-flash-thinking", None, None),
        ("gemini-3.8-flash", None, None),
        ("gemini-3.8-flash", "low", "low"),
        ("gemini-3.8-flash-low", "low", "low"),
        ("claude-sonnet-5-5-high", None, None),
        ("claude-sonnet-5-5-high", "high", None),
        ("my-model-high", None, None),
    ],
    ids=range(11),
)
def test_an_effort_is_given_for_a_gemini_model_only(
    model: str, effort: str | None, given: str | None
) -> None:
    found = routed(model, effort, None)
    assert (found.effort, found.notes) == (given, ())


def test_an_effort_that_a_model_can_not_take_is_dropped_with_a_note() -> None:
    found = routed("claude-sonnet-4-6", "high", None)
    assert found.effort is None
    assert found.notes == ("EFFORT-DROPPED effort=high model=claude-sonnet-4-6 reason=not-a-gemini-model",)


@pytest.mark.parametrize(
    ("model", "group"),
    [
        (DEFAULT_MODEL, Group.GEMINI),
        (SECOND_MODEL, Group.SECOND),
        ("gpt-oss-120b-medium", Group.SECOND),
        ("x", None),
    ],
    ids=range(4),
)
def test_the_group_is_the_models(model: str, group: Group | None) -> None:
    assert routed(model, None, None).group is group


def test_an_effort_changes_the_tier_of_the_floating_default() -> None:
    found = routed(None, "low", LISTED)
    assert (found.model, found.effort, found.notes) == ("gemini-3.8-flash-low", "low", ())
    newer = routed(None, "low", listing("gemini-4-flash-low gemini-5-flash-high"))
    assert newer.notes == (FLOATED.format("gemini-3.8-flash-low", "gemini-4-flash-low"),)


def test_the_effort_given_never_conflicts_with_the_tier_that_runs() -> None:
    found = routed(None, "low", listing("gemini-5-flash-high"))
    assert (found.model, found.effort) == ("gemini-5-flash-high", "high")
    untiered = routed(None, "low", listing("gemini-5-flash"))
    assert (untiered.model, untiered.effort) == ("gemini-5-flash", "low")


@pytest.mark.parametrize(
    "model", ["gemini-3.1-pro-hgih", "Gemini 3.8 Flash (High)", " gemini-3.8-flash-high "]
)
def test_a_named_model_that_is_not_listed_is_unavailable(model: str) -> None:
    found = route(model, None, LISTED)
    assert isinstance(found, Unroutable)
    assert "unavailable" in found.reason
    assert model.strip() in found.reason
    for slug in LISTED.slugs:
        assert slug in found.reason
    assert found.reason.isprintable()


def test_a_default_without_any_of_its_family_listed_is_unavailable() -> None:
    found = route(None, None, listing("claude-sonnet-5-5-high"))
    assert isinstance(found, Unroutable)
    assert f"model {DEFAULT_MODEL} is unavailable" in found.reason


@pytest.mark.parametrize("model", [None, DEFAULT_MODEL, SECOND_MODEL], ids=str)
@pytest.mark.parametrize(
    ("listed", "seen"),
    [(read_models(""), "nothing"), (read_models("Gemini 3.8 Flash (High)\n"), "Gemini 3.8 Flash (High)")],
    ids=["empty", "labels"],
)
def test_an_unreadable_list_is_said_to_be_that_and_not_unavailable(
    model: str | None, listed: Listing, seen: str
) -> None:
    found = route(model, None, listed)
    assert isinstance(found, Unroutable)
    assert "unreadable" in found.reason
    assert "unavailable" not in found.reason
    assert seen in found.reason
    assert found.reason.isprintable()


def test_a_long_list_does_not_make_an_endless_reason() -> None:
    found = route("x-1", None, Listing(tuple(f"model-{n}" for n in range(10_000)), ()))
    assert isinstance(found, Unroutable)
    assert len(found.reason) < 1000


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        (DEFAULT_MODEL, "low"),
        (SECOND_MODEL, "low"),
        ("claude-opus-4-6-thinking", "high"),
        ("gemini-3.8-flash-xhigh", "max"),
        ("my-model-low", "high"),
    ],
    ids=range(5),
)
def test_a_named_slug_of_another_tier_is_a_usage_error(model: str, effort: str) -> None:
    with pytest.raises(UsageError, match=f"ANTIGRAVITY_DISPATCH_EFFORT.*ANTIGRAVITY_DISPATCH_MODEL.*{model}"):
        check_effort(model, effort)


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        (None, "low"),
        (None, None),
        (DEFAULT_MODEL, None),
        (DEFAULT_MODEL, "high"),
        ("gemini-3.8-flash", "low"),
    ],
    ids=range(5),
)
def test_an_effort_that_fits_is_no_error(model: str | None, effort: str | None) -> None:
    check_effort(model, effort)


def test_choosing_takes_the_named_model_or_the_default() -> None:
    assert choose("x", "low") == Choice("x", floats=False)
    assert choose(None, None) == Choice(DEFAULT_MODEL, floats=True)
    assert choose(None, "max") == Choice("gemini-3.8-flash-max", floats=True)


def test_the_second_template_floats_and_takes_the_effort_as_its_tier() -> None:
    choice = template(SECOND_MODEL, "low")
    assert choice == Choice("claude-sonnet-5-5-low", floats=True)
    found = resolve(choice, "low", listing("claude-sonnet-6-low claude-sonnet-5-5-low"))
    assert found == Route(
        "claude-sonnet-6-low",
        Group.SECOND,
        None,
        (FLOATED.format("claude-sonnet-5-5-low", "claude-sonnet-6-low"),),
        floated=True,
    )


def test_a_second_template_that_is_not_listed_falls_back_to_the_default() -> None:
    moved = Choice(SECOND_MODEL, floats=True, notes=("MODEL-BALANCE",))
    replaced = replaced_if_unlisted(moved, None, listing("gemini-4-flash-high claude-opus-5-5-high"))
    note = f"MODEL-FALLBACK from={SECOND_MODEL} to={DEFAULT_MODEL} reason=template-unlisted"
    assert replaced == Choice(DEFAULT_MODEL, floats=True, notes=("MODEL-BALANCE", note))


@pytest.mark.parametrize(
    ("choice", "listed"),
    [
        (Choice(SECOND_MODEL, floats=True), listing("claude-sonnet-6-high")),
        (Choice(SECOND_MODEL, floats=True), listing(SECOND_MODEL)),
        (Choice(SECOND_MODEL, floats=False), listing("gemini-4-flash-high")),
        (Choice(DEFAULT_MODEL, floats=True), listing("claude-sonnet-6-high")),
        (Choice(SECOND_MODEL, floats=True), listing("")),
    ],
    ids=["family listed", "itself listed", "named", "default", "unreadable"],
)
def test_any_other_choice_stays(choice: Choice, listed: Listing) -> None:
    assert replaced_if_unlisted(choice, None, listed) == choice


def test_notes_so_far_are_kept_also_where_nothing_can_run() -> None:
    choice = Choice("x-1", floats=False, notes=("MODEL-BALANCE",))
    found = resolve(choice, None, LISTED)
    assert isinstance(found, Unroutable)
    assert found.notes == ("MODEL-BALANCE",)


def test_a_stream_that_names_another_model_is_a_warning() -> None:
    found = routed("gemini-3.1-pro-hgih", None, None)
    warning = ran_another(found, "gemini-3.8-flash")
    assert warning is not None
    assert "gemini-3.1-pro-hgih" in warning
    assert "gemini-3.8-flash" in warning


@pytest.mark.parametrize("reported", [None, "", "gemini-3.8-flash", "Gemini 3.8 Flash (High)"], ids=str)
def test_a_stream_that_names_the_same_model_or_none_is_no_warning(reported: str | None) -> None:
    assert ran_another(routed(DEFAULT_MODEL, None, None), reported) is None
