"""Whether a dispatcher lives that left nothing but its pid."""

from __future__ import annotations

import pytest

from prun.core.identity import Life, Presence
from prun.core.legacy import life_by_pid


@pytest.mark.parametrize(
    ("presence", "started_s", "timestamp_s", "life"),
    [
        (Presence.ABSENT, None, None, Life.DEAD),
        (Presence.ABSENT, 5.0, 5.0, Life.DEAD),
        (Presence.ZOMBIE, None, 1000.0, Life.DEAD),
        (Presence.UNREADABLE, None, 1000.0, Life.UNKNOWN),
        (Presence.UNREADABLE, 5000.0, 1000.0, Life.UNKNOWN),
        (Presence.RUNNING, 1000.0, 1000.0, Life.ALIVE),
        (Presence.RUNNING, 1.0, 1000.0, Life.ALIVE),
        (Presence.RUNNING, 1060.0, 1000.0, Life.ALIVE),
        (Presence.RUNNING, 1060.1, 1000.0, Life.DEAD),
        (Presence.RUNNING, 4600.0, 1000.0, Life.DEAD),
        (Presence.RUNNING, None, 1000.0, Life.UNKNOWN),
        (Presence.RUNNING, 1000.0, None, Life.UNKNOWN),
    ],
)
def test_a_pid_tells_of_a_death_and_a_late_start_of_another_process(
    presence: Presence, started_s: float | None, timestamp_s: float | None, life: Life
) -> None:
    assert life_by_pid(presence, started_s, timestamp_s) is life
