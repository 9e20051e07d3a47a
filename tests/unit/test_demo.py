"""The demo tells what became of its units, and every way in which one can differ from what was promised."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fake_agy.expectations import load as load_expectations
from prun import demo
from prun.core.demonstration import REHEARSAL, Case, Ended, complaint, rehearsal_env, row, table
from tests.support.units import OUTCOME

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS = REHEARSAL[0]


def ended(exit_code: int | None = 0, **changed: Any) -> Ended:
    outcome = replace(OUTCOME, unit="answers", duration_s=1.26, **changed)
    return Ended(ANSWERS, exit_code, "last words", outcome, "results/answers.md")


def test_a_unit_that_ended_as_promised_draws_no_complaint() -> None:
    assert complaint(ended()) is None


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
def test_a_unit_that_ended_otherwise_is_named_with_the_difference(unit: Ended, said: str) -> None:
    told = complaint(unit)
    assert told is not None
    assert told.startswith("answers: ")
    assert said in told


def test_a_row_tells_time_and_tokens_where_there_are_any() -> None:
    assert row(ended())[-3:] == ("1.3 s", "1234", "results/answers.md")
    assert row(ended(usage=None))[-2] == "-"
    assert row(Ended(ANSWERS, 2, ""))[2:] == ("?", "?", "2", "?", "?", "-", "?")


def test_the_columns_of_the_table_line_up() -> None:
    lines = table([row(ended()), row(ended(70, verdict="failed"))]).splitlines()
    starts = {line.index(cell) for line, cell in zip(lines, ("verdict", "completed", "failed"), strict=True)}
    assert len(lines) == 3
    assert len(starts) == 1


def test_every_rehearsed_unit_has_a_name_and_a_scenario_of_its_own() -> None:
    assert len({case.unit for case in REHEARSAL}) == len(REHEARSAL) == 6
    assert len({case.scenario for case in REHEARSAL}) == 6


@pytest.mark.parametrize("case", REHEARSAL, ids=lambda case: str(case.unit))
def test_a_rehearsed_unit_is_promised_what_the_stand_in_says_of_its_scenario(case: Case) -> None:
    said = load_expectations()[case.scenario]
    assert (case.kind, case.author, case.exit_code) == (said.kind, said.author, said.exit_code)


def test_nothing_that_the_caller_set_for_real_dispatches_reaches_a_rehearsed_one() -> None:
    mine = {"PATH": "/bin", "ANTIGRAVITY_DISPATCH_MODEL": "x", "PRUN_UNIT": "1"}
    env = rehearsal_env(mine, "base", ANSWERS, "agy")
    assert env["PATH"] == "/bin"
    assert env["ANTIGRAVITY_BIN"] == "agy"
    assert not {"ANTIGRAVITY_DISPATCH_MODEL", "PRUN_UNIT"} & set(env)


def test_without_agy_the_real_demo_says_what_to_install_and_exits_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("ANTIGRAVITY_BIN", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert demo.main(["--real"]) == 70
    assert "prun demo: agy is not on PATH; install agy" in capsys.readouterr().err


def test_an_unknown_argument_prints_the_usage_and_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--fast"]) == 2
    assert "usage" in capsys.readouterr().err
    assert demo.main(["--help"]) == 0
    assert "usage: prun demo" in capsys.readouterr().out
