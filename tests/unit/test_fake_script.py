"""The fake's scripts: scenarios, rules, the choice between them, and what is said of a wrong one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fake_agy import counts, steps
from fake_agy.act import ACTS
from fake_agy.home import Home, SetupError
from fake_agy.script import (
    RESULT_PATH,
    Rule,
    Script,
    choose,
    find_scenario,
    read_script,
    scenario_from,
    script_from,
    shipped_scenarios,
)

if TYPE_CHECKING:
    from pathlib import Path

RULES = (Rule("a", contains="apple", limit=1), Rule("b", matches=r"\bbe+\b", nth=2), Rule("c"))


@pytest.mark.parametrize(
    ("prompt", "nth", "used", "index"),
    [
        ("an apple", 1, {}, 0),
        ("an apple", 1, {0: 1}, 2),
        ("a bee", 1, {}, 2),
        ("a bee", 2, {}, 1),
        ("a beetle", 2, {}, 2),
        (None, 1, {}, None),
    ],
)
def test_the_first_rule_that_fits_and_is_not_used_up_is_chosen(
    prompt: str | None, nth: int, used: dict[int, int], index: int | None
) -> None:
    assert choose(RULES, prompt, nth, used) == index


def test_a_rule_that_needs_no_prompt_is_chosen_before_one_is_known() -> None:
    assert choose((Rule("c"), Rule("a", contains="x")), None, 1, {}) == 0
    assert choose((Rule("a", contains="x", limit=1), Rule("c")), None, 1, {0: 1}) == 1
    assert choose((), "x", 1, {}) is None


def test_choices_are_counted_across_calls(tmp_path: Path) -> None:
    home = Home(tmp_path)
    seen = [counts.choose(home, RULES, prompt) for prompt in ("apple", "apple", "bee", "bee", "bee")]
    assert seen == [(0, 1), (2, 2), (2, 1), (1, 2), (2, 3)]


def test_a_ticket_is_counted_by_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert [counts.tick(home, name) for name in ("a", "a", "b")] == [1, 2, 1]
    assert counts.tick(None, "a") == 1


@pytest.mark.parametrize("name", shipped_scenarios())
def test_a_shipped_scenario_reads_and_says_what_it_stands_on(name: str) -> None:
    scenario = find_scenario(name, None, Script())
    assert scenario.about.endswith(".")
    assert scenario.steps or scenario.before


def test_every_step_of_the_union_can_be_written_and_performed() -> None:
    assert set(ACTS) == set(steps.STEPS.values())
    for name, kind in steps.STEPS.items():
        assert steps.read_step({"do": name}) == kind()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("say", 'a step is a table with do = "…"'),
        ({"text": "x"}, 'a step is a table with do = "…"'),
        ({"do": "sing"}, "unknown step 'sing'; known are say, tool"),
        ({"do": "say", "txt": "x"}, "step 'say' has no 'txt'; it takes text, pieces"),
        ({"do": "say", "text": 1}, "step 'say': 'text' must be a str"),
        ({"do": "say", "pieces": True}, "step 'say': 'pieces' must be a int"),
        ({"do": "run", "command": "ls"}, "step 'run': 'command' must be a list of strings"),
        ({"do": "ignore_signals", "x": 1}, "step 'ignore_signals' has no 'x'; it takes nothing"),
    ],
)
def test_a_wrong_step_is_named_with_what_is_wrong(table: object, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        steps.read_step(table)


def test_numbers_and_lists_become_the_types_of_a_step() -> None:
    assert steps.read_step({"do": "sleep", "seconds": 2}) == steps.Sleep(2.0)
    assert steps.read_step({"do": "run", "command": ["a", "b"]}) == steps.Run(("a", "b"))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"rules": []}, "a script has no 'rules'"),
        ({"rule": [{"contains": "x"}]}, "rule 1 must be a table with a scenario"),
        ({"rule": [{"scenario": "ok", "prompt": "x"}]}, "rule 1 has no 'prompt'"),
        ({"rule": [{"scenario": "ok", "limit": "1"}]}, "rule 1: 'limit' must be a int"),
        ({"result_path": "no group"}, "result_path must have a group"),
        ({"scenario": {"mine": {"step": []}}}, "scenario 'mine' has no 'step'"),
        ({"scenario": {"mine": {"steps": {}}}}, "scenario 'mine': steps must be a list"),
        ({"scenario": {"mine": {"steps": [{"do": "x"}]}}}, "scenario 'mine', steps 1: unknown step 'x'"),
        ({"scenario": {"mine": {"stands_on": "hope"}}}, "stands_on must be one of captured"),
        ({"scenario": {"mine": 1}}, "scenario 'mine' must be a table"),
    ],
)
def test_a_wrong_script_is_named_with_what_is_wrong(table: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        script_from(table)


def test_a_script_is_read_from_toml_or_json(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert read_script(None) == read_script(home) == Script()
    home.script_json.write_text('{"default": "quota"}', encoding="utf-8")
    assert read_script(home).rules == (Rule("quota"),)
    home.script.write_text('[[rule]]\nany = true\nscenario = "short"\n', encoding="utf-8")
    assert read_script(home).rules == (Rule("short"),)
    home.script.write_text("default = [", encoding="utf-8")
    with pytest.raises(SetupError, match=r"script\.toml: "):
        read_script(home)


def test_a_scenario_is_looked_for_inline_then_at_home_then_among_the_shipped(tmp_path: Path) -> None:
    home = Home(tmp_path)
    body = {"steps": [{"do": "say", "text": "inline"}]}
    assert find_scenario("ok", home, Script()).stands_on == "captured"
    home.scenarios.mkdir()
    (home.scenarios / "ok.json").write_text('{"steps": [{"do": "exit"}]}', encoding="utf-8")
    assert find_scenario("ok", home, Script()).steps == (steps.Exit(),)
    assert find_scenario("ok", home, Script(inline={"ok": body})) == scenario_from("ok", body)
    for name in ("nowhere", "../ok", ""):
        with pytest.raises(SetupError, match="no scenario"):
            find_scenario(name, home, Script())


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("Result path: /a b/r.md", "/a b/r.md"),
        ("  - result file:  C:\\x\\r.md  ", "C:\\x\\r.md"),
        ("The result file is /w/u.x/r.md. You need not write it.", "/w/u.x/r.md"),
        ("The result path is /r.md.", "/r.md"),
        ("Some result file that is not named", None),
    ],
)
def test_a_result_path_is_found_in_the_usual_wordings(line: str, path: str | None) -> None:
    found = re.search(RESULT_PATH, f"Do it.\n{line}\nThen stop.")
    assert (None if found is None else found[1] or found[2]) == path
