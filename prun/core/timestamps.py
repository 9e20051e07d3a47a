"""Moments as RFC 3339 writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):?(\d\d))?",
    re.ASCII,
)
_LEAP_SECOND = 60


def rfc3339(moment: datetime) -> str:
    """Return an aware *moment* in UTC with milliseconds; a naive one raises ``ValueError``."""
    if moment.tzinfo is None:
        raise ValueError(f"cannot write {moment!r} in UTC: it names no time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_rfc3339(text: str) -> datetime | None:
    """Return the moment *text* names, in UTC, or ``None``; without a zone it is taken as UTC."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.group(1, 2, 3, 4, 5, 6))
    micros = int((found[7] or "0")[:6].ljust(6, "0"))
    if second == _LEAP_SECOND:
        second, micros = 59, 999_999
    offset = timedelta(0)
    if found[8] is not None:
        offset = timedelta(hours=int(found[9]), minutes=int(found[10])) * (-1 if found[8] == "-" else 1)
    try:
        zone = timezone(offset)
        return datetime(year, month, day, hour, minute, second, micros, zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def later(moment: datetime, by_s: float) -> datetime | None:
    """Return the moment *by_s* seconds after *moment*, or ``None`` where the calendar ends before it."""
    try:
        return moment + timedelta(seconds=by_s)
    except (ValueError, OverflowError):
        return None
