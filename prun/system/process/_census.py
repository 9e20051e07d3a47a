"""Reading a whole process table while its processes come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prun.core.values import dataclass
from prun.system.process._kin import Process

if TYPE_CHECKING:
    from collections.abc import Iterable

_LISTINGS = 50


class Facts(Protocol):
    """What a system answers about processes, each answer true only at its moment."""

    def pids(self) -> Iterable[int]:
        """Return the pids of all processes."""

    def row(self, pid: int) -> Process | None:
        """Return a process, ``None`` where it has gone or is not shown."""

    def concerns(self, process: Process) -> bool:
        """Return whether *process* can belong to the tree at all."""

    def carries(self, pid: int) -> bool:
        """Return whether a process carries the unit's token."""


@dataclass(frozen=True, slots=True)
class Census:
    """Every process that can belong to the tree, and the pids of those that carry its token."""

    rows: list[Process]
    carriers: set[int]


def census(facts: Facts) -> Census:
    """Return a reading that misses nobody who lives at its end, and nobody's parent.

    A process that ends before it is read may have started another that was not listed. So all are listed
    again until nobody is new: whoever lives then was read alive. Likewise whoever's parent was gone before it
    could be read is read again, for somebody else is its parent now. Whoever keeps starting others faster
    than that is returned unread, as a carrier, for nobody can say that it is none.
    """
    rows: dict[int, Process] = {}
    carriers: set[int] = set()
    done: set[int] = set()
    others: set[int] = set()
    lost: set[int] = set()
    for _ in range(_LISTINGS):
        listed = set(facts.pids())
        pending = listed - done | lost
        if not pending:
            return Census(list(rows.values()), carriers)
        done |= listed
        for pid in pending:
            row = facts.row(pid)
            if row is None:
                rows.pop(pid, None)
            elif not facts.concerns(row):
                others.add(pid)
            else:
                rows[pid] = row
                if facts.carries(pid):
                    carriers.add(pid)
                if pid in lost and row.parent not in listed:  # it lives, and is never shown
                    others.add(row.parent)
        lost = {pid for pid, row in rows.items() if row.parent not in rows and row.parent not in others}
        lost -= carriers
    newest = max(set(facts.pids()) - done | lost, default=0)
    if not newest:
        return Census(list(rows.values()), carriers)
    unread = Process(newest, "", 0, 0, 0, "?", zombie=False)
    return Census([*(row for row in rows.values() if row.pid != newest), unread], {*carriers, newest})
