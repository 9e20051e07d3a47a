"""The bootstrap script: which environments it reuses, what it runs in them, and whom it turns away."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


bootstrap = load("bootstrap")


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a real environment, in a folder with a space, with a `pip` that can be imported and no more."""
    place: Path = tmp_path_factory.mktemp("a checkout") / ".venv"
    python = getattr(sys, "_base_executable", None) or sys.executable
    subprocess.run([python, "-I", "-m", "venv", "--without-pip", str(place)], check=True, timeout=100)
    if not bootstrap.python_of(place).exists():
        pytest.skip("this Python can't make environments")
    if sys.platform == "win32":
        packages = place / "Lib" / "site-packages"
    else:
        packages = place / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    (packages / "pip.py").write_text("", encoding="utf-8")
    return place


@pytest.fixture
def stamped(venv: Path) -> Path:
    (venv / bootstrap.STAMP).write_text(json.dumps({"venv": str(venv)}), encoding="utf-8")
    return venv


def test_the_script_parses_on_a_python_that_is_too_old() -> None:
    source = (SCRIPTS / "bootstrap.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))


@pytest.mark.parametrize("version", [(3, 8, 18), (3, 10, 13), (2, 7, 18)], ids=str)
def test_an_old_python_is_told_what_is_needed(version: tuple[int, ...]) -> None:
    said = bootstrap.too_old(version, "/usr/bin/python3")
    assert said is not None
    assert "3.11" in said
    assert f"/usr/bin/python3 is {'.'.join(map(str, version))}" in said


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 14, 2), (4, 0, 0)], ids=str)
def test_a_new_enough_python_is_told_nothing(version: tuple[int, ...]) -> None:
    assert bootstrap.too_old(version, "python") is None


def test_an_environment_made_for_its_place_is_reused(stamped: Path) -> None:
    assert bootstrap.usable(stamped)


def test_an_environment_that_somebody_made_by_hand_is_reused(venv: Path) -> None:
    (venv / bootstrap.STAMP).unlink(missing_ok=True)
    assert bootstrap.usable(venv)


def test_an_environment_that_came_from_another_checkout_is_not_reused(venv: Path, tmp_path: Path) -> None:
    (venv / bootstrap.STAMP).write_text(json.dumps({"venv": str(tmp_path / ".venv")}), encoding="utf-8")
    assert not bootstrap.usable(venv)


def test_a_folder_without_an_interpreter_is_not_reused(tmp_path: Path) -> None:
    assert not bootstrap.usable(tmp_path)
    assert not bootstrap.usable(tmp_path / "absent")


def test_an_interpreter_of_another_environment_is_not_reused(tmp_path: Path) -> None:
    python = bootstrap.python_of(tmp_path)
    python.parent.mkdir()
    try:
        python.symlink_to(sys.executable)
    except OSError:
        pytest.skip("no links here")
    assert not bootstrap.usable(tmp_path)


@pytest.mark.parametrize("broken", ["a file", "another checkout's", "without interpreter"])
def test_an_unusable_environment_is_removed_and_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    place = tmp_path / ".venv"
    if broken == "a file":
        place.write_text("x", encoding="utf-8")
    else:
        place.mkdir()
    if broken == "another checkout's":
        (place / bootstrap.STAMP).write_text('{"venv": "/elsewhere/.venv"}', encoding="utf-8")
    ran: list[list[str]] = []

    def run_quietly(command: list[str], _problem: str) -> None:
        assert not place.exists()
        ran.append(command)

    monkeypatch.setattr(bootstrap, "run_quietly", run_quietly)
    assert bootstrap.ensure_venv(place) == bootstrap.python_of(place)
    assert [command[1:] for command in ran] == [["-I", "-m", "venv", str(place)]]


def test_a_usable_environment_is_left_as_it_is(stamped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "run_quietly", lambda _command, _problem: pytest.fail("made anew"))
    assert bootstrap.ensure_venv(stamped) == bootstrap.python_of(stamped)


