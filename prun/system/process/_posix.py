"""Workers of a POSIX system: held, started, adopted; what differs between systems is passed in."""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform != "win32"

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from prun.core.errors import LaunchError
from prun.core.identity import Hold, HoldKind, Identity, Life, Presence, life
from prun.system.process._contract import UNIT_VARIABLE, Ended, TargetError, cannot_run
from prun.system.process._fork import fork
from prun.system.process._household import HOUSEHOLD
from prun.system.process._kin import Process, Root
from prun.system.process._tree import Tree

if TYPE_CHECKING:
    from prun.core.identity import Machine, Sighting
    from prun.system.clock import Clock
    from prun.system.process._contract import Launch, TreeEnd
    from prun.system.process._fork import Forked
    from prun.system.process._tree import Leader, Relatives

_INIT = 1


class Watch(Protocol):
    """Something that learns of one process's end without polling and without reaping it."""

    def wait(self, timeout_s: float) -> Ended | None:
        """Return how the process ended, or ``None`` after *timeout_s*."""

    def close(self) -> None:
        """Give up the watch."""


class System(Protocol):
    """What Linux and macOS each do by their own means."""

    def sight(self, pid: int) -> Sighting:
        """Look at *pid*."""

    def parent(self, pid: int) -> int:
        """Return the parent of *pid*, 0 where that can't be told."""

    def watch_child(self, pid: int) -> Watch:
        """Watch a child of this process."""

    def watch_other(self, process: Process) -> Watch:
        """Watch a process that is not a child of this one."""

    def relatives(self, root: Root, token: str) -> Relatives:
        """Return access to the tree of *root*, found also by *token*."""


class PosixWorker:
    """A started worker and its tree."""

    def __init__(self, identity: Identity, leader: Leader, relatives: Relatives) -> None:
        self._identity = identity
        self._leader = leader
        self._tree = Tree(leader, relatives)

    @property
    def identity(self) -> Identity:
        """Who the worker is."""
        return self._identity

    def wait(self, timeout_s: float) -> Ended | None:
        """Return how the worker ended, or ``None`` after *timeout_s*; it is not reaped by this."""
        return self._leader.wait(timeout_s)

    def collect(self) -> None:
        """Note the worker's descendants."""
        self._tree.collect()

    def end(self, grace_s: float, clock: Clock) -> TreeEnd:
        """End the whole tree, prove it gone, reap the worker."""
        return self._tree.end(grace_s, clock)

    def leave(self) -> TreeEnd:
        """Reap a worker that has ended; name what it left behind."""
        return self._tree.leave()


class PosixHeld:
    """A forked child that waits for the word to run its program."""

    def __init__(self, system: System, launch: Launch, forked: Forked, machine: Machine, start: str) -> None:
        self._system = system
        self._launch = launch
        self._forked = forked
        self._identity = Identity(machine, forked.pid, start)
        self._start = start
        self._watch = system.watch_child(forked.pid)

    @property
    def identity(self) -> Identity:
        """Who the worker will be."""
        return self._identity

    @property
    def held(self) -> Hold:
        """The session or group the child leads."""
        return Hold(self._launch.session, id=self._forked.pid)

    def start(self) -> PosixWorker:
        """Let the program run; raise ``LaunchError``, nothing left, where the system can't run it."""
        try:
            self._forked.release()
        except LaunchError:
            self._watch.close()
            raise
        pid = self._forked.pid
        root = Root(pid, self._start, owned=True)
        relatives = self._system.relatives(root, self._launch.token)
        return PosixWorker(self._identity, OwnLeader(pid, self._watch), relatives)

    def abandon(self) -> None:
        """End the child; its program never runs."""
        self._watch.close()
        self._forked.abandon()


class OwnLeader:
    """A worker that is a child of this process: until it is reaped its pid, and group, are nobody else's."""

    def __init__(self, pid: int, watch: Watch) -> None:
        self.pid = pid
        self._watch = watch
        self._ended: Ended | None = None
        self._reaped = False

    def wait(self, timeout_s: float) -> Ended | None:
        """Return how it ended, or ``None`` after *timeout_s*."""
        if self._ended is None:
            self._ended = self._watch.wait(timeout_s)
        return self._ended

    def send(self, number: int) -> None:
        """Send a signal to its group."""
        if not self._reaped:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def reap(self) -> None:
        """Reap it where it has ended."""
        if self._reaped or self.wait(0.0) is None:
            return
        self._reaped = True
        self._watch.close()
        HOUSEHOLD.reap(self.pid)


