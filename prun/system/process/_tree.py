"""A POSIX worker's process tree: noted while it runs, ended in order, proved gone."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform != "win32"

import signal
from typing import TYPE_CHECKING, Protocol

from prun.core.outcome import TreeState
from prun.system.process._contract import KILL_S, SETTLE_S, TreeEnd, label

if TYPE_CHECKING:
    from prun.system.clock import Clock
    from prun.system.process._contract import Ended
    from prun.system.process._kin import Process

_KILL_ROUNDS = 25
_FREEZE_ROUNDS = 5
_DEATH_S = 1.0


class Leader(Protocol):
    """The worker itself, as its tree needs it; each system has its own."""

    @property
    def pid(self) -> int:
        """Its pid."""

    def wait(self, timeout_s: float) -> Ended | None:
        """Return how it ended, or ``None`` after *timeout_s*; it is not reaped by this."""

    def send(self, number: int) -> None:
        """Send a signal to it, and to its whole group while its pid can't have been reused."""

    def reap(self) -> None:
        """Reap it, where it is a child of this process and has ended, and give up what watches it."""


class Relatives(Protocol):
    """The other members of the tree, as the system shows them."""

    def look(self, known: list[Process], *, thorough: bool) -> list[Process]:
        """Return the members seen now, living or zombie, the leader not among them.

        A *thorough* look reads the whole process table; the other follows children from *known* ones.
        """

    def send(self, member: Process, number: int) -> None:
        """Send a signal to *member* where it is still the same process and may be signalled."""

    def gone(self, member: Process, timeout_s: float) -> bool:
        """Return whether *member* has ended, waiting up to *timeout_s* for it."""

    def doubtful(self) -> list[Process]:
        """Return who belongs, by the last thorough look, to this tree or another: not to be signalled."""

    def part(self) -> bool:
        """Say that nothing new can come from this tree; return whether what was doubtful is now its own."""

    def bury(self, member: Process) -> None:
        """Reap a zombie where this process has become its parent."""


class Tree:
    """What belongs to one worker, from its launch to its end."""

    def __init__(self, leader: Leader, relatives: Relatives) -> None:
        self._leader = leader
        self._relatives = relatives
        self._known: list[Process] = []
        self._end: TreeEnd | None = None

    def collect(self) -> None:
        """Note who belongs to the tree now."""
        if self._end is None:
            self._living(thorough=False)

    def end(self, grace_s: float, clock: Clock) -> TreeEnd:
        """Return the tree's end: asked to end, then killed, proved gone, the leader reaped last."""
        if self._end is None:
            self._end = self._ended(grace_s, clock)
            self._leader.reap()
        return self._end

    def leave(self) -> TreeEnd:
        """Return what is left of a tree whose leader has ended; nothing is signalled."""
        if self._end is None:
            ended = self._leader.wait(0.0)
            if ended is None:
                alone = (label("worker", self._leader.pid),)
                return TreeEnd(None, TreeState.NOT_PROVED, survivors=alone)
            self._settled()
            left = _labels(self._living(thorough=True)) if self._relatives.part() else _labels(self._known)
            unsure = _labels(self._relatives.doubtful())
            self._end = TreeEnd(ended, _state(left, unsure), unsure, (*left, *unsure))
            self._leader.reap()
        return self._end

    def _ended(self, grace_s: float, clock: Clock) -> TreeEnd:
        first = self._leader.wait(0.0)
        left = self._settled() if first is not None else []
        survivors: tuple[str, ...] = ()
        if first is None or left:
            self._ask(grace_s, clock)
            survivors = self._kill(clock)
        if self._relatives.part() and (late := self._living(thorough=True)):
            named_before = {one.pid for one in left}
            left += [one for one in late if first is not None and one.pid not in named_before]
            self._ask(grace_s, clock)
            survivors = self._kill(clock)
        unsure = _labels(self._relatives.doubtful())
        named = (*_labels(left), *unsure) if first is not None else ()
        survivors += unsure
        return TreeEnd(self._leader.wait(0.0), _state(named, survivors), survivors, named)

    def _living(self, *, thorough: bool) -> list[Process]:
        """Return the living members other than the leader; dead ones that are ours to reap are reaped."""
        seen = self._relatives.look(self._known, thorough=thorough)
        for member in seen:
            if member.zombie:
                self._relatives.bury(member)
        self._known = [member for member in seen if not member.zombie]
        return self._known

    def _settled(self) -> list[Process]:
        """Return what outlives the leader, less what was only a moment behind it."""
        members = self._living(thorough=True)
        doubtful = self._relatives.doubtful()
        if not members and not doubtful:
            return members
        rest_s = SETTLE_S
        for member in (*members, *doubtful):
            if not self._relatives.gone(member, rest_s):
                rest_s = 0.0
        return self._living(thorough=True)

    def _ask(self, grace_s: float, clock: Clock) -> None:
        """Send TERM to every member, awake enough to hear it, and wait for their ends up to *grace_s*."""
        members = self._living(thorough=True)
        for number in (signal.SIGTERM, signal.SIGCONT):
            self._send(members, number)
        deadline_s = clock.monotonic() + grace_s
        in_time = self._leader.wait(grace_s) is not None
        for member in members:
            rest_s = max(deadline_s - clock.monotonic(), 0.0) if in_time else 0.0
            in_time = self._relatives.gone(member, rest_s)

    def _kill(self, clock: Clock) -> tuple[str, ...]:
        """Kill until a thorough look finds nobody; return who can't be proved gone."""
        deadline_s = clock.monotonic() + KILL_S
        over = self._leader.wait(0.0) is not None  # asked before the look: it may end by handing over
        members = self._living(thorough=True)
        for _ in range(_KILL_ROUNDS):
            if not members and over:
                return ()
            if clock.monotonic() >= deadline_s:
                break
            members = self._frozen(members)
            self._send(members, signal.SIGKILL)
            over = in_time = self._leader.wait(_DEATH_S) is not None
            for member in members:
                in_time = self._relatives.gone(member, _DEATH_S if in_time else 0.0)
            members = self._living(thorough=True)
        left = _labels(members)
        return left if over else (label("worker", self._leader.pid), *left)

    def _frozen(self, members: list[Process]) -> list[Process]:
        """Stop every member, and those they started meanwhile: what is stopped can't start another."""
        stopped: set[tuple[int, str]] = set()
        for _ in range(_FREEZE_ROUNDS):
            self._send(members, signal.SIGSTOP)
            stopped |= {(member.pid, member.start) for member in members}
            members = self._living(thorough=True)
            if all((member.pid, member.start) in stopped for member in members):
                break
        return members

    def _send(self, members: list[Process], number: int) -> None:
        self._leader.send(number)
        for member in members:
            self._relatives.send(member, number)


def _state(left: tuple[str, ...], survivors: tuple[str, ...]) -> TreeState:
    if survivors:
        return TreeState.NOT_PROVED
    return TreeState.LEFTOVERS if left else TreeState.GONE


def _labels(members: list[Process]) -> tuple[str, ...]:
    return tuple(label(member.name, member.pid) for member in members)
