"""The account's buckets: drawn down under a lock, exactly, by however many processes share the account."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fake_agy.platforms import locked, replace

if TYPE_CHECKING:
    from fake_agy.account import Account, Bucket
    from fake_agy.home import Home


class Level(NamedTuple):
    """One bucket's state: units *used* since *since_s*, its window's start (``None``: full)."""

    used: int = 0
    since_s: float | None = None


class Draw(NamedTuple):
    """The decision on one turn: the levels after it, and where it may not run, how long until it may."""

    levels: dict[str, Level]
    reset_s: float | None = None


def decide(buckets: tuple[Bucket, ...], levels: dict[str, Level], now_s: float) -> Draw:
    """Return whether a turn that draws on all of *buckets* may run; it draws on all or on none."""
    current = {bucket.id: at(bucket, levels.get(bucket.id, Level()), now_s) for bucket in buckets}
    waits = [
        bucket.window_s - (now_s - (current[bucket.id].since_s or now_s))
        for bucket in buckets
        if current[bucket.id].used + bucket.cost > bucket.capacity
    ]
    if waits:
        return Draw({**levels, **current}, max(waits))
    after = {
        bucket.id: Level(current[bucket.id].used + bucket.cost, _start(current[bucket.id], now_s))
        for bucket in buckets
    }
    return Draw({**levels, **after})


def at(bucket: Bucket, level: Level, now_s: float) -> Level:
    """Return *level* as it stands now: full again once its window has passed."""
    over = level.since_s is not None and now_s - level.since_s >= bucket.window_s
    return Level() if over else level


def draw(home: Home | None, account: Account, *, gemini: bool, now_s: float) -> float | None:
    """Take one turn's cost from the account; ``None`` means it may run, else the seconds until a reset."""
    if home is None:
        return None
    buckets = buckets_of(account, gemini=gemini)
    return locked(home.lock, lambda: _draw(home, buckets, now_s))


def buckets_of(account: Account, *, gemini: bool) -> tuple[Bucket, ...]:
    """Return the buckets that a turn draws on, the hidden ceiling included."""
    group = "gemini" if gemini else "3p"
    own = tuple(bucket for bucket in account.buckets if bucket.group == group)
    return own if account.ceiling is None else (*own, account.ceiling)


def read_levels(home: Home | None) -> dict[str, Level]:
    """Return every bucket's stored level; none stored, or a file that can't be read, is all full."""
    if home is None:
        return {}
    try:
        body: dict[str, Any] = json.loads(home.quota.read_bytes())
        return {
            name: Level(int(used), None if since is None else float(since))
            for name, (used, since) in body.items()
        }
    except (OSError, ValueError, TypeError):
        return {}


def _draw(home: Home, buckets: tuple[Bucket, ...], now_s: float) -> float | None:
    decision = decide(buckets, read_levels(home), now_s)
    replace(home.quota, json.dumps(decision.levels).encode())
    return decision.reset_s


def _start(level: Level, now_s: float) -> float:
    return now_s if level.since_s is None else level.since_s
