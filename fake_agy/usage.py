"""The answer of ``/usage``: the meter in the shape that each output format gives it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fake_agy.emit import ZERO_USAGE
from fake_agy.meter import at, read_levels

if TYPE_CHECKING:
    from fake_agy.account import Account, Bucket
    from fake_agy.home import Home
    from fake_agy.meter import Level

_GROUPS = (
    ("gemini", "Gemini Models", "Models within this group: Gemini Flash, Gemini Pro"),
    ("3p", "Claude and GPT models", "Models within this group: Claude Opus, Claude Sonnet, GPT-OSS"),
)
_NAMES = {"weekly": "Weekly Limit Remaining", "5h": "Five Hour Limit Remaining"}
COMMANDS = ("/usage", "/quota", "/credits")


def usage_data(account: Account, home: Home | None, now_s: float) -> dict[str, Any]:
    """Return the groups and their buckets as they stand now; the ceiling is not among them."""
    levels = read_levels(home)
    groups = [
        {
            "name": name,
            "description": description,
            "buckets": [_row(bucket, levels, now_s) for bucket in account.buckets if bucket.group == group],
        }
        for group, name, description in _GROUPS
    ]
    return {"description": f"Usage of your {account.plan} plan.", "groups": groups}


def usage_text(data: dict[str, Any]) -> str:
    """Return the rows as text: group, bucket, percent and reset time, tab-separated."""
    lines = []
    for group in data["groups"]:
        for bucket in group["buckets"]:
            percent = f"{bucket.get('remaining_fraction', 0) * 100:.0f}%"
            cells = [group["name"], bucket["name"], percent, bucket.get("reset_time", "")]
            lines.append("\t".join(cell for cell in cells if cell))
    return "\n".join(lines) + "\n"


def usage_result(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the result payload: no conversation, no turn, nothing spent, the data under ``command``."""
    return {
        "conversation_id": "",
        "status": "SUCCESS",
        "response": usage_text(data),
        "duration_seconds": 0,
        "num_turns": 0,
        "usage": dict(ZERO_USAGE),
        "command": {"name": name, "data": data},
    }


def _row(bucket: Bucket, levels: dict[str, Level], now_s: float) -> dict[str, Any]:
    stored = levels.get(bucket.id)
    level = None if stored is None else at(bucket, stored, now_s)
    row: dict[str, Any] = {"id": bucket.id, "name": _NAMES[bucket.window], "window": bucket.window}
    used = 0 if level is None else level.used
    left = max(bucket.capacity - used, 0) / bucket.capacity if bucket.capacity else 0
    if left:  # an empty bucket's zero is left out, as Go's omitempty does
        row["remaining_fraction"] = 1 if left == 1 else round(left, 6)
    if level is not None and level.since_s is not None:
        row["reset_time"] = datetime.fromtimestamp(level.since_s + bucket.window_s, UTC).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )
    return row
