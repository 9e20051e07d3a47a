"""What the documents promise exists, and what exists is documented."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from prun import __version__
from prun.core.exit_codes import ExitCode
from prun.core.outcome import Author, Kind, Outcome, TreeState, Verdict
from prun.system.state_dir import StateDir

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
VARIABLE = re.compile(r'"((?:ANTIGRAVITY|PRUN)_[A-Z_]+)"')


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def variables_read() -> list[str]:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "prun").rglob("*.py"))
    return sorted({name for source in sources for name in VARIABLE.findall(source)})


def files_named() -> list[str]:
    state = StateDir(Path("unit"))
    names = [name for name, value in vars(StateDir).items() if isinstance(value, property)]
    return sorted(path.name for path in (getattr(state, name) for name in names) if isinstance(path, Path))


@pytest.mark.parametrize("name", variables_read())
def test_a_variable_that_is_read_is_documented(name: str) -> None:
    assert f"`{name}`" in text("docs/environment.md")


@pytest.mark.parametrize("name", files_named())
def test_a_file_of_the_state_directory_is_documented(name: str) -> None:
    assert f"`{name}`" in text("docs/state-dir.md") or f"`{name}/`" in text("docs/state-dir.md")


@pytest.mark.parametrize("field", [field.name for field in fields(Outcome)])
def test_a_key_of_the_outcome_is_documented(field: str) -> None:
    assert f"`{field}`" in text("docs/state-dir.md")


@pytest.mark.parametrize("word", [*Author, *TreeState, *Verdict])
def test_a_word_of_the_outcome_is_documented(word: str) -> None:
    assert f"`{word}`" in text("docs/state-dir.md")


def test_kinds_are_documented_in_their_order_of_precedence() -> None:
    table = text("docs/exit-codes.md").partition("## Kinds")[2].partition("## The other")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == [str(kind) for kind in Kind]


@pytest.mark.parametrize("code", ExitCode, ids=lambda code: str(code.name))
@pytest.mark.parametrize("document", ["README.md", "docs/exit-codes.md"])
def test_an_exit_status_is_documented(code: ExitCode, document: str) -> None:
    assert re.search(rf"^\| (?:[0-9]+, )*{code}[ ,].*\|", text(document), re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.name))
def test_a_link_within_the_checkout_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert missing == []


def test_the_documents_speak_of_this_version() -> None:
    for name in ("design", "environment", "exit-codes", "state-dir", "watching"):
        assert f"Last revised with {__version__}" in text(f"docs/{name}.md")
