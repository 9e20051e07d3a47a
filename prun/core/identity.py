"""Who a process is, and when it may be called dead.

A process is (host, boot, pid namespace, pid, start token), never a pid alone. Only proof makes it dead.
"""

from __future__ import annotations

from enum import StrEnum

from prun.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """Where pids mean something: *boot* is ``None`` where the system gives no boot identity."""

    host: str
    boot: str | None
    pid_namespace: str | None


@dataclass(frozen=True, slots=True)
class Identity:
    """One process for all time; *start* is the system's own start token, ``None`` where it gave none."""

    machine: Machine
    pid: int
    start: str | None


class HoldKind(StrEnum):
    """What sets a worker's process tree apart."""

    SESSION = "session"
    GROUP = "group"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Hold:
    """How a worker's tree is held: POSIX *id* numbers its session or group, *name* is its Windows job's."""

    kind: HoldKind
    id: int | None = None
    name: str | None = None


class Life(StrEnum):
    """What is known of a process: *unknown* is not dead."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


class Presence(StrEnum):
    """What the system answers when asked for a pid."""

    RUNNING = "running"
    ZOMBIE = "zombie"
    ABSENT = "absent"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A look at one pid on *machine*: its presence and, where running, its start token."""

    machine: Machine
    presence: Presence
    start: str | None = None


def life(identity: Identity, seen: Sighting) -> Life:
    """Return whether the process *identity* lives, judged from what was *seen* at its pid now."""
    there, here = identity.machine, seen.machine
    if identity.pid <= 0 or there.host != here.host:
        return Life.UNKNOWN
    if there.boot is not None and here.boot is not None and there.boot != here.boot:
        return Life.DEAD
    if there.boot != here.boot or there.pid_namespace != here.pid_namespace:
        return Life.UNKNOWN
    match seen.presence:
        case Presence.ABSENT | Presence.ZOMBIE:
            return Life.DEAD
        case Presence.UNREADABLE:
            return Life.UNKNOWN
        case Presence.RUNNING:
            if identity.start is None or seen.start is None:
                return Life.UNKNOWN
            return Life.ALIVE if identity.start == seen.start else Life.DEAD
