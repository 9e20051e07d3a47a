"""Which rows of a process table are a worker's: all of its descendants, and nobody else."""

from __future__ import annotations

import pytest

from prun.system.process._kin import Process, Root, kin

LEADER = 100
OWN = Root(LEADER, "7", owned=True)
FOREIGN = Root(LEADER, "7", owned=False)
SELF = 50


def row(pid: int, parent: int = 1, group: int = 0, session: int = 0, start: str = "8") -> Process:
    return Process(pid, start, parent, group or pid, session or pid, "x", zombie=False)


LEADER_ROW = row(LEADER, parent=SELF, start="7")


def members(
    rows: list[Process],
    root: Root = OWN,
    known: tuple[Process, ...] = (),
    carriers: frozenset[int] = frozenset(),
    barred: frozenset[int] = frozenset({SELF}),
) -> list[int]:
    return [one.pid for one in kin(rows, root, known, carriers, barred)]


@pytest.mark.parametrize("root", [OWN, FOREIGN], ids=["own", "foreign"])
def test_descendants_of_any_depth_are_members_in_whatever_order_they_are_listed(root: Root) -> None:
    rows = [row(103, 102), row(102, 101), LEADER_ROW, row(101, LEADER), row(60, SELF), row(SELF), row(1, 0)]
    assert members(rows, root) == members(rows[::-1], root) == [101, 102, 103]


def test_the_leader_itself_is_not_among_them() -> None:
    assert members([LEADER_ROW]) == []


def test_who_stays_in_the_session_or_group_is_a_member_though_orphaned() -> None:
    rows = [LEADER_ROW, row(101, 1, session=LEADER), row(102, 1, group=LEADER), row(103, 102), row(104, 1)]
    assert members(rows) == members(rows, FOREIGN) == [101, 102, 103]


def test_who_was_known_is_a_member_only_as_the_same_process() -> None:
    same, reused = row(101, 1), row(102, 1, start="9")
    known = (row(101, 1), row(102, 1, start="8"), row(103, 1))
    assert members([LEADER_ROW, same, reused, row(104, 102), row(105, 101)], known=known) == [101, 105]


def test_a_carrier_of_the_token_is_a_member_and_so_are_its_children() -> None:
    rows = [LEADER_ROW, row(101, 1), row(102, 101), row(103, 1)]
    assert members(rows, carriers=frozenset({101, 999})) == [101, 102]


def test_without_its_leader_an_owned_session_still_counts() -> None:
    assert members([row(101, 1, session=LEADER)]) == [101]


def test_a_foreign_session_counts_only_while_something_proves_it() -> None:
    rows = [row(101, 1, session=LEADER), row(102, 1, group=LEADER)]
    reused = row(LEADER, 1, start="99")
    assert members(rows, FOREIGN) == []
    assert members([*rows, reused, row(103, LEADER)], FOREIGN) == []
    assert members([*rows, LEADER_ROW], FOREIGN) == [101, 102]
    assert members(rows, FOREIGN, carriers=frozenset({102})) == [101, 102]


def test_this_process_and_what_it_stands_on_are_never_members() -> None:
    rows = [LEADER_ROW, row(SELF, LEADER, session=LEADER), row(60, SELF), row(61, 60)]
    assert members(rows, carriers=frozenset({SELF})) == []


def test_a_table_that_loops_ends() -> None:
    assert members([LEADER_ROW, row(101, 102), row(102, 101), row(103, 103)], carriers=frozenset({101})) == [
        101,
        102,
    ]
