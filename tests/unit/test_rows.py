"""Every row of the unit's contract names tests that exist, as the code itself tells the rows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from prun.core.arguments import read_arguments
from prun.core.command_line import Help
from prun.core.exit_codes import ExitCode
from prun.core.outcome import Kind
from prun.core.rules import RULES
from prun.system.state_dir import StateDir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Rows: TypeAlias = dict[str, dict[str, list[str]]]

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "tests" / "e2e" / "rows.toml"
E2E = "tests/e2e/"
VARIABLE = re.compile(r"(?:ANTIGRAVITY|PRUN)_[A-Z_]+")
NUMBERED_RULES = {str(number) for number in range(8)}
PUBLISHING = 9
# Nothing reads a meter yet that could find a group empty.
WITHOUT_A_PROCESS = {("exit", "75")}


def options() -> set[str]:
    """Return the long options that the help lists."""
    asked = read_arguments(["--help"])
    assert isinstance(asked, Help)
    return set(re.findall(r"--[a-z-]+", asked.text.partition("\noptions:")[2]))


def variables() -> set[str]:
    """Return the variables that any module names, settings before all."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "prun").rglob("*.py")]
    texts = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {text for text in texts if isinstance(text, str) and VARIABLE.fullmatch(text)}


def files() -> set[str]:
    """Return the names of the files of a state directory."""
    state = StateDir(Path("state"))
    named = {name: member for name, member in vars(StateDir).items() if isinstance(member, property)}
    paths = [getattr(state, name) for name in named] + [state.owner(1), state.foreign_outcome(1)]
    return {path.relative_to(state.root).as_posix() for path in paths}


EXPECTED: dict[str, Callable[[], set[str]]] = {
    "option": options,
    "variable": variables,
    "exit": lambda: {str(int(code)) for code in ExitCode} | {"worker"},
    "file": files,
    "kind": lambda: {kind.value for kind in Kind},
    "rule": lambda: NUMBERED_RULES,
    "check": lambda: {rule.__name__ for rule in RULES},
}


def rows() -> Rows:
    found: Rows = tomllib.loads(ROWS.read_text(encoding="utf-8"))
    return found


def where(test: str) -> str:
    """Return *test* as pytest names it."""
    return test if test.startswith("tests/") else E2E + test


@cache
def functions(path: Path) -> frozenset[str]:
    """Return the test functions that the file *path* defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@cache
def collected() -> frozenset[str]:
    """Return every test of the end-to-end files that pytest collects, cases with their ids."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", E2E],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=True,
    )
    return frozenset(line.strip() for line in done.stdout.decode("utf-8").splitlines() if "::" in line)


def missing_rows(given: Rows) -> Iterator[str]:
    """Yield the rows that the code has and *given* lacks, and those that it has in excess."""
    for table, expected in EXPECTED.items():
        for row in sorted(expected() ^ set(given.get(table, {}))):
            yield f"{table} {row}"
    if len(given.get("publishing", {})) != PUBLISHING:
        yield "publishing"


def empty_rows(given: Rows) -> Iterator[str]:
    """Yield the rows that no test shows on a real process."""
    for table, entries in given.items():
        for row, tests in entries.items():
            real = [test for test in tests if where(test).startswith(E2E)]
            if not (real or (tests and (table, row) in WITHOUT_A_PROCESS)):
                yield f"{table} {row}"


def unknown_tests(given: Rows) -> Iterator[str]:
    """Yield the tests that *given* names and nobody has written."""
    for test in sorted({test for entries in given.values() for tests in entries.values() for test in tests}):
        path, _, name = where(test).partition("::")
        function, case, _ = name.partition("[")
        file = ROOT / path
        written = file.is_file() and function in functions(file)
        if not written or (case and where(test) not in collected()):
            yield test


CHECKS = (missing_rows, empty_rows, unknown_tests)


@pytest.mark.parametrize("check", CHECKS)
def test_the_rows_are_complete(check: Callable[[Rows], Iterator[str]]) -> None:
    assert list(check(rows())) == []


def with_change(table: str, row: str, tests: list[str] | None) -> Rows:
    given = rows()
    if tests is None:
        del given[table][row]
    else:
        given[table][row] = tests
    return given


ONE = "test_verdicts.py::test_a_run_comes_to_its_verdict"


@pytest.mark.parametrize(
    ("check", "given", "found"),
    [
        (missing_rows, with_change("kind", "denied", None), "kind denied"),
        (missing_rows, with_change("file", "tail", None), "file tail"),
        (missing_rows, with_change("variable", "PRUN_OTHER", [ONE]), "variable PRUN_OTHER"),
        (missing_rows, with_change("option", "--mode", None), "option --mode"),
        (missing_rows, with_change("exit", "124", None), "exit 124"),
        (missing_rows, with_change("rule", "7", None), "rule 7"),
        (missing_rows, with_change("check", "silent", None), "check silent"),
        (missing_rows, with_change("publishing", "the fallback", None), "publishing"),
        (empty_rows, with_change("kind", "denied", []), "kind denied"),
        (empty_rows, with_change("kind", "denied", ["tests/unit/test_rows.py::test_x"]), "kind denied"),
        (empty_rows, with_change("exit", "75", []), "exit 75"),
        (
            unknown_tests,
            with_change("kind", "denied", ["test_verdicts.py::test_x"]),
            "test_verdicts.py::test_x",
        ),
        (unknown_tests, with_change("kind", "denied", ["test_x.py::test_x"]), "test_x.py::test_x"),
        (unknown_tests, with_change("kind", "denied", [f"{ONE}[no such case]"]), f"{ONE}[no such case]"),
    ],
    ids=range(14),
)
def test_a_hole_in_the_rows_is_found(check: Callable[[Rows], Iterator[str]], given: Rows, found: str) -> None:
    assert list(check(given)) == [found]
