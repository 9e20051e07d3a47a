"""The environment of a dispatch, read into settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from prun.core.blank import is_blank_text
from prun.core.errors import UsageError
from prun.core.plain import one_line
from prun.core.request import Preflight, SessionKind, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

EFFORTS = ("low", "medium", "high", "max")
TIMEOUT_S = range(1, 604_800 + 1)
PREFLIGHT_TIMEOUT_S = range(1, 3_600 + 1)
REAP_IDLE_S = range(604_800 + 1)
REAP_GRACE_S = range(86_400 + 1)
MIN_RESULT_BYTES = range(1_000_000 + 1)

_DIGITS = re.compile(r"[0-9]{1,12}")
_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"0", "false", "no", "off", ""})
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_SHOWN_CHARACTERS = 60

_Word = TypeVar("_Word", Preflight, SessionKind)


def read_settings(env: Mapping[str, str]) -> Settings:
    """Return the settings that *env* makes; a variable that can't be used raises ``UsageError`` naming it.

    Names are looked up exactly as spelled here: where the system ignores their case (Windows), *env* has
    to do so too, as ``os.environ`` does. Paths stay as written: expanding them is the caller's.
    """
    return Settings(
        agy=_path(env, "ANTIGRAVITY_BIN") or "agy",
        model=_model(env),
        effort=_effort(env),
        timeout_s=read_number(env, "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS", 2700, TIMEOUT_S),
        preflight=_word(env, "ANTIGRAVITY_PREFLIGHT", Preflight.AUTO),
        preflight_timeout_s=read_number(
            env, "ANTIGRAVITY_PREFLIGHT_TIMEOUT_SECONDS", 60, PREFLIGHT_TIMEOUT_S
        ),
        scratch=None if is_blank_text(env.get("PRUN_SCRATCH_CWD", "")) else _path(env, "PRUN_SCRATCH_CWD"),
        sandbox=read_switch(env, "PRUN_AGY_SANDBOX", default=False),
        keep_env=_names(env, "PRUN_KEEP_ENV"),
        state_root=read_state_root(env),
        reap_idle_s=read_number(env, "PRUN_REAP_IDLE_SECONDS", 0, REAP_IDLE_S),
        reap_grace_s=read_number(env, "PRUN_REAP_GRACE_SECONDS", 60, REAP_GRACE_S),
        reap_leftovers=read_switch(env, "PRUN_REAP_LEFTOVERS", default=True),
        min_result_bytes=read_number(env, "PRUN_MIN_RESULT_BYTES", 20, MIN_RESULT_BYTES),
        session=_word(env, "PRUN_WORKER_SESSION", SessionKind.SESSION),
    )


def read_state_root(env: Mapping[str, str]) -> str | None:
    """Return where state directories are made, as written; ``None`` where that is left to the system."""
    return _path(env, "PRUN_STATE_ROOT")


def refuse_nesting(env: Mapping[str, str]) -> None:
    """Raise ``UsageError`` where *env* is a worker's own and ``PRUN_NESTED`` does not allow that."""
    if "PRUN_UNIT" in env and not read_switch(env, "PRUN_NESTED", default=False):
        raise UsageError(
            "PRUN_UNIT is set: this is inside a worker, and a worker starts no units; "
            "set PRUN_NESTED=1 if that is meant"
        )


def read_number(env: Mapping[str, str], name: str, default: int, allowed: range) -> int:
    """Return the number *name* holds, *default* where unset; it has to be ASCII digits within *allowed*."""
    value = env.get(name)
    if value is None:
        return default
    if _DIGITS.fullmatch(value) is None or int(value) not in allowed:
        raise UsageError(
            f"{name} is {_shown(value)}: give a whole number from {allowed[0]} to {allowed[-1]} "
            f"in plain digits, or unset it for {default}"
        )
    return int(value)


def read_switch(env: Mapping[str, str], name: str, *, default: bool) -> bool:
    """Return whether the switch *name* is on, *default* where unset; set but empty is off."""
    value = env.get(name)
    if value is None:
        return default
    word = value.strip().lower()
    if word not in _ON | _OFF:
        raise UsageError(f"{name} is {_shown(value)}: give 1, true, yes or on; or 0, false, no or off")
    return word in _ON


def _word(env: Mapping[str, str], name: str, default: _Word) -> _Word:
    value = env.get(name)
    if value is None:
        return default
    kind = type(default)
    try:
        return kind(value)
    except ValueError:
        words = ", ".join(word.value for word in kind)
        raise UsageError(f"{name} is {_shown(value)}: give one of {words}") from None


def _path(env: Mapping[str, str], name: str) -> str | None:
    value = env.get(name)
    if value is None:
        return None
    if is_blank_text(value):
        raise UsageError(f"{name} is set but blank: give a path, or unset it")
    if "\0" in value:
        raise UsageError(f"{name} is {_shown(value)}: a path can't hold a NUL")
    return value


def _model(env: Mapping[str, str]) -> str | None:
    value = env.get("ANTIGRAVITY_DISPATCH_MODEL")
    if value is None:
        return None
    if is_blank_text(value):
        raise UsageError(
            "ANTIGRAVITY_DISPATCH_MODEL is set but blank: name a model, or unset it for the default"
        )
    if _UNPRINTABLE.search(value) or value.startswith("-"):
        raise UsageError(
            f"ANTIGRAVITY_DISPATCH_MODEL is {_shown(value)}, which can't be a model: `agy models` lists them"
        )
    return value


def _effort(env: Mapping[str, str]) -> str | None:
    value = env.get("ANTIGRAVITY_DISPATCH_EFFORT")
    if value is not None and value not in EFFORTS:
        said = "set but blank" if is_blank_text(value) else _shown(value)
        raise UsageError(
            f"ANTIGRAVITY_DISPATCH_EFFORT is {said}: "
            f"give one of {', '.join(EFFORTS)}, or unset it for the model's own"
        )
    return value


def _names(env: Mapping[str, str], name: str) -> frozenset[str]:
    names = [part.strip() for part in env.get(name, "").split(",")]
    for wrong in "=*?":
        if any(wrong in part for part in names):
            # Never the text itself: somebody who wrote NAME=VALUE wrote a secret.
            raise UsageError(
                f"{name} holds a {wrong!r}: give whole names of variables, with commas between, and no values"
            )
    return frozenset(part.upper() for part in names if part)


def _shown(value: str) -> str:
    return f"'{one_line(value, _SHOWN_CHARACTERS)}'"
