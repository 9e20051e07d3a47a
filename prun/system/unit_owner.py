"""Who owns a unit and whether he lives, and so of its worker once nobody owns it any more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prun.core.identity import Life
from prun.core.records import decode_owner, decode_worker
from prun.core.state_texts import read_pid
from prun.system.file_looks import SmallFile
from prun.system.reading import Contents, Missing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prun.core.records import Owner, Worker
    from prun.system.lives import Lives, Watched
    from prun.system.notes import Notes
    from prun.system.reading import Reading
    from prun.system.state_dir import StateDir

RECORD_BYTES = 64 * 1024


class _Record:
    """A record of one process, which never changes once it is there."""

    __slots__ = ("_decode", "_file", "_lives", "_reading", "_watched")

    def __init__(self, path: Path, decode: Callable[[bytes], Owner | Worker | None], lives: Lives) -> None:
        self._file = SmallFile(path, RECORD_BYTES)
        self._decode = decode
        self._lives = lives
        self._reading: Reading | None = None
        self._watched: Watched | None = None

    def life(self) -> Life | None:
        """Return what is known of the process, ``None`` where there is no such record."""
        if self._watched is None:
            self._reading = self._file.read()
            record = self._decode(self._reading.data) if isinstance(self._reading, Contents) else None
            if record is None:
                return None if isinstance(self._reading, Missing) else Life.UNKNOWN
            self._watched = self._lives.of(record.identity)
        return self._watched.life()

    def note(self, notes: Notes) -> None:
        """Tell *notes* where the record is there and gives no process."""
        if self._watched is None:
            notes.take(self._file.path, self._reading, "is no record of a process")


class UnitOwner:
    """The last owner of one unit and its worker, looked at again and again.

    Where no owner record is there, the unit is an *older* tool's, whose dispatcher left only its pid.
    """

    __slots__ = (
        "_hidden",
        "_lives",
        "_number",
        "_pid",
        "_pid_file",
        "_pid_of",
        "_record",
        "_state",
        "_worker",
    )

    def __init__(self, state: StateDir, lives: Lives) -> None:
        self._state = state
        self._lives = lives
        self._number = 0
        self._hidden = False
        self._record: _Record | None = None
        self._worker = _Record(state.worker, decode_worker, lives)
        self._pid_file = SmallFile(state.dispatch_pid, RECORD_BYTES)
        self._pid_of: tuple[Reading, float | None] | None = None
        self._pid: Watched | None = None

    @property
    def older(self) -> bool:
        """Whether the system said that no owner record is there."""
        return self._number == 0 and not self._hidden

    def refresh(self, timestamp_s: float | None) -> None:
        """Find the last owner record, without any the pid of the dispatcher that began at *timestamp_s*."""
        number = self._number
        there = _is_there(self._state.owner(number + 1))
        while there:
            number += 1
            there = _is_there(self._state.owner(number + 1))
        self._hidden = there is None
        if number != self._number:
            self._number = number
            self._record = _Record(self._state.owner(number), decode_owner, self._lives)
        if self.older:
            self._read_pid(timestamp_s)

    def life(self, timestamp_s: float | None) -> Life:
        """Return what is known of the last owner; a dead one may have been followed by another."""
        life = self._life()
        if life is Life.DEAD:
            self.refresh(timestamp_s)
            life = self._life()
        return Life.UNKNOWN if self._hidden else life

    def worker(self) -> Life | None:
        """Return what is known of the worker, ``None`` where none was recorded, and so none started."""
        return self._worker.life()

    def note(self, notes: Notes) -> None:
        """Tell *notes* what is wrong with the records."""
        if self._record is not None:
            self._record.note(notes)
        self._worker.note(notes)
        if self.older and self._pid is None:
            notes.take(self._pid_file.path, self._pid_file.read(), "names no process")

    def _life(self) -> Life:
        if self._record is not None:
            return self._record.life() or Life.UNKNOWN
        return Life.UNKNOWN if self._pid is None else self._pid.life()

    def _read_pid(self, timestamp_s: float | None) -> None:
        reading = self._pid_file.read()
        if self._pid_of is not None and self._pid_of[0] is reading and self._pid_of[1] == timestamp_s:
            return
        self._pid_of = reading, timestamp_s
        pid = read_pid(reading.data) if isinstance(reading, Contents) else None
        self._pid = None if pid is None else self._lives.of_pid(pid, timestamp_s)


def _is_there(path: Path) -> bool | None:
    """Return whether anything is at *path*, ``None`` where the system does not say."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return None
    return True
