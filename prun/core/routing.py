"""Which model a dispatch runs, decided from what was asked and what agy lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from prun.core.errors import UsageError
from prun.core.families import Group, contradicts, group_of, newest_in_family, tier_of, with_tier
from prun.core.plain import one_line, visible
from prun.core.settings import EFFORTS
from prun.core.values import dataclass, replace

if TYPE_CHECKING:
    from prun.core.listing import Listing

DEFAULT_MODEL = "gemini-3.8-flash-high"
SECOND_MODEL = "claude-sonnet-5-5-high"

_SEEN_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Choice:
    """The model chosen before agy was asked what it has.

    One that *floats* is a template: the newest of its family may run in its place. *notes* are the routing
    steps so far, a line each.
    """

    model: str
    floats: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """The model that runs, the group whose meter it draws on, and how it came to be chosen.

    *effort* is what ``--effort`` gets, ``None`` where it is left out.
    """

    model: str
    group: Group | None
    effort: str | None
    notes: tuple[str, ...]
    floated: bool


@dataclass(frozen=True, slots=True)
class Unroutable:
    """No model can run, and why; nothing is launched."""

    reason: str
    notes: tuple[str, ...]


Routing: TypeAlias = Route | Unroutable


def check_effort(model: str | None, effort: str | None) -> None:
    """Raise ``UsageError`` where the *model* named has another tier than the *effort* asked for."""
    tier = None if model is None else tier_of(model)
    if effort is not None and tier not in (None, effort):
        raise UsageError(
            f"ANTIGRAVITY_DISPATCH_EFFORT is '{effort}' but ANTIGRAVITY_DISPATCH_MODEL names "
            f"'{visible(str(model))}', whose tier is {tier}: unset the one, or change the other"
        )


def route(model: str | None, effort: str | None, listing: Listing | None) -> Routing:
    """Return what runs for the *model* and *effort* asked for; without a *listing* agy was not asked."""
    choice = choose(model, effort)
    if listing is not None:
        choice = replaced_if_unlisted(choice, effort, listing)
    return resolve(choice, effort, listing)


def choose(model: str | None, effort: str | None) -> Choice:
    """Return the model named, else the default's template in the tier of *effort*."""
    return Choice(model, floats=False) if model is not None else template(DEFAULT_MODEL, effort)


def template(model: str, effort: str | None) -> Choice:
    """Return the constant *model* as a template that floats, in the tier of *effort* where one was asked."""
    return Choice(model if effort is None else with_tier(model, effort), floats=True)


def replaced_if_unlisted(choice: Choice, effort: str | None, listing: Listing) -> Choice:
    """Return *choice*, or the default's template for one of the second group that has no family listed.

    The group has changed then: where there is a meter, it gates anew, without moving the unit back.
    """
    if not choice.floats or group_of(choice.model) is not Group.SECOND or not listing.readable:
        return choice
    if newest_in_family(choice.model, listing.slugs) in listing.slugs:
        return choice
    default = template(DEFAULT_MODEL, effort)
    note = f"MODEL-FALLBACK from={choice.model} to={default.model} reason=template-unlisted"
    return replace(default, notes=(*choice.notes, note))


def resolve(choice: Choice, effort: str | None, listing: Listing | None) -> Routing:
    """Return the route that *choice* becomes with what agy lists, or why it becomes none."""
    if listing is None:
        return _route(choice, choice.model, effort)
    if not listing.readable:
        return Unroutable(_unreadable(listing), choice.notes)
    model = newest_in_family(choice.model, listing.slugs) if choice.floats else choice.model
    if model not in listing.slugs:
        return Unroutable(_unavailable(model, listing), choice.notes)
    return _route(choice, model, effort)


def ran_another(route: Route, reported: str | None) -> str | None:
    """Return the warning that ``init`` *reported* another model than *route* has, or ``None``."""
    if not reported or not contradicts(route.model, reported):
        return None
    return f"agy was given the model {visible(route.model)} and says it runs {visible(reported)}"


def _route(choice: Choice, model: str, effort: str | None) -> Route:
    notes = choice.notes
    if model != choice.model:
        notes = (*notes, f"MODEL-RESOLVE from={choice.model} to={model} reason=newest-in-family")
    group = group_of(model)
    # agy refuses an effort beside a slug of another tier, so the slug's own tier decides.
    tier = tier_of(model) or effort
    if group is Group.GEMINI:
        given = tier if tier in EFFORTS else None
    else:
        given = None
        if effort is not None and tier_of(model) is None:
            notes = (*notes, f"EFFORT-DROPPED effort={effort} model={model} reason=not-a-gemini-model")
    return Route(model, group, given, notes, floated=model != choice.model)


def _unavailable(model: str, listing: Listing) -> str:
    seen = one_line(", ".join(listing.slugs), _SEEN_CHARACTERS)
    return (
        f"model {visible(model)} is unavailable; agy lists: {seen}; "
        "name one of these in ANTIGRAVITY_DISPATCH_MODEL"
    )


def _unreadable(listing: Listing) -> str:
    seen = one_line(", ".join(listing.labels), _SEEN_CHARACTERS) if listing.labels else "nothing"
    return (
        f"the model list is unreadable: `agy models` printed no slug, but: {seen}; "
        "mend or update agy, or go without the list by ANTIGRAVITY_PREFLIGHT=off"
    )
