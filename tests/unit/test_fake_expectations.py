"""The table of expectations: complete, and about scenarios that are there."""

from __future__ import annotations

import pytest

from fake_agy.expectations import Expectation, load
from fake_agy.profiles import PROFILES
from fake_agy.script import shipped_scenarios


@pytest.mark.parametrize("profile", PROFILES)
def test_every_shipped_scenario_has_a_row_and_every_row_a_scenario(profile: str) -> None:
    assert sorted(load(profile)) == shipped_scenarios()


@pytest.mark.parametrize("row", [row for profile in PROFILES for row in load(profile).values()], ids=repr)
def test_a_row_agrees_with_itself(row: Expectation) -> None:
    assert row.verdict == ("completed" if row.kind == "ok" else "failed")
    assert (row.exit_code == 0) == (row.kind == "ok")
    assert (row.exit_code == 124) == (row.kind == "timeout")
    assert row.author in {"response", "worker", "fallback"}
    assert row.tree in {"gone", "leftovers"}
    assert not row.response_kept or row.kept


def test_a_version_or_a_system_can_change_a_row() -> None:
    assert [load(profile)["quota"].exit_code for profile in ("1.3.5", "1.2.2")] == [3, 70]
    assert [load(platform=name)["killed_by_signal"].exit_code for name in ("linux", "win32")] == [137, 9]
