"""What the small texts of a state directory say: where the result is and when the dispatch began."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prun.core.state_texts import read_epoch, read_pointer
from prun.core.unit_snapshot import NO_RESULT, Document, ResultLook
from prun.system.file_looks import NO_SUCH_FILE, ResultFile, SmallFile, regular_stat_of
from prun.system.reading import Contents, Missing, NotRegular, TooBig

if TYPE_CHECKING:
    from prun.system.notes import Notes
    from prun.system.reading import Reading
    from prun.system.state_dir import StateDir

TEXT_BYTES = 64 * 1024

_HIDDEN = ResultLook(Document.UNKNOWN)


class UnitTexts:
    """The texts of one unit; *result_path* and *timestamp_s* are ``None`` while they tell none."""

    __slots__ = (
        "_odd",
        "_pid",
        "_pid_path",
        "_pointer",
        "_reading",
        "_result",
        "_timestamp",
        "_unusable",
        "timestamp_s",
    )

    def __init__(self, state: StateDir) -> None:
        self._pointer = SmallFile(state.result_file, TEXT_BYTES)
        self._timestamp = SmallFile(state.timestamp, TEXT_BYTES)
        self._reading: Reading = NO_SUCH_FILE
        self._result: ResultFile | None = None
        self._unusable: str | None = None
        self._pid_path = str(state.dispatch_pid)
        self._pid: NotRegular | None = None
        self._odd = False
        self.timestamp_s: float | None = None

    @property
    def result_path(self) -> str | None:
        """Where the result is to stand, absolute."""
        return None if self._result is None else self._result.path

    def refresh(self) -> None:
        """Read what has changed."""
        began = self._timestamp.read()
        pid = regular_stat_of(self._pid_path)
        self._pid = pid if isinstance(pid, NotRegular) else None
        self._odd = self._pid is not None or not isinstance(began, Contents | Missing)
        self.timestamp_s = read_epoch(began.data) if isinstance(began, Contents) else None
        reading = self._pointer.read()
        if reading is not self._reading:
            self._reading = reading
            self._result, self._unusable = None, None
            if isinstance(reading, Contents):
                self._point(read_pointer(reading.data))
            elif isinstance(reading, TooBig):
                self._unusable = reading.describe().removeprefix("it ")

    def result(self) -> ResultLook:
        """Return what stands where the result is to be; unknown where nobody can tell where that is."""
        if self._result is not None:
            return self._result.look()
        blank = isinstance(self._reading, Contents) and self._unusable is None
        return NO_RESULT if blank or isinstance(self._reading, Missing) else _HIDDEN

    def are_troubled(self) -> bool:
        """Return whether there may be anything to note."""
        return self._result is None or self._result.trouble is not None or self._odd

    def note(self, notes: Notes) -> None:
        """Tell *notes* what is wrong with the texts and with what stands at the result path."""
        notes.take(self._timestamp.path, self._timestamp.read())
        notes.take(self._pid_path, self._pid)
        if self._unusable is None:
            notes.take(self._pointer.path, self._reading)
        else:
            notes.take_bad(self._pointer.path, self._unusable)
        if self._result is not None:
            notes.take(self._result.path, self._result.trouble)

    def _point(self, path: str | None) -> None:
        if path is None:
            return
        if "\0" in path:
            self._unusable = "holds a NUL: that is no path"
        elif not os.path.isabs(path):
            self._unusable = f"names no absolute path: {path}"
        else:
            self._result = ResultFile(path)
