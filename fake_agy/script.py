"""What a turn does: scenarios by name, and the rules that choose one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fake_agy.home import SetupError
from fake_agy.steps import Step, read_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fake_agy.home import Home

_T = TypeVar("_T")
DEFAULT_SCENARIO = "ok"
RESULT_PATH = (
    r"(?im)^[ \t>*-]*(?:the )?result (?:path|file)"
    r"(?:[ \t]*:[ \t]*(\S.*?)[ \t]*$| is (\S.*?)\.(?:[ \t]|$))"
)
STANDS_ON = ("captured", "documented", "reported", "designed")
SHIPPED = Path(__file__).parent / "scenarios"
_SCENARIO_KEYS = ("about", "stands_on", "before", "steps")


class Scenario(NamedTuple):
    """Named steps: *before* run before ``init`` is printed, *steps* are the turn."""

    name: str
    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()
    about: str = ""
    stands_on: str = "designed"


class Rule(NamedTuple):
    """One choice: conditions that must all hold, and a scenario; *limit* is how often it may be used."""

    scenario: str
    contains: str | None = None
    matches: str | None = None
    nth: int | None = None
    limit: int | None = None

    def fits(self, prompt: str, nth: int) -> bool:
        """Return whether the rule speaks of *prompt*, seen for the *nth* time (1 is the first)."""
        return (
            (self.contains is None or self.contains in prompt)
            and (self.matches is None or re.search(self.matches, prompt) is not None)
            and (self.nth is None or self.nth == nth)
        )

    @property
    def blind(self) -> bool:
        """Whether the rule can be judged before the prompt is known."""
        return self.contains is None and self.matches is None and self.nth is None


class Script(NamedTuple):
    """Rules in order, inline scenarios as tables, and how a result path is found in a prompt."""

    rules: tuple[Rule, ...] = ()
    inline: dict[str, Any] = {}  # noqa: RUF012 - never changed
    result_path: str = RESULT_PATH


def choose(rules: tuple[Rule, ...], prompt: str | None, nth: int, used: dict[int, int]) -> int | None:
    """Return the index of the first rule that fits and is not used up, ``None`` where none does.

    With *prompt* ``None`` (not read yet) a rule that needs it ends the search: nothing can be said.
    """
    for index, rule in enumerate(rules):
        if rule.limit is not None and used.get(index, 0) >= rule.limit:
            continue
        if prompt is None and not rule.blind:
            return None
        if prompt is None or rule.fits(prompt, nth):
            return index
    return None


def read_script(home: Home | None) -> Script:
    """Return the script of *home*; SetupError names the file and what is wrong with it."""
    if home is None:
        return Script()
    for path in (home.script, home.script_json):
        if path.exists():
            return _checked(path, script_from)
    return Script()


def script_from(table: dict[str, Any]) -> Script:
    """Return the script that *table* describes; ValueError says what is wrong with it."""
    known = ("rule", "scenario", "default", "result_path")
    _only(table, known, "a script")
    rules = tuple(_rule(index, entry) for index, entry in enumerate(table.get("rule", []), start=1))
    if "default" in table:
        rules = (*rules, Rule(str(table["default"])))
    pattern = str(table.get("result_path", RESULT_PATH))
    if not re.compile(pattern).groups:
        raise ValueError("result_path must have a group: the path")
    inline = table.get("scenario", {})
    for name, body in inline.items():
        scenario_from(name, body)
    return Script(rules, inline, pattern)


def find_scenario(name: str, home: Home | None, script: Script) -> Scenario:
    """Return the scenario *name*: the script's own, else a file of the home, else the shipped one."""
    if name in script.inline:
        return scenario_from(name, script.inline[name])
    folders = [SHIPPED] if home is None else [home.scenarios, SHIPPED]
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        for folder in folders:
            for path in (folder / f"{name}.toml", folder / f"{name}.json"):
                if path.exists():
                    return _checked(path, lambda table: scenario_from(name, table))
    raise SetupError(f"no scenario {name!r}; 'fake-agy scenarios' lists the shipped ones")


def shipped_scenarios() -> list[str]:
    """Return the names of the shipped scenarios, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def scenario_from(name: str, table: Any) -> Scenario:
    """Return the scenario that *table* describes; ValueError says what is wrong with it."""
    if not isinstance(table, dict):
        raise ValueError(f"scenario {name!r} must be a table")
    _only(table, _SCENARIO_KEYS, f"scenario {name!r}")
    stands_on = table.get("stands_on", "designed")
    if stands_on not in STANDS_ON:
        raise ValueError(f"scenario {name!r}: stands_on must be one of {', '.join(STANDS_ON)}")
    return Scenario(
        name,
        tuple(_steps(name, "steps", table)),
        tuple(_steps(name, "before", table)),
        str(table.get("about", "")),
        stands_on,
    )


def _steps(name: str, part: str, table: dict[str, Any]) -> Iterable[Step]:
    entries = table.get(part, [])
    if not isinstance(entries, list):
        raise ValueError(f"scenario {name!r}: {part} must be a list of steps")
    for number, entry in enumerate(entries, start=1):
        try:
            yield read_step(entry)
        except ValueError as error:
            raise ValueError(f"scenario {name!r}, {part} {number}: {error}") from None


def _rule(number: int, entry: Any) -> Rule:
    if not isinstance(entry, dict) or not isinstance(entry.get("scenario"), str):
        raise ValueError(f"rule {number} must be a table with a scenario")
    _only(entry, (*Rule._fields, "any"), f"rule {number}")
    for key, kind in (("contains", str), ("matches", str), ("nth", int), ("limit", int)):
        if key in entry and type(entry[key]) is not kind:
            raise ValueError(f"rule {number}: {key!r} must be a {kind.__name__}")
    if "matches" in entry:
        re.compile(entry["matches"])
    return Rule(**{key: value for key, value in entry.items() if key != "any"})


def _only(table: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"{what} has no {key!r}; it takes {', '.join(known)}")


def _checked(path: Path, read: Callable[[Any], _T]) -> _T:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            import json

            return read(json.loads(text))
        import tomllib

        return read(tomllib.loads(text))
    except (OSError, ValueError, re.error) as error:
        raise SetupError(f"{path}: {error}") from None