class OtherLeader:
    """A worker whose dispatcher is dead: another process, so each signal is sent to it alone, verified."""

    def __init__(self, process: Process, watch: Watch | None, relatives: Relatives) -> None:
        self.pid = process.pid
        self._process = process
        self._watch = watch
        self._relatives = relatives
        self._ended = Ended() if watch is None else None

    def wait(self, timeout_s: float) -> Ended | None:
        """Return that it ended, nobody saw how, or ``None`` after *timeout_s*."""
        if self._ended is None and self._watch is not None:
            self._ended = self._watch.wait(timeout_s)
        return self._ended

    def send(self, number: int) -> None:
        """Send a signal to it."""
        if self._ended is None:
            self._relatives.send(self._process, number)

    def reap(self) -> None:
        """Give up the watch; whoever is its parent reaps it."""
        if self._watch is not None:
            self._watch.close()


class _Nobody:
    """The relatives of a worker of an earlier boot."""

    def look(self, known: list[Process], *, thorough: bool) -> list[Process]:
        del known, thorough
        return []

    def send(self, member: Process, number: int) -> None:
        """Nobody is there."""

    def gone(self, member: Process, timeout_s: float) -> bool:
        del member, timeout_s
        return True

    def doubtful(self) -> list[Process]:
        return []

    def part(self) -> bool:
        return False

    def bury(self, member: Process) -> None:
        """Nobody is there."""


def hold(system: System, launch: Launch) -> PosixHeld:
    """Return a child of known identity that waits; raise ``LaunchError`` where that can't be had."""
    forked = fork(launch)
    try:
        seen = system.sight(forked.pid)
        if seen.presence is Presence.RUNNING and seen.start is not None:
            return PosixHeld(system, launch, forked, seen.machine, seen.start)
    except BaseException:
        forked.abandon()
        raise
    forked.abandon()
    hint = " (is /proc mounted, for this pid namespace?)" if sys.platform == "linux" else ""
    raise cannot_run(launch.argv[0], f"the system does not tell when its process started{hint}")


def adopt(system: System, identity: Identity, held: Hold, token: str) -> PosixWorker:
    """Return a recorded worker whose dispatcher is dead; raise ``TargetError`` where it must be let be."""
    check_target(system, identity.pid, held, token)
    seen = system.sight(identity.pid)
    alive = life(identity, seen)
    if alive is Life.UNKNOWN or identity.start is None:
        raise TargetError(f"cannot end pid {identity.pid}: nothing tells whether it is the recorded worker")
    pid = identity.pid
    recorded = Process(pid, identity.start, 0, pid, pid, "worker", zombie=False)
    if identity.machine.boot != seen.machine.boot:
        return PosixWorker(identity, OtherLeader(recorded, None, _Nobody()), _Nobody())
    root = Root(pid, identity.start, owned=False)
    relatives = system.relatives(root, token)
    watch = system.watch_other(recorded) if alive is Life.ALIVE else None
    return PosixWorker(identity, OtherLeader(recorded, watch, relatives), relatives)


def check_target(system: System, pid: int, held: Hold, token: str) -> None:
    """Raise ``TargetError`` where a record names no process, this one, or what this one stands on."""
    here = os.getpid()
    if pid <= _INIT or held.id != pid or held.kind is HoldKind.JOB or not token:
        raise TargetError(f"cannot end pid {pid}, held as {held.kind} {held.id}: that is no worker's record")
    if pid in {here, os.getpgrp(), os.getsid(0), *ancestors(system, here)}:
        raise TargetError(f"cannot end pid {pid}: this process is, or stands on, what it names")
    if os.environ.get(UNIT_VARIABLE) == token:
        raise TargetError(f"cannot end pid {pid}: this process is part of its tree")


def ancestors(system: System, pid: int) -> list[int]:
    """Return the parents of *pid*, up to the first that can't be told."""
    found: list[int] = []
    while (pid := system.parent(pid)) > 0 and pid not in found:
        found.append(pid)
    return found
