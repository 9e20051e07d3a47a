"""Looks at one unit's state directory: never blocked, never raising, cheap while nothing changes."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any

from prun.core.codec import LIMIT_BYTES
from prun.core.identity import Life
from prun.core.moment import Moment
from prun.core.records import decode_outcome
from prun.core.unit_snapshot import NO_DIRECTORY, NO_FILE, Found, UnitSnapshot
from prun.system.file_looks import NO_SUCH_FILE, OutputFile, SmallFile, is_there
from prun.system.lives import LOOK_S
from prun.system.notes import Notes
from prun.system.reading import Contents, Missing, Unreadable
from prun.system.tail_end import said_at_end
from prun.system.unit_owner import UnitOwner
from prun.system.unit_texts import UnitTexts

if TYPE_CHECKING:
    from prun.core.outcome import Outcome
    from prun.core.unit_snapshot import FileLook, ResultLook, Said
    from prun.system.clock import Clock
    from prun.system.lives import Lives
    from prun.system.reading import Reading
    from prun.system.state_dir import StateDir

_NOTHING_THERE = {place: UnitSnapshot(place) for place in NO_DIRECTORY}
_CAN_BE_NO_PATH = frozenset({errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL})
_UNSEEN = (Found.UNKNOWN, None)
_ALL_WELL: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def moment(clock: Clock) -> Moment:
    """Return this moment by both clocks."""
    return Moment(clock.monotonic(), clock.utc().timestamp())


class UnitLook:
    """One unit as it is looked at again and again; it keeps what need not be read twice."""

    def __init__(self, state: StateDir, lives: Lives) -> None:
        self._state = state
        self._lives = lives
        self._root = str(state.root)
        self._forget()

    def _forget(self) -> None:
        state = self._state
        self._outcome_file = SmallFile(state.outcome, LIMIT_BYTES)
        self._outcome_of: Reading = NO_SUCH_FILE
        self._outcome: Outcome | None = None
        self._tail, self._stderr, self._log = (
            OutputFile(path) for path in (state.tail, state.stderr, state.log)
        )
        self._texts = UnitTexts(state)
        self._owner = UnitOwner(state, self._lives)
        self._due_s = float("-inf")
        self._place: tuple[Found, float | None] | None = None
        self._said: tuple[int, Said] | None = None
        self._latest: UnitSnapshot | None = None
        self._parts: tuple[object, ...] = ()

    def glance(self) -> bool:
        """Return whether anything is there in the outcome's place, at the price of one call."""
        return is_there(self._outcome_file.path)

    def look(self, *, tail: bool = False) -> UnitSnapshot:
        """Return a snapshot, the same object while nothing changed; *tail* has the tail's end read too."""
        outcome = self._outcome_at_a_glance()
        self._refresh()
        result = self._texts.result()
        outputs = (self._tail.look(), self._stderr.look(), self._log.look())
        if self._place is None or (outcome is None and outputs[0] is NO_FILE):
            found = _place_of(self._root)
            if outcome is None and found[0] in _NOTHING_THERE:
                self._forget()
                return _NOTHING_THERE[found[0]]
            self._place = found
        owner, worker = self._owner.life(self._texts.timestamp_s), None
        if owner is Life.DEAD and outcome is None:
            worker = self._owner.worker()
            outcome = self._read_outcome()  # to write it may have been the last thing he did
        self._look_at_end(outputs[0].size_bytes, read=tail)
        return self._snapshot(outcome, result, outputs, owner, worker)

    def _refresh(self) -> None:
        now_s = self._lives.now_s()
        if now_s < self._due_s:
            return
        self._texts.refresh()
        self._owner.refresh(self._texts.timestamp_s)
        # Prun's own directories appear with all of this in them, an older tool's do not.
        settled = self._texts.result_path is not None and not self._owner.older
        self._due_s = float("inf") if settled else now_s + LOOK_S

    def _outcome_at_a_glance(self) -> Outcome | None:
        if self.glance():
            return self._read_outcome()
        self._outcome_of, self._outcome = NO_SUCH_FILE, None
        return None

    def _read_outcome(self) -> Outcome | None:
        reading = self._outcome_file.read()
        if reading is not self._outcome_of:
            self._outcome_of = reading
            self._outcome = decode_outcome(reading.data) if isinstance(reading, Contents) else None
        return self._outcome

    def _look_at_end(self, size_bytes: int, *, read: bool) -> None:
        if self._said is None or self._said[0] != size_bytes:
            self._said = (size_bytes, said_at_end(self._state.tail)) if read else None

    def _snapshot(
        self,
        outcome: Outcome | None,
        result: ResultLook,
        outputs: tuple[FileLook, ...],
        owner: Life,
        worker: Life | None,
    ) -> UnitSnapshot:
        # In the order of the snapshot's fields: to compare them is cheaper than to make one.
        parts: tuple[Any, ...] = (
            *(self._place or _UNSEEN),
            outcome,
            outcome is None and isinstance(self._outcome_of, Unreadable),
            self._texts.result_path,
            result,
            *outputs,
            self._owner.older,
            owner,
            worker,
            self._texts.timestamp_s,
            None if self._said is None else self._said[1],
            *self._notes(owner, worker),
        )
        if self._latest is None or parts != self._parts:
            self._parts = parts
            self._latest = UnitSnapshot(*parts)
        return self._latest

    def _notes(self, owner: Life, worker: Life | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what stands where a file belongs, and what else is wrong; nothing beside an outcome."""
        troubled = (
            not isinstance(self._outcome_of, Missing)
            or Life.UNKNOWN in (owner, worker)
            or self._texts.are_troubled()
            or self._tail.trouble is not None
            or self._stderr.trouble is not None
            or self._log.trouble is not None
        )
        if self._outcome is not None or not troubled:
            return _ALL_WELL
        notes = Notes()
        notes.take(self._outcome_file.path, self._outcome_of, "is no outcome")
        self._texts.note(notes)
        for file in (self._tail, self._stderr, self._log):
            notes.take(file.path, file.trouble)
        self._owner.note(notes)
        return notes.bad, notes.problems


def _place_of(root: str) -> tuple[Found, float | None]:
    """Return what stands at *root*, ``REGULAR`` for a directory, and when a file came there or went."""
    try:
        found = os.stat(root)
    except (FileNotFoundError, ValueError):
        return Found.MISSING, None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Found.IRREGULAR, None
        return Found.MISSING if error.errno in _CAN_BE_NO_PATH else Found.UNKNOWN, None
    return (Found.REGULAR, found.st_mtime) if stat.S_ISDIR(found.st_mode) else (Found.IRREGULAR, None)
