"""What a worker's own output says, read while it grows, in bounded memory and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from prun.core.agy_log import LogFindings, LogReader
from prun.core.complaints import Complaints, StderrReader
from prun.core.transcript import Reader, Transcript
from prun.core.values import dataclass
from prun.system.growing import GrowingFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prun.system.clock import Clock
    from prun.system.state_dir import StateDir

CHUNK_BYTES = 256 * 1024
END_BYTES = 2 * 1024 * 1024
LOOK_READ_S = 0.5


@dataclass(frozen=True, slots=True)
class Testimony:
    """What a worker's own output says, as far as it is evidence."""

    transcript: Transcript
    stderr: Complaints
    log: LogFindings


@dataclass(frozen=True, slots=True)
class News:
    """What one look at the output found: growth of the tail, of anything, and whether *more* is waiting."""

    spoke: bool
    grew: bool
    more: bool


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of each file there was at one moment."""

    tail: int
    stderr: int
    log: int


Late: TypeAlias = "Callable[[], bool]"


class _Takes(Protocol):
    def feed(self, chunk: bytes) -> None:
        """Take the next bytes in."""

    def finish(self) -> None:
        """Take in a last line that no line feed ended."""


class _Stream:
    """One growing file and the reader that its bytes go to."""

    def __init__(self, path: Path, reader: _Takes, *, keep: bool) -> None:
        self._file = GrowingFile(path, keep=keep)
        self._reader = reader

    @property
    def size_bytes(self) -> int:
        return self._file.size_now_bytes()

    def pour(self, upto_bytes: int | None, late: Late) -> tuple[bool, bool]:
        """Read on, one chunk at least; return whether anything came, and whether it got too late."""
        came = False
        while True:
            left = CHUNK_BYTES if upto_bytes is None else upto_bytes - self._file.offset_bytes
            chunk = self._file.read_on(min(left, CHUNK_BYTES)) if left > 0 else b""
            if not chunk:
                return came, False
            self._reader.feed(chunk)
            came = True
            if late():
                return came, True

    def close(self, upto_bytes: int, late: Late) -> None:
        """Read to *upto_bytes*; once it is too late, only the last of it."""
        _, cut = self.pour(upto_bytes, late)
        if cut and upto_bytes - self._file.offset_bytes > END_BYTES:
            self._reader.feed(b"\n")  # what is skipped joins no two lines
            self._file.offset_bytes = upto_bytes - END_BYTES
        if cut:
            self.pour(upto_bytes, _never)
        self._reader.finish()
        self._file.close()


class Witness:
    """Reads tail, stderr and log of one worker on while they grow."""

    def __init__(self, state: StateDir, clock: Clock) -> None:
        self._clock = clock
        self._events, self._complaints, self._log_lines = Reader(), StderrReader(), LogReader()
        self._tail = _Stream(state.tail, self._events, keep=True)
        self._stderr = _Stream(state.stderr, self._complaints, keep=True)
        self._log = _Stream(state.log, self._log_lines, keep=False)

    def read_on(self) -> News:
        """Read what is new, for half a second at most and a chunk of each file at least."""
        until_s = self._clock.monotonic() + LOOK_READ_S
        seen = [
            stream.pour(None, lambda: self._clock.monotonic() >= until_s)
            for stream in (self._tail, self._stderr, self._log)
        ]
        return News(spoke=seen[0][0], grew=any(came for came, _ in seen), more=any(cut for _, cut in seen))

    def testimony(self) -> Testimony:
        """Return what was read so far; a line that is not complete yet is not part of it."""
        return Testimony(self._events.transcript(), self._complaints.found, self._log_lines.found)

    def sizes(self) -> Sizes:
        """Return how much there is now."""
        return Sizes(self._tail.size_bytes, self._stderr.size_bytes, self._log.size_bytes)

    def close(self, upto: Sizes, late: Late) -> Testimony:
        """Read up to *upto* and return what it says; nothing is read after that.

        Once *late* says so the rest is skipped but for its end: a worker that floods is not waited for.
        """
        self._tail.close(upto.tail, late)
        self._stderr.close(upto.stderr, late)
        self._log.close(upto.log, late)
        return self.testimony()


def _never() -> bool:
    return False
