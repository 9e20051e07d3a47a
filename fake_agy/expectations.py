"""What a correct dispatcher makes of each shipped scenario, for any suite to hold itself against."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from fake_agy.profiles import DEFAULT_VERSION

_FILE = Path(__file__).with_name("expectations.toml")


class Settings(NamedTuple):
    """How a scenario is to be dispatched; *continue_from* may be ``unknown``: one that agy lacks."""

    mode: str
    timeout_s: int
    grace_s: int
    preflight: str
    continue_from: str


class Expectation(NamedTuple):
    """One row: what the outcome must say of *scenario* under *profile*; the file explains each field."""

    scenario: str
    profile: str
    verdict: str
    kind: str
    exit_code: int
    author: str
    tree: str
    settings: Settings
    warnings: tuple[str, ...] = ()
    result_contains: str = ""
    result_lacks: str = ""
    kept: str = ""
    response_kept: bool = False
    ended_early: bool = False


def load(profile: str = DEFAULT_VERSION, platform: str = sys.platform) -> dict[str, Expectation]:
    """Return the expectation of every shipped scenario for one version of agy on one platform."""
    import tomllib

    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: _row(name, row, table, profile, platform) for name, row in table["scenario"].items()}


def _row(name: str, row: dict[str, Any], table: dict[str, Any], profile: str, platform: str) -> Expectation:
    values = {**table["completed" if row.get("kind", "ok") == "ok" else "failed"], **row}
    settings = Settings(**{**table["settings"], **values.pop("settings", {})})
    values = {key: value[profile] if isinstance(value, dict) else value for key, value in values.items()}
    code = values.pop("exit")
    on_windows = values.pop("exit_windows", code)
    if platform == "win32":
        code = on_windows
    values["warnings"] = tuple(values.get("warnings", ()))
    return Expectation(scenario=name, profile=profile, exit_code=code, settings=settings, **values)
