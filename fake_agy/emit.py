"""What goes to stdout, in the format asked for: a line an event, one object, or plain text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fake_agy.platforms import write_all

if TYPE_CHECKING:
    from collections.abc import Callable

ZERO_USAGE = {
    "input_tokens": 0,
    "output_tokens": 0,
    "thinking_tokens": 0,
    "cache_read_tokens": 0,
    "total_tokens": 0,
}


def encode(value: Any) -> bytes:
    """Return *value* as compact JSON in UTF-8; a lone surrogate becomes a question mark."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class Emitter:
    """Writes events to a descriptor: all of them for stream-json, results alone for json and text."""

    def __init__(self, output_format: str, descriptor: int = 1) -> None:
        """Write in *output_format* to *descriptor*."""
        self.format = output_format
        self.descriptor = descriptor

    @property
    def streams(self) -> bool:
        """Whether events other than the result are shown."""
        return self.format == "stream-json"

    def init(self, conversation_id: str, payload: dict[str, Any]) -> None:
        """Show the first event; here alone the conversation id stands beside the payload."""
        if self.streams:
            self._line({"event": "init", "conversation_id": conversation_id, "init": payload})

    def step(self, payload: dict[str, Any], between: Callable[[], None] | None = None) -> None:
        """Show one state of one step; *between* is called in the middle of its first non-ASCII character."""
        if not self.streams:
            return
        line = encode({"event": "step_update", "step_update": payload}) + b"\n"
        cut = next((at + 1 for at, byte in enumerate(line) if byte >= 0x80), 0)  # noqa: PLR2004
        if between is not None and cut:
            self.raw(line[:cut])
            between()
            line = line[cut:]
        self.raw(line)

    def command_result(self, name: str, data: Any) -> None:
        """Show the answer of a slash command as an event of its own."""
        if self.streams:
            self._line({"event": "command_result", "command": {"name": name, "data": data}})

    def result(self, payload: dict[str, Any], keep: float = 1.0) -> None:
        """Show a result: an event, the bare payload or its response; *keep* cuts the line to that part."""
        if self.streams:
            data = encode({"event": "result", "result": payload}) + b"\n"
        elif self.format == "json":
            data = encode(payload) + b"\n"
        else:
            response = payload.get("response")
            data = response.encode("utf-8", "replace") if isinstance(response, str) else b""
            data += b"\n" if data and not data.endswith(b"\n") else b""
        self.raw(data if keep >= 1 else data[: int(len(data) * keep)])

    def raw(self, data: bytes) -> None:
        """Write *data* as it is, at once."""
        write_all(self.descriptor, data)

    def _line(self, event: dict[str, Any]) -> None:
        self.raw(encode(event) + b"\n")


def failed_early(error: str) -> dict[str, Any]:
    """Return the result payload of a process that never had a conversation."""
    return {
        "conversation_id": "",
        "status": "ERROR",
        "response": "",
        "error": error,
        "duration_seconds": 0,
        "num_turns": 0,
        "usage": dict(ZERO_USAGE),
    }
