"""The import table of the design holds, and the contracts that say so catch each breach of it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "asyncio",
    "filelock",
    "platformdirs",
    "psutil",
    "rich",
    "subprocess",
    "tempfile",
    "typing_extensions",
}
DOORS = sorted(
    path.stem for path in (ROOT / "prun").glob("*.py") if path.stem not in {"__init__", "__main__", "cli"}
)

# module, what it must never import, the contract that has to say so
BREACHES = [
    ("prun.core.ending", "prun.system", "layers"),
    ("prun.core.ending", "prun.flow", "layers"),
    ("prun.core.ending", "prun.dispatch", "layers"),
    ("prun.system.terminal", "prun.flow", "layers"),
    ("prun.system.terminal", "prun.cli", "layers"),
    ("prun.flow", "prun.dispatch", "layers"),
    ("prun.dispatch", "prun.cli", "layers"),
    ("prun.cli", "prun.__main__", "layers"),
    ("prun.cli", "prun.core", "cli picks a door and nothing else"),
    ("prun.cli", "prun.system", "cli picks a door and nothing else"),
    ("prun.cli", "prun.flow", "cli picks a door and nothing else"),
    *(
        ("prun.core.outcome", name, "the core has no effects")
        for name in ("os", "sys", "time", "subprocess", "threading", "pathlib", "random", "logging")
    ),
    ("prun.core.identity", "psutil", "the core has no effects"),
    ("prun.flow", "subprocess", "only the system touches the machine"),
    ("prun.dispatch", "psutil", "only the system touches the machine"),
    ("prun.system.terminal", "time", "only the clock tells the time"),
    ("prun.flow", "time", "only the clock tells the time"),
    ("fake_agy.__main__", "prun.core.outcome", "the fake knows nothing of prun"),
    ("prun.system.terminal", "fake_agy", "prun knows nothing of its fake"),
]

linted = pytest.mark.skipif(find_spec("importlinter") is None, reason="lint-imports is not installed here")


def copy_of_the_tree(place: Path) -> Path:
    for name in ("prun", "fake_agy"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    return place


def lint_imports(place: Path) -> tuple[int, str]:
    command = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", command],
        cwd=place,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def file_of(place: Path, module: str) -> Path:
    path = place.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def sections(report: str) -> dict[str, str]:
    """Return the part of *report* that tells of each broken contract, by the contract's name."""
    _, _, told = report.partition("Broken contracts")
    found: dict[str, str] = {}
    lines = told.splitlines()
    name = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line and following == "-" * len(line):
            name = line
        found[name] = found.get(name, "") + line + "\n"
    return found


@pytest.fixture(scope="module")
def report_on_all_breaches(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, str]]:
    place = copy_of_the_tree(tmp_path_factory.mktemp("broken"))
    for module, imported, _ in BREACHES:
        with file_of(place, module).open("a", encoding="utf-8") as source:
            source.write(f"import {imported}\n")
    code, report = lint_imports(place)
    return code, sections(report)


@linted
def test_the_tree_keeps_every_contract(tmp_path: Path) -> None:
    code, report = lint_imports(copy_of_the_tree(tmp_path))
    assert code == 0, report


@linted
@pytest.mark.parametrize(("module", "imported", "contract"), BREACHES, ids=str)
def test_a_forbidden_import_breaks_the_contract(
    report_on_all_breaches: tuple[int, dict[str, str]], module: str, imported: str, contract: str
) -> None:
    code, broken = report_on_all_breaches
    assert code == 1
    assert f"{module} -> {imported} " in broken.get(contract, "")


def broken_by(place: Path) -> dict[str, str]:
    code, report = lint_imports(place)
    assert code == 1, report
    return sections(report)


@linted
def test_doors_never_import_each_other(tmp_path: Path) -> None:
    place = copy_of_the_tree(tmp_path)
    project = place / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    changed = re.sub(r'("cli", "[^"]*)"', r'\1 | stranger"', text, count=1)
    project.write_text(changed, encoding="utf-8")
    (place / "prun" / "stranger.py").write_text("import prun.dispatch\n", encoding="utf-8")
    assert "prun.stranger -> prun.dispatch " in broken_by(place)["layers"]


@linted
def test_a_module_without_a_place_in_the_layers_is_caught(tmp_path: Path) -> None:
    place = copy_of_the_tree(tmp_path)
    (place / "prun" / "stranger.py").write_text("", encoding="utf-8")
    assert "stranger" in broken_by(place)["layers"]


@linted
def test_a_cycle_is_caught(tmp_path: Path) -> None:
    place = copy_of_the_tree(tmp_path)
    for name, other in (("chicken", "egg"), ("egg", "chicken")):
        source = place / "prun" / "core" / f"{name}.py"
        source.write_text(f"import prun.core.{other}\n", encoding="utf-8")
    assert "chicken" in broken_by(place)["no cycles"]


def imports_of(nodes: list[ast.stmt]) -> list[str]:
    """Return the modules that the statements *nodes* import, those inside functions not counted."""
    found = []
    for node in nodes:
        match node:
            case ast.Import():
                found += [alias.name for alias in node.names]
            case ast.ImportFrom():
                found.append(str(node.module))
            case ast.If() | ast.Try() | ast.With():
                found += imports_of([child for child in ast.walk(node) if isinstance(child, ast.stmt)][1:])
            case _:
                pass
    return [name for name in found if name != "__future__"]


def parsed(module: str) -> list[ast.stmt]:
    return ast.parse((ROOT / "prun" / f"{module}.py").read_text(encoding="utf-8")).body


CORE = sorted((ROOT / "prun" / "core").glob("*.py"))


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.stem))
def test_the_core_calls_nothing_built_in_that_has_effects(path: Path) -> None:
    calls = (node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
    names = {func.id if isinstance(func, ast.Name) else getattr(func, "attr", "") for func in calls}
    assert names & {"open", "print", "input", "breakpoint", "__import__", "now", "utcnow", "today"} == set()


def test_the_package_itself_imports_nothing() -> None:
    assert imports_of(parsed("__init__")) == []


def test_cli_loads_no_door_before_one_is_asked_for() -> None:
    assert [name for name in imports_of(parsed("cli")) if name.startswith("prun")] == []


@pytest.mark.parametrize("door", DOORS)
def test_a_door_defines_no_class_and_has_a_main(door: str) -> None:
    statements = parsed(door)
    assert [node.name for node in statements if isinstance(node, ast.ClassDef)] == []
    assert "main" in [node.name for node in statements if isinstance(node, ast.FunctionDef)]


def test_imports_inside_functions_are_not_counted_and_others_are() -> None:
    source = "import a\nif x:\n    from b import c\ndef f():\n    import d\n"
    assert imports_of(ast.parse(source).body) == ["a", "b"]


@pytest.mark.parametrize("door", DOORS)
def test_loading_a_door_loads_nothing_heavy(door: str) -> None:
    command = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import prun.{door}; print(*sys.modules)"
    done = subprocess.run(
        # -S: what an installed .pth file loads is not the door's doing.
        [sys.executable, "-I", "-S", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.decode().split()) == set()
