"""Which rows of a process table belong to one worker's tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


@dataclass(frozen=True, slots=True)
class Process:
    """One row of the system's process table; *start* tells this process from a later one of the same pid."""

    pid: int
    start: str
    parent: int
    group: int
    session: int
    name: str
    zombie: bool


@dataclass(frozen=True, slots=True)
class Root:
    """Where a tree begins: its leader, *owned* while that is an unreaped child, its pid nobody else's."""

    pid: int
    start: str
    owned: bool


def is_same(process: Process, pid: int, start: str) -> bool:
    """Return whether *process* is the one of that *pid* and *start*."""
    return process.pid == pid and process.start == start


def carries(environ: bytes, name: str, value: str) -> bool:
    """Return whether an environment, its settings each ended by NUL, sets *name* to exactly *value*."""
    wanted = f"{name}={value}".encode()
    return wanted in environ and wanted in environ.split(b"\0")


def carried(environ: bytes, name: str) -> str | None:
    """Return the value that an environment sets *name* to, ``None`` where it does not."""
    start = f"{name}=".encode()
    found = [one for one in environ.split(b"\0") if one.startswith(start)] if start in environ else []
    return found[0].removeprefix(start).decode("utf-8", "replace") if found else None


def relations(rows: Iterable[Process], pids: Iterable[int]) -> list[Process]:
    """Return those of *rows* that are one of *pids* or descend from it."""
    table = {row.pid: row for row in rows}
    members = {pid for pid in pids if pid in table}
    _close(table, members)
    return [table[pid] for pid in sorted(members)]


def kin(
    rows: Iterable[Process],
    root: Root,
    known: Iterable[Process],
    carriers: Collection[int],
    barred: Collection[int],
) -> list[Process]:
    """Return the members of the tree of *root* among *rows*, without the leader itself.

    A member is *known* from an earlier look, or a child of a member, or in the leader's session or group,
    or one of the *carriers* of the unit's token. *barred* pids are never members, nor any for their sake.
    """
    table = {row.pid: row for row in rows if row.pid not in barred}
    members = {one.pid for one in known if one.pid in table and is_same(table[one.pid], one.pid, one.start)}
    leader_seen = root.pid in table and is_same(table[root.pid], root.pid, root.start)
    if leader_seen:
        members.add(root.pid)
    ours = {pid for pid in carriers if pid in table}
    together = {pid for pid, row in table.items() if root.pid in (row.session, row.group)}
    if leader_seen or root.owned or ours & together:
        members |= together
    members |= ours
    _close(table, members)
    return [table[pid] for pid in sorted(members) if pid != root.pid]


def _close(table: dict[int, Process], members: set[int]) -> None:
    """Add to *members* every descendant of a member."""
    children: dict[int, list[int]] = {}
    for pid, row in table.items():
        children.setdefault(row.parent, []).append(pid)
    pending = list(members)
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in members:
                members.add(child)
                pending.append(child)
