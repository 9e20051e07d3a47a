"""The beginnings of lines, cut from chunks in bounded memory."""

from __future__ import annotations

HEAD_BYTES = 8 * 1024


class LineHeads:
    """Cuts chunks into lines and keeps the first *limit_bytes* of each, however the chunks were cut."""

    __slots__ = ("_head", "_limit_bytes", "_started")

    def __init__(self, limit_bytes: int = HEAD_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._head = bytearray()
        self._started = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the heads of the lines that *chunk* ends."""
        heads: list[bytes] = []
        at = 0
        while (end := chunk.find(b"\n", at)) >= 0:
            self._keep(chunk, at, end)
            heads.append(self._take())
            at = end + 1
        if at < len(chunk):
            self._keep(chunk, at, len(chunk))
            self._started = True
        return heads

    def finish(self) -> list[bytes]:
        """Return the head of the last line where no line feed ended it."""
        return [self._take()] if self._started else []

    def _keep(self, chunk: bytes, start: int, end: int) -> None:
        room_bytes = self._limit_bytes - len(self._head)
        self._head += chunk[start : min(end, start + room_bytes)]

    def _take(self) -> bytes:
        head = bytes(self._head)
        self._head.clear()
        self._started = False
        return head
