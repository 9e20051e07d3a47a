"""The demo tells what became of its units, and every way in which one can differ from what was promised."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fake_agy.expectations import load as load_expectations

if TYPE_CHECKING:
    from types import ModuleType


ROOT = Path(__file__).resolve().parents[2]


def load_demo() -> ModuleType:
    spec = spec_from_file_location("demo", ROOT / "scripts" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["demo"] = module
    spec.loader.exec_module(module)
    return module


demo = load_demo()
BASE = Path("base")
ANSWERS = demo.REHEARSAL[0]


def outcome(**changed: Any) -> dict[str, Any]:
    return {
        "verdict": "completed",
        "kind": "ok",
        "result_author": "response",
        "exit_code": 0,
        "reason": "why",
        "model": "gemini-3.8-flash-high",
        "duration_s": 1.26,
        "usage": {"total_tokens": 4321},
        "result_path": str(BASE / "results" / "answers.md"),
        **changed,
    }


def ended(exit_code: int | None = 0, **changed: Any) -> Any:
    return demo.Ended(ANSWERS, exit_code, "last words", BASE / "state" / "prun-task-1", outcome(**changed))


def test_a_unit_that_ended_as_promised_draws_no_complaint() -> None:
    assert demo.complaint(ended()) is None


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (ended(verdict="failed"), "verdict is 'failed', not 'completed'"),
        (ended(kind="short"), "kind is 'short', not 'ok'"),
        (ended(result_author="fallback"), "result_author is 'fallback', not 'response'"),
        (ended(exit_code=None), "exit status is None, not 0"),
        (ended(70), "exit status is 70, not 0"),
        (replace(ended(70), outcome=None), "no outcome, exit status 70: last words"),
    ],
    ids=["verdict", "kind", "author", "dispatcher stuck", "exit status", "no outcome"],
)
def test_a_unit_that_ended_otherwise_is_named_with_the_difference(unit: Any, said: str) -> None:
    complaint = demo.complaint(unit)
    assert complaint is not None
    assert complaint.startswith("answers: ")
    assert said in complaint


def test_a_completed_unit_points_at_its_result_and_a_failed_one_at_its_records() -> None:
    assert demo.row(BASE, ended())[-1] == str(Path("results", "answers.md"))
    assert demo.row(BASE, ended(verdict="failed"))[-1] == str(Path("state", "prun-task-1"))
    assert demo.row(BASE, demo.Ended(ANSWERS, 2, ""))[-1] == "?"


def test_a_row_tells_time_and_tokens_where_there_are_any() -> None:
    assert demo.row(BASE, ended())[-3:-1] == ("1.3 s", "4321")
    assert demo.row(BASE, ended(usage=None))[-2] == "-"


def test_the_columns_of_the_table_line_up() -> None:
    lines = demo.table([demo.row(BASE, ended()), demo.row(BASE, ended(70, verdict="failed"))]).splitlines()
    starts = {line.index(cell) for line, cell in zip(lines, ("verdict", "completed", "failed"), strict=True)}
    assert len(lines) == 3
    assert len(starts) == 1


def test_every_rehearsed_unit_has_a_name_and_a_scenario_of_its_own() -> None:
    assert len({case.unit for case in demo.REHEARSAL}) == len(demo.REHEARSAL) == 6
    assert len({case.scenario for case in demo.REHEARSAL}) == 6


@pytest.mark.parametrize("case", demo.REHEARSAL, ids=lambda case: str(case.unit))
def test_a_rehearsed_unit_is_promised_what_the_stand_in_says_of_its_scenario(case: Any) -> None:
    said = load_expectations()[case.scenario]
    assert (case.kind, case.author, case.exit_code) == (said.kind, said.author, said.exit_code)


def test_nothing_that_the_caller_set_for_real_dispatches_reaches_a_rehearsed_one() -> None:
    mine = {"PATH": "/bin", "ANTIGRAVITY_DISPATCH_MODEL": "x", "PRUN_UNIT": "1"}
    env = demo.environment(mine, BASE, ANSWERS, Path("agy"))
    assert env["PATH"] == "/bin"
    assert env["ANTIGRAVITY_BIN"] == "agy"
    assert not {"ANTIGRAVITY_DISPATCH_MODEL", "PRUN_UNIT"} & set(env)


def test_without_agy_the_real_demo_says_what_to_install_and_exits_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("ANTIGRAVITY_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert demo.main(["--real"]) == 70
    assert "Antigravity CLI" in capsys.readouterr().err


def test_an_unknown_argument_prints_the_usage_and_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--fast"]) == 2
    assert "usage" in capsys.readouterr().err
