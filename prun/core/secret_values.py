"""Values that are secrets whatever their name: URLs with a password in them, and known tokens."""

from __future__ import annotations

import re
from functools import cache

# Whatever stands before the scheme: a bracket, a quote, another scheme.
_URL_STARTS = r"(?<=[A-Za-z0-9+.-])://"
# A user may be an address; then a slash ends it all: what git clones is user@host:path@revision.
_USER = r"[^\s/?#:@\[\"<>`]{0,500}"
_PASSWORD = rf"(?:{_USER}:%s[^\s@]{{1,2000}}|{_USER}@[^\s/?#:\[\"<>`]{{0,500}}:%s[^\s@/]{{1,2000}})"
# A colon and digits alone are a port; a digest after the @ makes it a container image.
_NO_PORT = r"(?![0-9]{1,5}(?:[/?#,;\s\"'`)}>\]]|$))"
_BEFORE_HOST = _PASSWORD % (_NO_PORT, _NO_PORT) + r"@(?!sha[0-9]+:)"
_PARAMETERS = "pass|passwd|password|pwd|secret|client_secret|token|access_token|api_?key|sig"
_AS_PARAMETER = rf"[^\s]{{0,2000}}?[?&;#](?:{_PARAMETERS})=[^\s&;#]"

# How a token begins, and what has to follow for its full shape.
_LONG = r"(?=[A-Za-z0-9_-]*[A-Za-z0-9]{16})[A-Za-z0-9_-]{20,}"
_TOKENS = (
    ("ghp_", "[A-Za-z0-9]{20,}"),
    ("gho_", "[A-Za-z0-9]{20,}"),
    ("ghs_", "[A-Za-z0-9_.-]{20,}"),
    ("ghu_", "[A-Za-z0-9]{20,}"),
    ("ghr_", "[A-Za-z0-9]{20,}"),
    ("github_pat_", "[A-Za-z0-9]{16,}[A-Za-z0-9_]*"),
    *(
        (f"gl{kind}-", "[A-Za-z0-9_.-]{20,}")
        for kind in ("pat", "dt", "rt", "ptt", "soat", "ft", "cbt", "agent")
    ),
    ("sk-", _LONG),
    ("sk-ant-", "[A-Za-z0-9_-]{40,}"),
    ("sk-proj-", "[A-Za-z0-9_-]{40,}"),
    ("sk_", "(?:live|test)_[A-Za-z0-9]{16,}"),
    ("rk_", "(?:live|test)_[A-Za-z0-9]{16,}"),
    ("whsec_", "[A-Za-z0-9+/=]{20,}"),
    ("xox", "[a-z](?:[.]xox[a-z])?-[A-Za-z0-9-]{16,}"),
    ("xapp-", "[A-Za-z0-9-]{20,}"),
    ("hooks.slack.com/services/", "[A-Za-z0-9/]{20,}"),
    ("AKIA", "[A-Z0-9]{16}"),
    ("ASIA", "[A-Z0-9]{16}"),
    ("AIza", "[A-Za-z0-9_-]{30,}"),
    ("ya29.", "[A-Za-z0-9._-]{20,}"),
    ("1//0", "[A-Za-z0-9_-]{30,}"),
    ("GOCSPX-", "[A-Za-z0-9_-]{20,}"),
    ("npm_", "[A-Za-z0-9]{20,}"),
    ("pypi-", _LONG),
    ("hf_", "[A-Za-z0-9]{20,}"),
    ("gsk_", "[A-Za-z0-9]{30,}"),
    ("xai-", "[A-Za-z0-9]{30,}"),
    ("SG.", "[A-Za-z0-9_-]{16,}[.][A-Za-z0-9_-]{16,}"),
    ("dop_v1_", "[a-f0-9]{40,}"),
    ("shpat_", "[a-fA-F0-9]{24,}"),
    ("dckr_pat_", "[A-Za-z0-9_-]{20,}"),
    ("hvs.", "[A-Za-z0-9_-]{20,}"),
    ("lin_api_", "[A-Za-z0-9]{20,}"),
    ("glsa_", "[A-Za-z0-9_]{20,}"),
    ("dapi", "[a-f0-9]{32}"),
    ("eyJ", r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*"),
)
_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")


def holds_password_url(value: str) -> bool:
    """Return whether *value* is, or lists, a URL with a password: before its host or as a parameter."""
    return "://" in value and _password_url().search(value) is not None


def without_passwords(value: str) -> str:
    """Return *value* without the passwords that stand before the host of a URL."""
    return _before_host().sub("://", value) if "://" in value else value


def holds_token(value: str) -> bool:
    """Return whether *value* holds a private key, or the full shape of a known token as a word of its own.

    A part of a longer word, or of a path, is none: ``task-list``, ``/tmp/sk-…``.
    """
    return any(head in value and _token(head, tail).search(value) is not None for head, tail in _TOKENS) or (
        "PRIVATE KEY" in value and _PRIVATE_KEY.search(value) is not None
    )


# Compiled when first needed: a dispatch sees few of them.
@cache
def _password_url() -> re.Pattern[str]:
    return re.compile(f"{_URL_STARTS}(?:{_BEFORE_HOST}|{_AS_PARAMETER})", re.IGNORECASE)


@cache
def _before_host() -> re.Pattern[str]:
    return re.compile(_URL_STARTS + _BEFORE_HOST)


@cache
def _token(head: str, tail: str) -> re.Pattern[str]:
    # After "//" stands a URL's user; after a lone "/" or "\" a part of a path.
    return re.compile(rf"(?<![A-Za-z0-9_\\-])(?<![^/]/)(?<!^/){re.escape(head)}{tail}(?![A-Za-z0-9_-])")
