"""The account's time, and the numbers of a turn: real ones, or reproducible ones under a file clock."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_EPOCH_S = 1_767_225_600.0


class Clock:
    """The account's clock: the machine's, or the seconds since 1970 that a file holds."""

    def __init__(self, path: Path | None) -> None:
        """Read the time from *path* whenever asked; ``None`` is the machine's clock."""
        self.path = path

    def now(self) -> float:
        """Return the seconds since 1970; an absent or unreadable file reads as 2026-01-01."""
        if self.path is None:
            return time.time()
        try:
            return float(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return _EPOCH_S


class Stopwatch:
    """How long a turn has taken: measured, or under a file clock counted from what its steps say."""

    def __init__(self, *, counted: bool) -> None:
        """Start at zero."""
        self.counted = counted
        self._started = time.monotonic()
        self._counted_s = 0.0

    def count(self, seconds: float) -> None:
        """Add what a step is said to take; a measured watch needs no telling."""
        self._counted_s += seconds

    def elapsed_s(self) -> float:
        """Return the seconds since the start, to the microsecond."""
        seconds = self._counted_s if self.counted else time.monotonic() - self._started
        return round(seconds, 6)


class Dice:
    """Numbers that depend on a key and a label alone."""

    def __init__(self, *key: object) -> None:
        """Take everything that may change the numbers as *key*."""
        self._key = "\x1f".join(str(part) for part in key)

    def number(self, low: int, high: int, label: object) -> int:
        """Return a whole number from *low* to *high*, the same for the same key and label."""
        digest = hashlib.sha256(f"{self._key}\x1e{label}".encode(errors="surrogatepass")).digest()
        return low + int.from_bytes(digest[:6], "big") % (high - low + 1)

    def uuid(self, label: object) -> str:
        """Return text in the shape of a version 4 UUID, the same for the same key and label."""
        digest = hashlib.sha256(f"{self._key}\x1e{label}".encode(errors="surrogatepass")).hexdigest()
        variant = "89ab"[int(digest[16], 16) % 4]
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
