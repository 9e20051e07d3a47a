"""The global rules: what no dispatcher may ever do to agy, checked on every call. Values only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fake_agy.usage import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fake_agy.flags import Options

_NAME = re.compile(
    r"(?i)KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|^AWS_"
    r"|^MYSQL_PWD$|^PGPASSFILE$|_PAT$|_DSN$|_PASS$|PASSPHRASE|WEBHOOK|^COOKIE$"
)
_VALUE = re.compile(
    r"(?<![A-Za-z0-9_-])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|sk-[A-Za-z0-9_-]{20,}|xox[a-z]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}"
    r"|ya29\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_URL_PASSWORD = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@")


def secret_names(environ: Mapping[str, str], allowed: Iterable[str] = ()) -> list[str]:
    """Return the names of variables that look like secrets, by name or by value, sorted; never a value."""
    spared = {name.upper() for name in allowed}
    return sorted(
        name
        for name, value in environ.items()
        if name.upper() not in spared and value and (_named_secret(name) or _valued_secret(name, value))
    )


def argv_breaches(options: Options) -> list[tuple[str, str]]:
    """Return the rules that the command line breaks, each with what breaks it; a prompt is never repeated."""
    found = []
    if (
        options.prompt
        and options.prompt.split(maxsplit=1)[:1] != []
        and options.prompt.strip() not in COMMANDS
    ):
        found.append(("prompt-in-argv", f"{len(options.prompt)} characters"))
    if options.interactive:
        found.append(("prompt-in-argv", f"{len(options.interactive)} characters"))
    found += [("relative-add-dir", path) for path in options.add_dirs if not _absolute(path)]
    if options.effort is not None and (options.model or "").startswith("claude"):
        found.append(("effort-on-claude", f"{options.model} {options.effort}"))
    return found


def _named_secret(name: str) -> bool:
    return _NAME.search(name) is not None and not name.upper().startswith("ANTIGRAVITY_")


def _valued_secret(name: str, value: str) -> bool:
    if _VALUE.search(value):
        return True
    return not name.upper().endswith("_PROXY") and _URL_PASSWORD.search(value) is not None


def _absolute(path: str) -> bool:
    from pathlib import Path

    return Path(path).is_absolute()
