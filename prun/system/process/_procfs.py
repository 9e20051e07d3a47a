"""What /proc tells of processes; only Linux has it, but the parsing is plain."""

from __future__ import annotations

import os
import re

from prun.system.process._kin import Process

_STATE, _PARENT, _GROUP, _SESSION, _THREADS, _START = 0, 1, 2, 3, 17, 19
_NUMBER = re.compile(rb"-?[0-9]{1,20}")
_CHUNK_BYTES = 1 << 16


def parse_stat(data: bytes) -> Process | None:
    """Return the process that a ``/proc/PID/stat`` describes, or ``None`` where it is none.

    Fields are counted from the last closing parenthesis, for a name may hold blanks and parentheses. A
    leader thread that has ended before its other threads looks like a zombie there and is none.
    """
    head, opened, rest = data.partition(b" (")
    name, closed, tail = rest.rpartition(b") ")
    fields = tail.split()
    if not opened or not closed or len(fields) <= _START:
        return None
    numbers = [head, *(fields[at] for at in (_PARENT, _GROUP, _SESSION, _THREADS, _START))]
    if not all(map(_NUMBER.fullmatch, numbers)):
        return None
    return Process(
        pid=int(head),
        start=fields[_START].decode("ascii"),
        parent=int(fields[_PARENT]),
        group=int(fields[_GROUP]),
        session=int(fields[_SESSION]),
        name=name.decode("utf-8", "replace"),
        zombie=fields[_STATE] in (b"Z", b"X", b"x") and int(fields[_THREADS]) <= 1,
    )


def read(path: str) -> bytes:
    """Return a whole /proc file; raise ``OSError`` where it can't be had."""
    fd = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(fd, _CHUNK_BYTES):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def row(pid: int) -> Process | None:
    """Return the row of *pid*, or ``None`` where /proc does not show it."""
    try:
        return parse_stat(read(f"/proc/{pid}/stat"))
    except OSError:
        return None


def pids() -> list[int]:
    """Return the pid of every process that /proc lists."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def children(pid: int) -> list[int] | None:
    """Return the pids of a process's children; ``None`` where this kernel does not list them."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            found += map(int, read(f"/proc/{pid}/task/{thread}/children").split())
        except OSError:
            if os.path.exists(f"/proc/{pid}/task/{thread}/stat"):
                return None
    return found


def environ(pid: int) -> bytes:
    """Return the environment a process was started with, empty where it can't be read."""
    try:
        return read(f"/proc/{pid}/environ")
    except OSError:
        return b""


def is_ours() -> bool:
    """Return whether /proc shows the pid namespace this process is in."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False
