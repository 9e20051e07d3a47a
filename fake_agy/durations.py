"""Durations in Go's notation, as agy reads and prints them."""

from __future__ import annotations

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def parse_duration(text: str) -> float | None:
    """Return the seconds that *text* names, ``None`` where Go's ParseDuration would refuse it."""
    body = text[1:] if text[:1] in {"+", "-"} else text
    sign = -1.0 if text[:1] == "-" else 1.0
    if body == "0":
        return 0.0
    total, at = 0.0, 0
    while at < len(body):
        part = _PART.match(body, at)
        if part is None:
            return None
        total += float(part[1]) * _UNITS[part[2]]
        at = part.end()
    return sign * total if body else None


def format_duration(seconds: float) -> str:
    """Return *seconds* as Go prints a Duration: ``5m0s``, ``76h3m46s``, ``1.5s``, hours above 24."""
    if seconds == 0:
        return "0s"
    sign, left = ("-", -seconds) if seconds < 0 else ("", seconds)
    if left < 1:
        return f"{sign}{left * 1000:g}ms"
    whole, fraction = divmod(round(left, 6), 1)
    hours, rest = divmod(int(whole), 3600)
    minutes, secs = divmod(rest, 60)
    tail = f"{secs + fraction:.6f}".rstrip("0").rstrip(".") + "s"
    if hours:
        return f"{sign}{hours}h{minutes}m{tail}"
    return f"{sign}{minutes}m{tail}" if minutes else f"{sign}{tail}"
