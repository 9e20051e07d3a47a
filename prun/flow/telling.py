"""What a dispatch leaves on stderr at its end: how it went, and the ends of what the worker printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.document import readable
from prun.core.plain import utf8, visible
from prun.system.reading import read_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from prun.core.outcome import Outcome
    from prun.system.state_dir import StateDir

LINES = 80
LIMIT_BYTES = 64 * 1024


def last_lines(data: bytes, *, cut: bool) -> list[str]:
    """Return the last 80 lines of *data*, printable; *cut* tells that it begins within something longer.

    They have 64 KiB at most; of a last line longer than that the end is returned.
    """
    text = readable(data, cut=cut)
    if not text.strip():
        return []
    kept: list[str] = []
    room_bytes = LIMIT_BYTES
    for line in reversed(text.rstrip("\n").split("\n")[-LINES:]):
        shown = visible(line.rstrip("\r"))
        room_bytes -= len(utf8(shown)) + 1
        if room_bytes < 0:
            break
        kept.append(shown)
    if not kept:
        return [utf8(shown)[1 - LIMIT_BYTES :].decode("utf-8", "ignore")]
    return kept[::-1]


def tell(outcome: Outcome, state: StateDir, complain: Callable[[str], None]) -> None:
    """Tell the last 80 lines, at most 64 KiB, of the worker's stdout and stderr, then the verdict."""
    for name, path in (("tail", state.tail), ("stderr", state.stderr)):
        data = read_end(path, LIMIT_BYTES + 1)
        lines = last_lines(data[-LIMIT_BYTES:], cut=len(data) > LIMIT_BYTES)
        if lines:
            complain("\n".join([f"--- end of the worker's {name}:", *lines]))
    complain(f"--- {outcome.unit}: {outcome.verdict} ({outcome.kind}): {outcome.reason}")
