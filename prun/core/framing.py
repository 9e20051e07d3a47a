"""Chunks of a byte stream cut into lines."""

from __future__ import annotations

from io import BytesIO

from prun.core.buffers import reserve, take
from prun.core.values import dataclass

LINE_BYTES = 16 * 1024 * 1024
_ROOM_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line feed; *terminated* is false for a last line that none ended."""

    data: bytes
    terminated: bool


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line longer than the limit, of which only the size was kept."""

    size_bytes: int
    terminated: bool


class Framer:
    """Cuts chunks at line feeds and nowhere else; the lines are the same for any chunking."""

    __slots__ = ("_dropped_bytes", "_held", "_limit_bytes", "_room_bytes")

    def __init__(self, limit_bytes: int = LINE_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._held = BytesIO()
        self._room_bytes = _ROOM_BYTES
        self._dropped_bytes = 0

    def feed(self, chunk: bytes) -> list[Line | Overlong]:
        """Return the lines that *chunk* ends."""
        first, *others = chunk.split(b"\n")
        self._hold(first)
        if not others:
            return []
        last = others.pop()
        lines = [self._release(terminated=True)]
        lines.extend([self._whole(part) for part in others])
        self._hold(last)
        return lines

    def finish(self) -> list[Line | Overlong]:
        """Return the last line where no line feed ended it."""
        return [self._release(terminated=False)] if self._held.tell() or self._dropped_bytes else []

    def _hold(self, part: bytes) -> None:
        size_bytes = self._held.tell() + len(part)
        if self._dropped_bytes or size_bytes > self._limit_bytes:
            self._dropped_bytes += size_bytes
            self._held = BytesIO()
            return
        if size_bytes > self._room_bytes:
            self._room_bytes = max(size_bytes, min(self._limit_bytes, 8 * size_bytes))
            reserve(self._held, self._room_bytes)
        self._held.write(part)

    def _release(self, *, terminated: bool) -> Line | Overlong:
        line: Line | Overlong
        if self._dropped_bytes:
            line = Overlong(self._dropped_bytes, terminated)
        else:
            line = Line(take(self._held), terminated)
        self._held = BytesIO()
        self._room_bytes = _ROOM_BYTES
        self._dropped_bytes = 0
        return line

    def _whole(self, part: bytes) -> Line | Overlong:
        if len(part) > self._limit_bytes:
            return Overlong(len(part), terminated=True)
        return Line(part, terminated=True)
