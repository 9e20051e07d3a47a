"""No module grows past 400 lines and no function past 40."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path for folder in ("prun", "fake_agy", "scripts") for path in (ROOT / folder).rglob("*.py"))
MODULE_LINES = 400
FUNCTION_LINES = 40


def too_long(source: str) -> list[str]:
    """Return what in *source* is longer than the house allows, each with its length."""
    found = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= FUNCTION_LINES
    ]
    lines = source.count("\n")
    return [f"module: {lines} lines", *found] if lines > MODULE_LINES else found


def function_of(lines: int) -> str:
    return "def f():\n" + "    pass\n" * (lines - 1)


def test_the_checkout_has_modules_to_measure() -> None:
    assert any(path.parent.name == "core" for path in MODULES)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_module_and_no_function_is_too_long(path: Path) -> None:
    assert too_long(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 1\n" * 400, []),
        ("x = 1\n" * 401, ["module: 401 lines"]),
        (function_of(40), []),
        (function_of(41), ["f: 41 lines"]),
        ("async " + function_of(41), ["f: 41 lines"]),
        ("class C:\n" + "".join(f"    {line}\n" for line in function_of(41).splitlines()), ["f: 41 lines"]),
    ],
    ids=["module at the limit", "module over it", "function at the limit", "over it", "coroutine", "method"],
)
def test_what_is_too_long_is_found(source: str, found: list[str]) -> None:
    assert too_long(source) == found
