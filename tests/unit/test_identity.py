"""When a process may be called dead: every combination of what was recorded and what is seen."""

from __future__ import annotations

from itertools import product

import pytest

from prun.core.identity import Identity, Life, Machine, Presence, Sighting, life

HERE = Machine("h", "boot-1", "ns-1")
BARE = Machine("h", None, None)

ALIVE, DEAD, UNKNOWN = Life.ALIVE, Life.DEAD, Life.UNKNOWN


@pytest.mark.parametrize(
    ("presence", "recorded", "seen", "judged"),
    [
        (Presence.RUNNING, "t1", "t1", ALIVE),
        (Presence.RUNNING, "t1", "t2", DEAD),
        (Presence.RUNNING, "t1", None, UNKNOWN),
        (Presence.RUNNING, None, "t1", UNKNOWN),
        (Presence.RUNNING, None, None, UNKNOWN),
        *(
            (Presence.ABSENT, recorded, seen, DEAD)
            for recorded, seen in product(("t1", None), ("t1", "t2", None))
        ),
        *(
            (Presence.ZOMBIE, recorded, seen, DEAD)
            for recorded, seen in product(("t1", None), ("t1", "t2", None))
        ),
        *(
            (Presence.UNREADABLE, recorded, seen, UNKNOWN)
            for recorded, seen in product(("t1", None), ("t1", "t2", None))
        ),
    ],
    ids=range(23),
)
@pytest.mark.parametrize("machine", [HERE, BARE], ids=["linux", "no boot, no namespaces"])
def test_on_its_own_machine_a_process_is_judged_by_presence_and_token(
    machine: Machine, presence: Presence, recorded: str | None, seen: str | None, judged: Life
) -> None:
    assert life(Identity(machine, 7, recorded), Sighting(machine, presence, seen)) is judged


@pytest.mark.parametrize("presence", list(Presence))
@pytest.mark.parametrize(
    ("there", "here", "judged"),
    [
        (HERE, Machine("h", "boot-2", "ns-1"), DEAD),
        (HERE, Machine("h", "boot-2", "ns-2"), DEAD),
        (HERE, Machine("h", "boot-1", "ns-2"), UNKNOWN),
        (HERE, Machine("h", "boot-1", None), UNKNOWN),
        (HERE, Machine("h", None, "ns-1"), UNKNOWN),
        (BARE, Machine("h", "boot-1", None), UNKNOWN),
        (HERE, Machine("other", "boot-1", "ns-1"), UNKNOWN),
        (HERE, Machine("other", "boot-2", "ns-1"), UNKNOWN),
        (HERE, Machine("", "boot-2", "ns-1"), UNKNOWN),
        (BARE, Machine("other", None, None), UNKNOWN),
    ],
    ids=range(10),
)
def test_elsewhere_only_another_boot_of_the_same_host_proves_death(
    there: Machine, here: Machine, judged: Life, presence: Presence
) -> None:
    assert life(Identity(there, 7, "t1"), Sighting(here, presence, "t1")) is judged


@pytest.mark.parametrize("pid", [0, -1, -7])
@pytest.mark.parametrize("presence", list(Presence))
@pytest.mark.parametrize("boot", ["boot-1", "boot-2"])
def test_a_number_that_is_no_pid_proves_nothing(pid: int, presence: Presence, boot: str) -> None:
    assert life(Identity(HERE, pid, "t1"), Sighting(Machine("h", boot, "ns-1"), presence, "t1")) is UNKNOWN


def test_alive_is_said_only_of_the_very_same_process() -> None:
    machines = [Machine(*parts) for parts in product(("h", "g"), ("b1", "b2", None), ("n1", "n2", None))]
    for there, here, presence, pid, recorded, seen in product(
        machines, machines, Presence, (-1, 0, 7), ("t1", "t2", None), ("t1", "t2", None)
    ):
        if life(Identity(there, pid, recorded), Sighting(here, presence, seen)) is ALIVE:
            assert there == here
            assert presence is Presence.RUNNING
            assert pid > 0
            assert recorded is not None
            assert recorded == seen
