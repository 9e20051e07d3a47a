"""Whether the dispatcher of an older tool lives, who left nothing of himself but a pid."""

from __future__ import annotations

from typing import assert_never

from prun.core.identity import Life, Presence

START_SLACK_S = 60.0


def life_by_pid(presence: Presence, started_s: float | None, timestamp_s: float | None) -> Life:
    """Return whether the dispatcher lives, judged from what runs under its pid now.

    *started_s* is when that process started and *timestamp_s* when the dispatch did, in epoch seconds,
    ``None`` where not known: a process that started over a minute later is another.
    """
    match presence:
        case Presence.ABSENT | Presence.ZOMBIE:
            return Life.DEAD
        case Presence.UNREADABLE:
            return Life.UNKNOWN
        case Presence.RUNNING:
            if started_s is None or timestamp_s is None:
                return Life.UNKNOWN
            return Life.DEAD if started_s > timestamp_s + START_SLACK_S else Life.ALIVE
        case _:
            assert_never(presence)
