"""How a unit stands, as it is told: a line of text, or an object with all that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prun.core.status import Failed
from prun.core.values import dataclass

if TYPE_CHECKING:
    from prun.core.status import Status
    from prun.core.unit_snapshot import UnitSnapshot


@dataclass(frozen=True, slots=True)
class UnitReport:
    """How the unit *name* in *state_dir* stands; *idle_s* is the seconds since its last progress."""

    name: str
    state_dir: str
    status: Status
    snapshot: UnitSnapshot
    idle_s: float


def fields_of(report: UnitReport) -> dict[str, Any]:
    """Return all that is known of the unit, for a program; ``None`` where something is not known."""
    outcome, said = report.snapshot.outcome, report.snapshot.said
    failed = report.status if isinstance(report.status, Failed) else None
    usage = outcome.usage if outcome is not None else None if said is None else said.usage
    turns = outcome.num_turns if outcome is not None else None if said is None else said.num_turns
    step = None if said is None else said.last_step
    return {
        "unit": report.name,
        "status": report.status.word,
        "kind": failed.kind if failed is not None else None if outcome is None else outcome.kind,
        "reason": failed.reason if failed is not None else None if outcome is None else outcome.reason,
        "idle_s": round(report.idle_s, 1),
        "state_dir": report.state_dir,
        "result_path": report.snapshot.result_path if outcome is None else outcome.result_path,
        "last_step": None
        if step is None
        else {
            "index": step.index,
            "type": step.step_type,
            "state": step.state,
            "tool": step.tool_name,
            "tool_open": step.tool_open,
        },
        "turns": turns,
        "tokens": None if usage is None else usage.get("total_tokens"),
        "problems": list(report.snapshot.problems),
    }
