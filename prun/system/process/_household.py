"""Whose the children of this process are: started here, from before, or orphans it became the parent of.

A subreaper is given every orphan among its descendants. So a child that this process did not start, and
that it did not have when it launched, comes from a worker, whatever its environment and session say now.
Which worker's it is, its token or its session tells; where neither does, it may be that of every tree that
was open, until all but one of these have ended.
"""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform != "win32"

import os
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from prun.system.process import _procfs
from prun.system.process._contract import UNIT_VARIABLE
from prun.system.process._kin import Process, carried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Key = tuple[int, str]


class Branch:
    """One worker's part of the household; *open* until nothing new can come from its tree."""

    __slots__ = ("open", "own_session", "sessions", "start")

    def __init__(self, sessions: Iterable[int] = (), start: str = "", *, own_session: bool = True) -> None:
        self.sessions = set(sessions)
        self.start = start
        self.own_session = own_session
        self.open = True

    def may_have(self, child: Process) -> bool:
        """Return whether *child* can descend from this branch's leader."""
        older = bool(child.start and self.start) and int(child.start) < int(self.start)
        return not older and not (self.own_session and child.session == os.getsid(0))


class Household:
    """The children of this process, for all of its threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._started: dict[int, Branch] = {}
        self._own: set[_Key] = set()
        self._tokens: dict[str, Branch] = {}
        self._claims: dict[_Key, frozenset[Branch]] = {}
        self._spared: set[_Key] = set()
        self._before = Branch(own_session=False)
        self._before_lives = False

    def start(self, fork: Callable[[], int], token: str, *, own_session: bool) -> int:
        """Return the pid of the child that *fork* makes: from then on a branch of its own.

        What children there are while no branch is open are nobody's: they are spared, whatever they start is
        never taken for a worker's.
        """
        with self._lock:
            self._forget_reaped()
            if not any(branch.open for branch in self._started.values()):
                self._look_back()
            pid = fork()
            row = _procfs.row(pid)
            sessions = {pid} if own_session else ()
            branch = Branch(sessions, row.start if row is not None else "", own_session=own_session)
            self._started[pid] = self._tokens[token] = branch
            self._own.add((pid, branch.start))
            return pid

    def branch(self, pid: int) -> Branch | None:
        """Return the branch whose leader is the child *pid*."""
        return self._started.get(pid)

    def reap(self, pid: int) -> None:
        """Reap a child that was started here and has ended, or is about to; its branch is closed."""
        if sys.platform == "linux":
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
            branch = self._started.pop(pid, None)
            if branch is not None:
                branch.open = False

    def note(self, branch: Branch, members: Iterable[Process]) -> None:
        """Remember the sessions of a branch's *members*: nobody can enter another one."""
        branch.sessions.update(one.session for one in members if one.session > 0)
        branch.sessions.discard(os.getsid(0))

    def divide(
        self, branch: Branch, seen: Iterable[Process]
    ) -> tuple[dict[int, Process], dict[int, Process]]:
        """Return the orphans of *branch*, and those that may be another's as well.

        They are children as *seen* a moment ago, for who has ended since may have handed over to one that was
        not seen, or listed now. Zombies are among them, as parents of who was read before they ended; those
        that may be another's are reaped here. One that /proc does not show is without a start.
        """
        rows = {(row.pid, row.start): row for row in (*own_children(), *seen)}
        mine: dict[int, Process] = {}
        doubtful: dict[int, Process] = {}
        with self._lock:
            for row in self._orphans(rows.values()):
                claim = self._claim(row, branch)
                if branch in claim:
                    rivals = any(one.open for one in claim if one is not branch)
                    (doubtful if rivals else mine)[row.pid] = row
                    if row.zombie and rivals:
                        self._bury(row)
        return mine, doubtful

    def bury(self, orphan: Process) -> None:
        """Reap *orphan* where it is a zombie, and still the same."""
        with self._lock:
            self._bury(orphan)

    def _bury(self, orphan: Process) -> None:
        row = _procfs.row(orphan.pid)
        if row is not None and row.zombie and row.start == orphan.start and row.parent == os.getpid():
            with suppress(ChildProcessError):
                os.waitpid(row.pid, os.WNOHANG)

    def close(self, branch: Branch) -> bool:
        """Close *branch*; return whether there are orphans that nobody but it can end any more."""
        with self._lock:
            branch.open = False
            shared = [claim for claim in self._claims.values() if branch in claim and len(claim) > 1]
            return any(not any(one.open for one in claim) for claim in shared)

    def _orphans(self, children: Iterable[Process]) -> Iterator[Process]:
        """Yield those *children* that were not started here and not here before.

        While one from before lives, or what may be its, an orphan nobody knows may be its too.
        """
        lives = False
        for row in children:
            key = row.pid, row.start
            if key in self._own or (not row.start and row.pid in self._started):
                continue
            if key in self._spared:
                lives |= not row.zombie
            else:
                yield row
                lives |= self._before in self._claims.get(key, ())
        self._before_lives = lives

    def _claim(self, row: Process, asking: Branch) -> frozenset[Branch]:
        """Return the branches that *row* may belong to, those closed since among them."""
        key = row.pid, row.start
        claim = self._claims.get(key)
        if claim is None or len(claim) > 1:
            if claim is None:
                able = {one for one in self._started.values() if one.open or one is asking}
                able |= {self._before} if self._before_lives else set()
                claim = frozenset(one for one in able if one.may_have(row))
            claim = self._claims[key] = self._told_apart(row, claim)
        return claim

    def _told_apart(self, row: Process, claim: frozenset[Branch]) -> frozenset[Branch]:
        token = carried(_procfs.environ(row.pid), UNIT_VARIABLE)
        owner = self._tokens.get(token) if token is not None else None
        if owner is not None:
            return frozenset({owner})
        by_session = frozenset(one for one in claim if row.session in one.sessions)
        return by_session if len(by_session) == 1 else claim

    def _forget_reaped(self) -> None:
        """Close the branches whose leaders somebody else has reaped: their pids may be anybody's by now."""
        if sys.platform == "linux":
            for pid in list(self._started):
                try:
                    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                except ChildProcessError:
                    self._started.pop(pid).open = False

    def _look_back(self) -> None:
        """Spare the children of now, but for orphans of earlier branches, which these keep."""
        rows = own_children()
        keys = {(row.pid, row.start) for row in rows}
        self._claims = {key: claim for key, claim in self._claims.items() if key in keys}
        taken = {pid for pid, _ in self._claims} | set(self._started)
        spared = [row for row in rows if row.pid not in taken]
        self._spared = {(row.pid, row.start) for row in spared}
        self._before = Branch((row.session for row in spared), own_session=False)
        self._before_lives = bool(self._spared)


def own_children() -> list[Process]:
    """Return this process's children, none where the system has no /proc."""
    here = os.getpid()
    found = _procfs.children(here)
    rows = (
        map(_procfs.row, _procfs.pids())
        if found is None
        else (_procfs.row(pid) or _hidden(pid) for pid in found)
    )
    return [row for row in rows if row is not None and row.parent == here]


def _hidden(pid: int) -> Process | None:
    """Return a living child that /proc does not show, as ``hidepid`` does with other users' processes."""
    if sys.platform == "linux":
        with suppress(ChildProcessError):
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            seen = _procfs.row(pid)
            alone = seen is None and ended is None
            return Process(pid, "", os.getpid(), -1, -1, "?", zombie=False) if alone else seen
    return None


HOUSEHOLD = Household()
