"""What differs between the versions of agy, as data: one profile a version."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_VERSION = "1.3.5"
_TIERS = ("low", "medium", "high")


class Family(NamedTuple):
    """One model family: base id, label, tiers (none: the slug has no tier), whether ``models`` lists it."""

    base: str
    label: str
    tiers: tuple[str, ...] = _TIERS
    effort: bool = False
    listed: bool = True


class Profile(NamedTuple):
    """One version's behaviour; every field is a difference that some release note or capture names.

    *quota_stop*: ``retried`` (inside the process, for the whole print timeout) or ``failed``.
    *denial*: ``ends-turn`` (step DONE, nothing more), ``step-error`` or ``canceled``.
    *print_timeout*: ``partial`` (SUCCESS and a notice) or ``error``.
    """

    version: str
    families: tuple[Family, ...]
    default_model: str
    efforts: tuple[str, ...]
    bare_family_needs_effort: bool
    error_prefix: str
    agy_error: bool
    api_failure_exit: int
    quota_exit: int
    quota_stop: str
    print_timeout: str
    print_timeout_s: float | None
    denial: str
    denied_actions: bool
    init_always_names_model: bool
    soft_stream_input: bool
    stream_prompt_refused: bool
    schema_root_object: bool
    rejection_signs_out: bool
    legacy_tools: bool
    log_prefix: bool


_GPT = Family("gpt-oss-120b", "GPT-OSS 120B", ("medium",))
_OLD_CLAUDE = (
    Family("claude-sonnet-4-6", "Claude Sonnet 4.6", ()),
    Family("claude-opus-4-6-thinking", "Claude Opus 4.6 (Thinking)", ()),
)
_PRO = Family("gemini-3.1-pro", "Gemini 3.1 Pro", ("low", "high"), effort=True)


def _flash(version: str, *, listed: bool = True) -> Family:
    return Family(f"gemini-{version}-flash", f"Gemini {version} Flash", effort=True, listed=listed)


_V135 = Profile(
    version="1.3.5",
    families=(
        _flash("3.8"),
        Family("claude-opus-5-5", "Claude Opus 5.5"),
        Family("claude-sonnet-5-5", "Claude Sonnet 5.5"),
        _GPT,
        _PRO._replace(listed=False),
        _flash("3.6", listed=False),
    ),
    default_model="gemini-3.8-flash",
    efforts=("low", "medium", "high", "xhigh", "max"),
    bare_family_needs_effort=False,
    error_prefix="error:",
    agy_error=True,
    api_failure_exit=3,
    quota_exit=3,
    quota_stop="failed",
    print_timeout="partial",
    print_timeout_s=None,
    denial="ends-turn",
    denied_actions=True,
    init_always_names_model=True,
    soft_stream_input=True,
    stream_prompt_refused=True,
    schema_root_object=True,
    rejection_signs_out=True,
    legacy_tools=False,
    log_prefix=False,
)

_V122 = _V135._replace(
    version="1.2.2",
    families=(_flash("3.8"), _flash("3.7"), _flash("3.6"), _PRO, *_OLD_CLAUDE, _GPT),
    efforts=_TIERS,
    bare_family_needs_effort=True,
    agy_error=False,
    api_failure_exit=1,
    quota_exit=0,
    quota_stop="retried",
    print_timeout_s=300.0,
    denial="step-error",
    init_always_names_model=False,
    soft_stream_input=False,
    schema_root_object=False,
    rejection_signs_out=False,
    legacy_tools=True,
    default_model="gemini-3.8-flash-medium",
)

PROFILES = {profile.version: profile for profile in (_V135, _V122)}
