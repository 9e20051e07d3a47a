"""The page on fidelity names tests that are there, and every fact has a test or a reason."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "fidelity.md"
PROFILES = "tests/conformance/test_fake_profiles.py"


def rows() -> list[tuple[str, str]]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [(row[0], row[-1]) for row in cells if row[0] != "fact"]


def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_page_has_its_rows() -> None:
    facts = [fact for fact, _ in rows()]
    assert len(facts) > 90
    assert len(facts) == len(set(facts))


@pytest.mark.parametrize(("fact", "held"), rows(), ids=[fact for fact, _ in rows()])
def test_a_fact_is_held_by_a_test_that_is_there_or_left_out_with_a_reason(fact: str, held: str) -> None:
    if held.startswith("left out: "):
        assert len(held) > len("left out: ")
        return
    found = re.fullmatch(r"`([\w/.]+)::(test_\w+)`", held)
    assert found is not None, fact
    path = PROFILES if found[1] == "profiles" else found[1]
    assert found[2] in names_in(path)
