"""How often each prompt was seen and each rule used, kept in the home across processes."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fake_agy import script
from fake_agy.platforms import locked, replace

if TYPE_CHECKING:
    from fake_agy.home import Home


class Decision(NamedTuple):
    """The rule that was chosen (``None``: no rule fits) for the *nth* call with the prompt."""

    rule: int | None
    nth: int


def choose(home: Home | None, rules: tuple[script.Rule, ...], prompt: str | None) -> Decision | None:
    """Return the rule for *prompt* and count both; ``None`` where the prompt is needed and not known."""
    if home is None:
        return Decision(script.choose(rules, prompt, 1, {}), 1)
    return locked(home.lock, lambda: _choose(home, rules, prompt))


def tick(home: Home | None, name: str) -> int:
    """Return how often *name* has been counted, this time included."""
    return 1 if home is None else locked(home.lock, lambda: _tick(home, name))


def _tick(home: Home, name: str) -> int:
    counts = _read(home)
    counts[name] = counts.get(name, 0) + 1
    replace(home.counts, json.dumps(counts).encode())
    return counts[name]


def _choose(home: Home, rules: tuple[script.Rule, ...], prompt: str | None) -> Decision | None:
    counts = _read(home)
    key = "prompt:" + ("" if prompt is None else hashlib.sha256(prompt.encode(errors="replace")).hexdigest())
    nth = counts.get(key, 0) + 1
    names = {index: f"rule:{index}:{rule!r}" for index, rule in enumerate(rules)}
    used = {index: counts.get(name, 0) for index, name in names.items()}
    index = script.choose(rules, prompt, nth, used)
    if index is None and prompt is None and rules:
        return None
    counts[key] = nth
    if index is not None:
        counts[names[index]] = used[index] + 1
    replace(home.counts, json.dumps(counts).encode())
    return Decision(index, nth)


def _read(home: Home) -> dict[str, int]:
    try:
        body: dict[str, Any] = json.loads(home.counts.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): int(count) for name, count in body.items()}
