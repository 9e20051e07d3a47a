"""Who a process is, how a worker is started, and how its whole tree is ended and proved gone.

One contract, met by each system's own means:

- ``this_machine()`` and ``sight(pid)`` look; they never raise and never signal.
- ``launch(Launch)`` makes a process whose program has not started, so that its identity can be put on
  disk first. ``start()`` lets it run; if its dispatcher dies before, it never runs. It is held by a session
  or group (POSIX) or by a named job (Windows), gets no other open file than its three streams, and
  carries ``PRUN_UNIT``. ``LaunchError`` tells what the system can't run: from ``start()`` on POSIX, where
  a program is found out to be none when it is executed, from ``launch()`` on Windows.
- ``adopt(identity, hold, token)`` takes over a recorded worker whose dispatcher is dead: how it exits is
  then unknown, ``Ended(None, None)``. ``TargetError`` refuses a record that may not be acted on.
- ``become_subreaper()``: Linux only, for the whole process: orphans become its children. From then on a
  child that was not there before the launch, is in another session and was not started here is a worker's,
  whatever it drops: while a worker runs, this process starts no other sessions by other means. Where its
  worker can't be told, or it may be a child's from before the launch, it is named as not proved gone, and
  ended with the last tree that it may belong to.

Known limit without a subreaper (macOS): a process that drops ``PRUN_UNIT``, the worker's session and its
parent, all between two looks, can't be told from anybody else's and is let be.

Waiting is by pidfd, kqueue or handle. On Windows no Python signal handler runs until a wait is over, so
whoever has handlers waits in short steps. A worker belongs to one thread at a time; several may launch.
"""

from __future__ import annotations

import os
import sys

from prun.core.identity import Identity, Life, Presence, life
from prun.system.process._contract import Ended, Held, Launch, TargetError, TreeEnd, Worker

if sys.platform == "win32":
    from prun.system.process._windows import adopt, become_subreaper, launch, sight, this_machine
elif sys.platform == "darwin":
    from prun.system.process._macos import adopt, become_subreaper, launch, sight, this_machine
else:
    from prun.system.process._linux import adopt, become_subreaper, launch, sight, this_machine

__all__ = [
    "Ended",
    "Held",
    "Launch",
    "TargetError",
    "TreeEnd",
    "Worker",
    "adopt",
    "become_subreaper",
    "identify",
    "launch",
    "life_of",
    "myself",
    "sight",
    "this_machine",
]


def identify(pid: int) -> Identity | None:
    """Return who runs under *pid* now, ``None`` where nobody does or it can't be told."""
    seen = sight(pid)
    return Identity(seen.machine, pid, seen.start) if seen.presence is Presence.RUNNING else None


def myself() -> Identity:
    """Return who this process is; without a start token where the system does not tell it."""
    pid = os.getpid()
    return identify(pid) or Identity(this_machine(), pid, None)


def life_of(identity: Identity) -> Life:
    """Return whether the process *identity* lives, as far as can be told now."""
    return life(identity, sight(identity.pid))
