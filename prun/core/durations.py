"""How long until a quota resets, from the words that say so."""

from __future__ import annotations

import re

LONGEST_S = 366 * 86_400.0

_SECONDS_IN = {
    "d": 86_400.0,
    "h": 3_600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
}
_PART = r"\d{1,12}(?:\.\d{0,12})?(?:ms|us|µs|ns|[dhms])"
_SPAN = rf"~?{_PART}(?: ?{_PART}){{0,7}}(?![A-Za-z\d])"
_PARTS = re.compile(r"(\d+(?:\.\d*)?)(ms|us|µs|ns|[dhms])", re.ASCII)
_WHOLE = re.compile(_SPAN, re.ASCII)
_RESET = re.compile(
    r"(?:(?<!connection )(?<!stream )(?<!socket )\bresets?(?: again)? (?:in|after)\b:?"
    rf"|\bquotaResetDelay\b\W{{1,6}}) ?({_SPAN})",
    re.ASCII | re.IGNORECASE,
)
_RETRY = re.compile(rf"\bretryDelay\b\W{{1,6}}({_SPAN})", re.ASCII | re.IGNORECASE)


def parse_duration(text: str) -> float | None:
    """Return the seconds of a Go duration such as ``76h3m46s``, ``~2h`` or ``5d 3h``, else ``None``.

    Any part may be missing and hours may pass 24. Over a year is taken for nonsense.
    """
    trimmed = text.strip()
    if _WHOLE.fullmatch(trimmed) is None:
        return None
    total_s = sum(float(number) * _SECONDS_IN[unit] for number, unit in _PARTS.findall(trimmed))
    return total_s if total_s <= LONGEST_S else None


def find_reset(text: str) -> float | None:
    """Return the seconds after which *text* says a quota resets, or ``None`` where it does not say."""
    found = _RESET.search(text)
    return None if found is None else parse_duration(found[1].lower())


def find_retry(text: str) -> float | None:
    """Return the seconds after which *text* (a back end's body) says to try again, or ``None``."""
    found = _RETRY.search(text)
    return None if found is None else parse_duration(found[1].lower())
