"""Whatever a tree does while it is ended: "gone" is said only of what is, and the leader is reaped last.

What may be another tree's is not touched before that has ended, and named until then.
"""

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.outcome import TreeState
from prun.system.process import Ended, TreeEnd
from prun.system.process._kin import Process
from tests.support.clocks import ManualClock
from tests.support.known_bad import assert_caught

pytest.importorskip("fcntl", reason="needs a POSIX system's signals")
assert sys.platform != "win32"

from prun.system.process._tree import Tree  # noqa: E402 - after the check for its system

if TYPE_CHECKING:
    from collections.abc import Callable

    from prun.system.clock import Clock

LEADER = 100
TERM, KILL, STOP, CONT = "TERM", "KILL", "STOP", "CONT"


@dataclass
class Being:
    """A process: whether it ignores TERM, can't be signalled, how many more it will start, whose it is."""

    stubborn: bool
    immortal: bool
    brood: int
    shared: bool = False
    stopped: bool = False
    ended: bool = False


@dataclass
class World:
    """A machine with one tree, moving on a little with every question; leader and relatives in one."""

    beings: dict[int, Being]
    last: bool
    hands_over: int = 0
    parted: bool = False
    clock: ManualClock = field(default_factory=ManualClock)
    signals: list[str] = field(default_factory=list)
    reaped: bool = False
    shown: list[Process] = field(default_factory=list)
    pid: int = LEADER

    def _pass(self) -> None:
        self.hands_over -= 1
        leader = self.beings[LEADER]
        if self.hands_over == 0 and not leader.stopped and not leader.ended:
            self.beings[max(self.beings) + 1] = Being(leader.stubborn, immortal=False, brood=0)
            leader.ended = True
        for being in list(self.beings.values()):
            if not being.stopped and not being.ended and being.brood > 0:
                being.brood -= 1
                child = Being(being.stubborn, immortal=False, brood=being.brood // 2, shared=being.shared)
                self.beings[max(self.beings) + 1] = child

    def _signal(self, pid: int, number: int) -> None:
        name = {15: TERM, 9: KILL, 18: CONT}.get(number, STOP)
        assert not self.reaped, "signalled after the leader was reaped"
        assert name != KILL or TERM in self.signals, "killed before it was asked"
        self.signals.append(name)
        being = self.beings[pid]
        assert self.parted or not being.shared, "signalled what may be another's"
        if being.immortal or being.ended:
            return
        if name == KILL or (name == TERM and not being.stubborn):
            being.ended = True
        being.stopped = name == STOP

    def wait(self, timeout_s: float) -> Ended | None:
        self._pass()
        if self.beings[LEADER].ended:
            return Ended(code=0)
        self.clock.advance(timeout_s)
        return None

    def reap(self) -> None:
        self.reaped = self.beings[LEADER].ended

    def look(self, known: list[Process], *, thorough: bool) -> list[Process]:
        del known, thorough
        self._pass()
        self.shown = self._rows(shared=True) if not self.parted else []
        return self._rows(shared=False) + (self._rows(shared=True) if self.parted else [])

    def _rows(self, *, shared: bool) -> list[Process]:
        return [
            Process(pid, str(pid), LEADER, LEADER, LEADER, "x", zombie=being.ended)
            for pid, being in self.beings.items()
            if pid != LEADER and being.shared == shared
        ]

    def doubtful(self) -> list[Process]:
        return self.shown

    def part(self) -> bool:
        self.parted = self.last
        return self.parted

    def gone(self, member: Process, timeout_s: float) -> bool:
        self._pass()
        if not self.beings[member.pid].ended:
            self.clock.advance(timeout_s)
        return self.beings[member.pid].ended

    def bury(self, member: Process) -> None:
        assert self.beings.pop(member.pid).ended

    def send(self, *target: object) -> None:
        self._pass()
        match target:
            case (int(number),):
                self._signal(LEADER, number)
            case (Process(pid=pid), int(number)):
                self._signal(pid, number)
            case _:
                raise TypeError(target)

    def living(self) -> list[int]:
        return [pid for pid, being in self.beings.items() if not being.ended]


RARELY = st.sampled_from([False, False, False, True])
MEMBERS = st.builds(Being, st.booleans(), RARELY, st.integers(0, 6))
SHARED = st.builds(Being, st.booleans(), RARELY, st.just(0), shared=st.just(value=True))
LEADERS = st.builds(
    Being, st.booleans(), immortal=st.just(value=False), brood=st.integers(0, 6), ended=st.booleans()
)
WORLDS = st.builds(
    lambda leader, others, *rest: World({LEADER: leader, **dict(enumerate(others, LEADER + 1))}, *rest),
    LEADERS,
    st.lists(MEMBERS | SHARED, max_size=4),
    st.booleans(),
    st.integers(0, 12),
)


def check(make: Callable[[World], Tree], world: World) -> None:
    world = copy.deepcopy(world)
    others = [pid for pid in world.living() if pid != LEADER]
    by_itself = world.beings[LEADER].ended
    end = make(world).end(2.0, world.clock)
    assert {name.rpartition(" ")[2] for name in end.survivors} == {f"({pid})" for pid in world.living()}
    left = [world.beings[pid] for pid in world.living()]
    assert all(one.immortal or (one.shared and not world.last) for one in left), "left what it could end"
    if by_itself and others and not end.survivors:
        assert end.state is TreeState.LEFTOVERS
    assert (end.state is TreeState.NOT_PROVED) == bool(world.living())
    assert world.reaped == world.beings[LEADER].ended
    assert world.clock.monotonic() < 1100.0, "waits without a bound"


@given(WORLDS)
def test_a_tree_is_said_to_be_gone_only_when_it_is(world: World) -> None:
    check(lambda machine: Tree(machine, machine), world)


class ReapsFirst(Tree):
    def end(self, grace_s: float, clock: Clock) -> TreeEnd:
        self._leader.reap()
        return super().end(grace_s, clock)


class KillsAtOnce(Tree):
    def _ask(self, grace_s: float, clock: Clock) -> None:
        del grace_s, clock


class KillsOnce(Tree):
    def _kill(self, clock: Clock) -> tuple[str, ...]:
        self._send(self._living(thorough=True), 9)
        del clock
        return ()


class BelievesTheFirstLook(Tree):
    looked = False

    def _living(self, *, thorough: bool) -> list[Process]:
        if not self.looked:
            super()._living(thorough=thorough)
        self.looked = True
        self._known = [one for one in self._known if not self._relatives.gone(one, 0.0)]
        return self._known


class LooksBeforeTheLeaderEnds(Tree):
    def _kill(self, clock: Clock) -> tuple[str, ...]:
        members = self._living(thorough=True)
        return () if not members and self._leader.wait(0.0) is not None else super()._kill(clock)


class EndsOnlyTheLeader(Tree):
    def _send(self, members: list[Process], number: int) -> None:
        del members
        self._leader.send(number)


class TakesAQuietLeaderForAQuietTree(Tree):
    def _ended(self, grace_s: float, clock: Clock) -> TreeEnd:
        ended = self._leader.wait(0.0)
        return TreeEnd(ended, TreeState.GONE) if ended else super()._ended(grace_s, clock)


class ForgetsTheDoubtful(Tree):
    def __init__(self, leader: World, relatives: World) -> None:
        relatives.doubtful = list  # type: ignore[method-assign]
        super().__init__(leader, relatives)


class EndsTheDoubtful(Tree):
    def _living(self, *, thorough: bool) -> list[Process]:
        return super()._living(thorough=thorough) + self._relatives.doubtful()


class NeverParts(Tree):
    def __init__(self, leader: World, relatives: World) -> None:
        relatives.part = lambda: False  # type: ignore[method-assign]
        super().__init__(leader, relatives)


BAD = [
    ForgetsTheDoubtful,
    EndsTheDoubtful,
    NeverParts,
    ReapsFirst,
    KillsAtOnce,
    KillsOnce,
    BelievesTheFirstLook,
    LooksBeforeTheLeaderEnds,
    EndsOnlyTheLeader,
    TakesAQuietLeaderForAQuietTree,
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.__name__)
def test_the_property_catches(bad: type[Tree]) -> None:
    assert_caught(lambda world: check(lambda machine: bad(machine, machine), world), WORLDS)
