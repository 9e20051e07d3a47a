"""The models a version knows: their listing, and what agy says to a model and effort it can't combine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fake_agy.profiles import Family, Profile


class Model(NamedTuple):
    """A chosen model: its full slug, its base id (without the tier) and whether Gemini's meter counts it."""

    slug: str
    base: str
    gemini: bool


class ModelError(Exception):
    """A selection that agy refuses before any turn: *text* is its whole message."""

    def __init__(self, text: str) -> None:
        """Keep agy's message."""
        super().__init__(text)
        self.text = text


def listing(profile: Profile, extra: tuple[str, ...] | None = None) -> list[tuple[str, str]]:
    """Return the slugs and labels that ``agy models`` shows; *extra* is an account's own list."""
    if extra is not None:
        return [(slug, label_of(profile, slug)) for slug in extra]
    return [pair for family in profile.families if family.listed for pair in _members(family)]


def label_of(profile: Profile, slug: str) -> str:
    """Return the label of *slug*; one that no family has is labelled by its own words."""
    known = dict(pair for family in profile.families for pair in _members(family))
    return known.get(slug) or slug.replace("-", " ").title()


def choose(profile: Profile, listed: tuple[str, ...] | None, model: str | None, effort: str | None) -> Model:
    """Return the model that runs; ModelError has agy's words for an unknown model or effort."""
    if effort is not None and effort not in profile.efforts:
        raise ModelError(f'invalid --effort "{effort}" (valid: {", ".join(profile.efforts)})')
    asked = model or (listed[0] if listed else profile.default_model)
    if listed is None or asked in listed:
        for family in profile.families:
            if asked == family.base:
                return _of_family(profile, family, effort)
            if asked in (slug for slug, _ in _members(family)):
                return _of_slug(family, asked, effort)
        if listed is not None:
            return Model(asked, asked, asked.startswith("gemini-"))
    known = [slug for slug, _ in listing(profile, listed)]
    raise ModelError(unknown_model(asked, effort, known))


def unknown_model(asked: str, effort: str | None, known: list[str]) -> str:
    """Return agy's message for a model it does not know, with the list of those it does."""
    return (
        f'invalid model selection (--model "{asked}" --effort "{effort or ""}"): '
        f"model {asked} is not recognized as a known model or custom model in settings\n"
        "Available models:\n" + "\n".join(f"  {slug}" for slug in known)
    )


def conflict(asked: str, effort: str) -> str:
    """Return agy's message for a slug whose tier and ``--effort`` differ."""
    return f"--model {asked} conflicts with --effort={effort}"


def _members(family: Family) -> list[tuple[str, str]]:
    if not family.tiers:
        return [(family.base, family.label)]
    return [(f"{family.base}-{tier}", f"{family.label} ({tier.title()})") for tier in family.tiers]


def _of_family(profile: Profile, family: Family, effort: str | None) -> Model:
    gemini = family.base.startswith("gemini-")
    if not family.effort:
        if effort is not None:
            raise ModelError(f'--effort is not supported for model "{family.base}"')
        return Model(family.base, family.base, gemini)
    levels = ", ".join(family.tiers)
    if effort is None and profile.bare_family_needs_effort:
        raise ModelError(f"model {family.base} requires --effort (available: {levels})")
    if effort is not None and effort not in family.tiers:
        raise ModelError(f'{family.base} has no "{effort}" effort (available: {levels})')
    return Model(f"{family.base}-{effort}" if effort else family.base, family.base, gemini)


def _of_slug(family: Family, slug: str, effort: str | None) -> Model:
    if effort is not None and not family.effort:
        raise ModelError(f'--effort is not supported for model "{slug}"')
    if effort is not None and slug != f"{family.base}-{effort}":
        raise ModelError(conflict(slug, effort))
    return Model(slug, family.base, family.base.startswith("gemini-"))
