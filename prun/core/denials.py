"""What agy refused for want of permission, told from what merely failed."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from prun.core.fields import WORD_CHARACTERS, clipped, word

KEPT = 100
_KEYS = 8
_UNNAMED = "unknown"

# agy 1.1.20 to 1.2.x puts the first wording into the step, headless runs say the second on stderr.
# "Permission denied" alone is the file system's and stays an ordinary tool error.
_REFUSAL = re.compile(
    r"\s*(?:\w+:\s*){0,2}(?:permission check failed for\b"
    r"|.{0,200}?\bpermission\b.{0,80}?\b(?:headless mode cannot prompt|auto-denied)\b)",
    re.IGNORECASE | re.DOTALL,
)

Denial: TypeAlias = dict[str, str] | str


def is_refusal(message: str) -> bool:
    """Return whether the *message* of a failed tool step says that agy would not let it run."""
    return _REFUSAL.match(message) is not None


def read_denials(value: Any) -> tuple[Denial, ...]:
    """Return what ``denied_actions`` holds, an item of unexpected form as ``unknown``."""
    if isinstance(value, list):
        return tuple(_denial(item) for item in value[:KEPT])
    return (_denial(value),) if isinstance(value, dict | str) and value else ()


def merged(earlier: tuple[Denial, ...], later: tuple[Denial, ...]) -> tuple[Denial, ...]:
    """Return *earlier* with what only *later* has, bounded."""
    return (*earlier, *(denial for denial in later if denial not in earlier))[:KEPT]


def _denial(item: Any) -> Denial:
    if isinstance(item, str) and item.strip():
        return clipped(item, WORD_CHARACTERS)
    if not isinstance(item, dict):
        return _UNNAMED
    texts = [(clipped(key, WORD_CHARACTERS), word(text)) for key, text in item.items()]
    return dict([(key, text) for key, text in texts if text is not None][:_KEYS]) or _UNNAMED