@pytest.mark.parametrize("text", ["", "{", "[]", "\0", '"x"'], ids=["empty", "cut", "list", "nul", "string"])
def test_a_note_that_cannot_be_read_is_no_note(tmp_path: Path, text: str) -> None:
    (tmp_path / bootstrap.STAMP).write_text(text, encoding="utf-8")
    assert bootstrap.read_stamp(tmp_path) == {}


def test_whatever_is_in_the_way_is_removed_and_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (target / "inner").mkdir(parents=True)
    in_the_way = [tmp_path / "file", tmp_path / "folder", tmp_path / "absent"]
    in_the_way[0].write_text("x", encoding="utf-8")
    (in_the_way[1] / "inner").mkdir(parents=True)
    link = tmp_path / "link"
    try:
        link.symlink_to(target, target_is_directory=True)
        in_the_way.append(link)
    except OSError:
        pass
    for path in in_the_way:
        bootstrap.remove(path)
        assert not os.path.lexists(path)
    assert (target / "inner").is_dir()


def test_what_would_misplace_an_installation_is_withheld() -> None:
    env = {"PATH": "/bin", "PIP_USER": "1", "PYTHONPATH": "/x", "PIP_INDEX_URL": "https://index.example"}
    assert bootstrap.child_env(env) == {"PATH": "/bin", "PIP_INDEX_URL": "https://index.example"}


def test_an_installation_is_made_once_for_the_same_project(
    stamped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(bootstrap, "run_quietly", lambda command, _problem: ran.append(command))
    for depends_on in ("one", "one", "two"):
        bootstrap.ensure_installed(stamped, "prun", ["--editable", "."], depends_on)
    assert len(ran) == 2
    assert ran[0][0] == str(bootstrap.python_of(stamped))
    assert ran[0][-3:] == ["install", "--editable", "."]


def test_a_command_that_fails_raises_the_problem_and_shows_what_it_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(bootstrap.BootstrapError, match="can't do it"):
        bootstrap.run_quietly([sys.executable, "-c", "print('why'); raise SystemExit(3)"], "can't do it")
    assert "why" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "ci", "given"),
    [
        ([], "", ["run"]),
        (["-e", "py312", "--", "-k", "x"], "", ["run", "-e", "py312", "--", "-k", "x"]),
        (["-e", "lint"], "true", ["run", "-e", "lint"]),
        ([], "false", ["run"]),
    ],
    ids=["all that are here", "what was asked", "what was asked, in CI", "CI turned off"],
)
def test_tox_is_given_what_the_caller_asked_for(asked: list[str], ci: str, given: list[str]) -> None:
    assert bootstrap.tox_arguments(asked, {"CI": ci}, "") == given


def test_in_ci_no_required_python_may_be_skipped(tmp_path: Path) -> None:
    given = bootstrap.tox_arguments([], {"CI": "true"}, str(tmp_path))
    assert given == ["run", "--skip-missing-interpreters", "false", "-e", "lint,type,py311,py312,py313"]


def test_the_pythons_that_pyenv_keeps_are_put_behind_those_on_path(tmp_path: Path) -> None:
    for version in ("3.12.1", "3.13.0", "3.10.4"):
        (tmp_path / "versions" / version / "bin").mkdir(parents=True)
    found = bootstrap.search_path({"PYENV_ROOT": str(tmp_path), "PATH": "first"}).split(os.pathsep)
    kept = [str(tmp_path / "versions" / version / "bin") for version in ("3.12.1", "3.13.0")]
    assert found == ["first", *kept]


@pytest.mark.parametrize("argv", [[], ["nonsense"]], ids=["no verb", "unknown verb"])
def test_a_wrong_call_prints_the_usage_and_exits_2(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bootstrap.main(argv) == 2
    assert "usage: bootstrap.py demo" in capsys.readouterr().err


def test_an_environment_that_cannot_be_made_is_one_line_and_exit_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_venv: Path) -> Path:
        raise bootstrap.BootstrapError("can't make it")

    monkeypatch.setattr(bootstrap, "ensure_venv", fail)
    assert bootstrap.main(["demo"]) == 70
    assert capsys.readouterr().err == "bootstrap: can't make it\n"
