"""What of the parent's environment a child may see: everything but secrets and what misleads git.

This removes accidents. It is no sandbox: a child runs with its user's rights and can read what its user can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.secret_values import holds_password_url, holds_token, without_passwords
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "APIKEY", "AUTH")
_SECRET_PREFIXES = ("AWS_",)

# Well-known secrets that those words miss.
_KNOWN_NAMES = frozenset(
    {
        "BEARER",
        "CREDS",
        "DBPASS",
        "DSN",
        "FTPPASS",
        "JWT",
        "PASS",
        "PAT",
        "PGPASS",
        "PGPASSFILE",
        "SMTPPASS",
        "SSHPASS",
    }
)
_KNOWN_ENDS = (
    "_BEARER", "_BINDPW", "_CREDS", "_DSN", "_JWT", "_MNEMONIC", "_PASS", "_PASSCODE", "_PAT", "_PW", "_PWD",
)  # fmt: skip
_KNOWN_PARTS = ("PASSPHRASE", "WEBHOOK", "CONNECTION_STRING", "CONNECTIONSTRING", "CONNSTR", "CONN_STR")
_KNOWN_PIECES = frozenset({"COOKIE", "COOKIES"})

_GIT_PLACES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_WORK_TREE",
    }
)
_GIT_SETTINGS = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What a child may see, and the sorted names of what it may not; a withheld value is nowhere in here."""

    env: dict[str, str]
    withheld: tuple[str, ...]


def scrub(env: Mapping[str, str], keep: AbstractSet[str]) -> Scrubbed:
    """Return *env* less its secrets and less what relocates git or forces colours.

    Names in *keep*, in any case, pass before every rule; then ``ANTIGRAVITY_*`` passes, names and values.
    What is no name, and no program can be given, is dropped and not told.
    The markers of an agent that prun runs inside (``CLAUDECODE`` and the like) pass: they are no secrets.
    """
    kept = {name.upper() for name in keep}
    named = {name: value for name, value in env.items() if _is_name(name)}
    withheld = sorted(
        name for name, value in named.items() if name.upper() not in kept and _is_withheld(name, value)
    )
    gone = set(withheld)
    return Scrubbed({name: value for name, value in named.items() if name not in gone}, tuple(withheld))


def _is_name(name: str) -> bool:
    # An entry "=x" has an empty one; systems hand it on, and Python can't.
    return name != "" and "=" not in name and "\0" not in name


def _is_withheld(name: str, value: str) -> bool:
    upper = name.upper()
    if upper.startswith("ANTIGRAVITY_"):
        return False
    return _misleads(upper) or _is_secret_name(upper) or _is_secret_value(upper, value)


def _misleads(upper: str) -> bool:
    return upper in _GIT_PLACES or upper.startswith(_GIT_SETTINGS) or upper == "FORCE_COLOR"


def _is_secret_name(upper: str) -> bool:
    return (
        upper.startswith(_SECRET_PREFIXES)
        or any(word in upper for word in _SECRET_WORDS)
        or upper in _KNOWN_NAMES
        or upper.endswith(_KNOWN_ENDS)
        or any(part in upper for part in _KNOWN_PARTS)
        or not _KNOWN_PIECES.isdisjoint(upper.split("_"))
    )


def _is_secret_value(upper: str, value: str) -> bool:
    if upper.endswith("_PROXY"):
        # A proxy's password is what the worker reaches the network with.
        return holds_token(without_passwords(value))
    return holds_password_url(value) or holds_token(value)
