"""What monitor and gather print, line by line; no name, path or kind can make two lines of one.

For each door there are lines of text and lines of JSON, an object each, with the same methods.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Protocol

from prun.core.codec import sound
from prun.core.plain import visible
from prun.core.unit_report import fields_of
from prun.core.values import dataclass
from prun.core.watching import Event, exit_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prun.core.unit_report import UnitReport

_WORD_CHARACTERS = 80
_NO_WORD = re.compile(r"[^!-~]")


def plain_number(value: float) -> str:
    """Return *value* as people write it: no exponent, no zeros that say nothing; to a microsecond."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def as_word(text: str) -> str:
    """Return *text* as one printable word of bounded length: who splits a line at blanks gets one field."""
    return _NO_WORD.sub("_", visible(text[:_WORD_CHARACTERS]))


def json_line(fields: dict[str, Any]) -> str:
    """Return *fields* as a JSON object on one line, in ASCII; what JSON can't hold becomes null."""
    return json.dumps(sound(fields), allow_nan=False)


class MonitorLines(Protocol):
    """The lines of monitor."""

    def start(self, units: int, stall_s: float, timeout_s: float) -> str:
        """Return what a watch of *units* begins with."""

    def event(self, event: Event) -> str:
        """Return what tells why a watch ended."""

    def unit(self, report: UnitReport) -> str:
        """Return how one unit stands."""


class MonitorText:
    """The lines of monitor for people and shells."""

    def start(self, units: int, stall_s: float, timeout_s: float) -> str:
        """Return what a watch of *units* begins with."""
        threshold, timeout = plain_number(stall_s), plain_number(timeout_s)
        return f"MONITOR-START units={units} stall-threshold={threshold}s timeout={timeout}s"

    def event(self, event: Event) -> str:
        """Return what tells why a watch ended."""
        return f"MONITOR-EVENT {event}"

    def unit(self, report: UnitReport) -> str:
        """Return how one unit stands."""
        return f"UNIT {visible(report.name)} {as_word(report.status.word)}"


class MonitorJson:
    """The lines of monitor for programs; a unit has a ``unit``, everything else an ``event``."""

    def start(self, units: int, stall_s: float, timeout_s: float) -> str:
        """Return what a watch of *units* begins with."""
        return json_line(
            {"event": "start", "units": units, "stall_threshold_s": stall_s, "timeout_s": timeout_s}
        )

    def event(self, event: Event) -> str:
        """Return what tells why a watch ended."""
        return json_line({"event": str(event), "exit_status": exit_status(event)})

    def unit(self, report: UnitReport) -> str:
        """Return how one unit stands."""
        return json_line(fields_of(report))


@dataclass(frozen=True, slots=True)
class Landed:
    """A result at *path* that landed; *kind* is that of a run that failed by its outcome, else ``None``."""

    path: str
    fallback: bool
    kind: str | None


class GatherLines(Protocol):
    """The lines of gather."""

    def start(self, count: int, timeout_s: float) -> list[str]:
        """Return what the collecting of *count* results begins with."""

    def landed(self, result: Landed) -> list[str]:
        """Return what is told of a result that landed."""

    def timeout(self, paths: Sequence[str]) -> list[str]:
        """Return what is told of the results that had not landed when the time was up."""


class GatherText:
    """The lines of gather for people and shells."""

    def start(self, count: int, timeout_s: float) -> list[str]:
        """Return what the collecting of *count* results begins with."""
        return [f"GATHER-START count={count} timeout={plain_number(timeout_s)}s"]

    def landed(self, result: Landed) -> list[str]:
        """Return what is told of a result that landed."""
        shown = visible(result.path)
        lines = [f"DONE {shown}"]
        if result.fallback:
            lines.append(f"FALLBACK {shown}")
        elif result.kind is not None:
            lines.append(f"FAILED {shown} {as_word(result.kind)}")
        return lines

    def timeout(self, paths: Sequence[str]) -> list[str]:
        """Return what is told of the results that had not landed when the time was up."""
        return [f"TIMEOUT remaining={len(paths)}", *(f"MISSING {visible(path)}" for path in paths)]


class GatherJson:
    """The lines of gather for programs."""

    def start(self, count: int, timeout_s: float) -> list[str]:
        """Return what the collecting of *count* results begins with."""
        return [json_line({"event": "start", "count": count, "timeout_s": timeout_s})]

    def landed(self, result: Landed) -> list[str]:
        """Return what is told of a result that landed."""
        failed = result.fallback or result.kind is not None
        fields = {"path": result.path, "failed": failed, "fallback": result.fallback, "kind": result.kind}
        return [json_line({"event": "done", **fields})]

    def timeout(self, paths: Sequence[str]) -> list[str]:
        """Return what is told of the results that had not landed when the time was up."""
        return [json_line({"event": "timeout", "remaining": len(paths), "missing": list(paths)})]
