"""Every shipped scenario of the fake, end to end, against the fake's own table of expectations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fake_agy.expectations import Expectation, load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.lab import Lab, Run

PROFILES = ("1.3.5", "1.2.2")
CASES = [
    pytest.param(row, id=f"{row.scenario}-{profile}")
    for profile in PROFILES
    for row in load(profile).values()
]
UNKNOWN_ID = "00000000-0000-4000-8000-00000000beef"


def _options(row: Expectation, tmp_path: Path) -> list[str]:
    options = ["--mode", row.settings.mode]
    if row.settings.continue_from:
        earlier = tmp_path / "earlier"
        earlier.mkdir()
        (earlier / "conversation-id").write_text(UNKNOWN_ID + "\n", encoding="ascii")
        options += ["--continue-from", str(earlier)]
    return options


@pytest.mark.parametrize("row", CASES)
def test_a_shipped_scenario_ends_as_its_table_says(row: Expectation, lab: Lab, tmp_path: Path) -> None:
    lab.fake(row.scenario, row.profile)
    env = {
        "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": str(row.settings.timeout_s),
        "PRUN_REAP_GRACE_SECONDS": str(row.settings.grace_s),
        "ANTIGRAVITY_PREFLIGHT": row.settings.preflight,
    }
    if row.scenario == "bad_model":
        env["ANTIGRAVITY_DISPATCH_MODEL"] = "no-such-model"
    run = lab.dispatch("u1", *_options(row, tmp_path), env=env)
    _check(row, run)
    assert lab.strays() == []


def _check(row: Expectation, run: Run) -> None:
    outcome = run.outcome
    seen = (outcome["verdict"], outcome["kind"], run.code, outcome["result_author"], outcome["tree"])
    assert seen == (row.verdict, row.kind, row.exit_code, row.author, row.tree), outcome
    assert outcome["exit_code"] == run.code
    assert row.result_contains in run.document
    if row.result_lacks:
        assert row.result_lacks not in run.document
    for words in row.warnings:
        assert any(words.lower() in warning.lower() for warning in outcome["warnings"]), outcome["warnings"]
    beside = run.result.with_name("u1.response.md")
    assert beside.exists() == row.response_kept
    if row.kept:
        kept = beside.read_text(encoding="utf-8") if row.response_kept else run.document
        assert row.kept in kept
    if row.ended_early:
        assert outcome["duration_s"] < row.settings.timeout_s
