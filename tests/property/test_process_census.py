"""A census misses nobody: a process that keeps handing over to another is in it, or is said to be unread."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.system.process._census import Census, census
from prun.system.process._kin import Process
from tests.support.known_bad import assert_caught

if TYPE_CHECKING:
    from collections.abc import Callable

    from prun.system.process._census import Facts

SELF, FIRST = 1, 10


@dataclass
class Runner:
    """A machine on which one process hands over to the next, after as many questions as it has patience."""

    patience: list[int]
    zombies: bool
    living: int = FIRST
    asked: int = 0
    born: int = FIRST
    ended: set[int] = field(default_factory=set)

    def _pass(self) -> None:
        self.asked += 1
        if self.patience and self.asked > self.patience[0]:
            self.patience.pop(0)
            self.asked = 0
            self.ended.add(self.living)
            self.born += 1
            self.living = self.born

    def pids(self) -> list[int]:
        self._pass()
        return [1, self.living, *(self.ended if self.zombies else ())]

    def row(self, pid: int) -> Process | None:
        self._pass()
        one = Process(pid, "5", 1, pid, pid, "x", zombie=pid in self.ended)
        return None if pid in self.ended and not self.zombies else one

    def concerns(self, process: Process) -> bool:
        return process.pid != 1

    def carries(self, pid: int) -> bool:
        self._pass()
        return pid == self.living


@dataclass
class Lineage(Runner):
    """The same, but whoever hands over outlives that for a while, its heir's parent, and carries nothing."""

    lag: int = 0
    parents: dict[int, int] = field(default_factory=dict)
    leaving: dict[int, int] = field(default_factory=dict)

    def _pass(self) -> None:
        self.leaving = {pid: left - 1 for pid, left in self.leaving.items() if left}
        self.asked += 1
        if self.patience and self.asked > self.patience[0]:
            self.patience.pop(0)
            self.asked = 0
            heir = self.living - 1  # pids have gone round, so that it is read before its parent
            self.parents[heir] = self.living
            self.leaving[self.living] = self.lag
            self.living = heir

    def pids(self) -> list[int]:
        self._pass()
        return [SELF, self.living, *self.leaving]

    def row(self, pid: int) -> Process | None:
        self._pass()
        if pid not in (SELF, self.living, *self.leaving):
            return None
        parent = self.parents.get(pid, SELF)
        return Process(pid, "5", parent if parent in self.leaving else SELF, pid, pid, "x", zombie=False)

    def carries(self, pid: int) -> bool:
        super().carries(pid)
        return False


UNEVEN = st.lists(st.integers(0, 6), max_size=120)
STEADY = st.tuples(st.integers(0, 3), st.integers(0, 200)).map(lambda pace: [pace[0]] * pace[1])
MACHINES = st.builds(Runner, patience=UNEVEN | STEADY, zombies=st.booleans())


def check(take: Callable[[Facts], Census], machine: Runner) -> None:
    machine = replace(machine, patience=list(machine.patience), ended=set())
    taken = take(machine)
    assert taken.carriers
    assert taken.carriers <= {row.pid for row in taken.rows}


@given(MACHINES)
def test_whoever_runs_from_the_census_is_in_it(machine: Runner) -> None:
    check(census, machine)


LINEAGES = st.builds(
    Lineage, UNEVEN | STEADY, zombies=st.just(value=False), living=st.just(30_000), lag=st.integers(0, 5)
)


def check_lineage(take: Callable[[Facts], Census], machine: Lineage) -> None:
    """Check that whoever is found last goes back to a child of this process, or is said to be unread."""
    machine = replace(machine, patience=list(machine.patience), parents={}, leaving={})
    taken = take(machine)
    rows = {row.pid: row for row in taken.rows}
    assert rows
    pid = min(taken.carriers or rows)
    while pid not in taken.carriers and rows[pid].parent != SELF:
        pid = rows[pid].parent
        assert pid in rows, "its parent was not read"


@given(LINEAGES)
def test_whoever_is_in_the_census_has_its_parents_in_it(machine: Lineage) -> None:
    check_lineage(census, machine)


def one_listing(facts: Facts) -> Census:
    rows = [row for pid in facts.pids() if (row := facts.row(pid)) is not None and facts.concerns(row)]
    return Census(rows, {row.pid for row in rows if facts.carries(row.pid)})


def two_listings(facts: Facts) -> Census:
    one, other = one_listing(facts), one_listing(facts)
    return Census([*one.rows, *other.rows], one.carriers | other.carriers)


def until_all_were_read(facts: Facts) -> Census:
    rows: dict[int, Process] = {}
    carriers: set[int] = set()
    missed = True
    while missed:
        missed = False
        for pid in facts.pids():
            row = facts.row(pid)
            if row is None:
                missed = True
            elif facts.concerns(row):
                rows[pid] = row
                if facts.carries(pid):
                    carriers.add(pid)
    return Census(list(rows.values()), carriers)


def silent_when_outrun(facts: Facts) -> Census:
    taken = census(facts)
    return Census(taken.rows, {row.pid for row in taken.rows if row.start} & taken.carriers)


BAD = [one_listing, two_listings, until_all_were_read, silent_when_outrun]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.__name__)
def test_the_property_catches(bad: Callable[[Facts], Census]) -> None:
    assert_caught(lambda machine: check(bad, machine), MACHINES)


def until_nobody_is_new(facts: Facts) -> Census:
    rows: dict[int, Process] = {}
    done: set[int] = set()
    while new := set(facts.pids()) - done:
        done |= new
        rows |= {pid: row for pid in new if (row := facts.row(pid)) is not None and facts.concerns(row)}
    return Census(list(rows.values()), set())


def test_the_lineage_property_catches_a_census_that_lets_parents_go() -> None:
    assert_caught(lambda machine: check_lineage(until_nobody_is_new, machine), LINEAGES)
