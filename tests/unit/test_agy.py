"""The agy program is found where its name or path says, and never in the current directory by accident."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prun.core.errors import MissingProgramError
from prun.system.agy import expanded, find_agy, home_of
from tests.support.capabilities import make_fifo, needs_fifos, needs_modes, needs_symlinks

ON_WINDOWS = sys.platform == "win32"
SUFFIX = ".exe" if ON_WINDOWS else ""
posix_only = pytest.mark.skipif(ON_WINDOWS, reason="Windows tells programs by their suffix")
windows_only = pytest.mark.skipif(not ON_WINDOWS, reason="only Windows tells programs by their suffix")


def program(path: Path) -> Path:
    """Make a program file at *path*, with the suffix that programs have here."""
    path = path.with_name(path.name + SUFFIX)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(0o755)
    return path


def path_of(*directories: Path | str) -> dict[str, str]:
    return {"PATH": os.pathsep.join(str(directory) for directory in directories)}


def same(found: str, path: Path) -> bool:
    return os.path.normcase(found) == os.path.normcase(path)


def test_a_name_is_found_on_path_in_its_order(tmp_path: Path) -> None:
    first, second = program(tmp_path / "1" / "agy"), program(tmp_path / "2" / "agy")
    env = path_of(tmp_path / "none", tmp_path / "1", tmp_path / "2")
    assert same(find_agy("agy", env, tmp_path), first)
    assert same(find_agy("agy", path_of(tmp_path / "2", tmp_path / "1"), tmp_path), second)


@pytest.mark.parametrize(
    "entries", ["", os.pathsep, ".", f".{os.sep}", "bin", f"..{os.sep}cwd", f"{os.pathsep}."]
)
def test_a_name_is_never_found_in_or_from_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: str
) -> None:
    here = tmp_path / "cwd"
    program(here / "agy")
    program(here / "bin" / "agy")
    monkeypatch.chdir(here)
    with pytest.raises(MissingProgramError, match="not on PATH"):
        find_agy("agy", {"PATH": entries}, here)


def test_without_a_path_nothing_is_on_it(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramError, match="ANTIGRAVITY_BIN"):
        find_agy("agy", {}, tmp_path)


@pytest.mark.parametrize("name", ["./agy", "sub/agy", "sub/../agy"])
def test_a_path_is_taken_from_the_callers_directory(tmp_path: Path, name: str) -> None:
    program(tmp_path / "agy")
    program(tmp_path / "sub" / "agy")
    found = find_agy(name + SUFFIX, path_of(), tmp_path)
    assert Path(found).is_absolute()
    assert same(os.path.normpath(found), Path(os.path.normpath(tmp_path / (name + SUFFIX))))


def test_an_absolute_path_is_taken_as_it_is(tmp_path: Path) -> None:
    made = program(tmp_path / "two words" / "agy ü")
    assert same(find_agy(str(made), {}, Path("/elsewhere")), made)


@needs_symlinks
def test_links_are_not_followed(tmp_path: Path) -> None:
    made = program(tmp_path / "versions" / "1.3.5" / "agy")
    link = tmp_path / "bin" / made.name
    link.parent.mkdir()
    link.symlink_to(made)
    assert same(find_agy("agy", path_of(link.parent), tmp_path), link)
    assert same(find_agy(str(link), {}, tmp_path), link)


@needs_modes
def test_what_is_no_program_is_passed_over_on_path_and_refused_by_path(tmp_path: Path) -> None:
    text = program(tmp_path / "1" / "agy")
    text.chmod(0o644)
    (tmp_path / "2" / "agy").mkdir(parents=True)
    made = program(tmp_path / "3" / "agy")
    env = path_of(tmp_path / "1", tmp_path / "2", tmp_path / "3")
    assert find_agy("agy", env, tmp_path) == str(made)
    for refused in (text, tmp_path / "2" / "agy"):
        with pytest.raises(MissingProgramError, match="not an executable file"):
            find_agy(str(refused), env, tmp_path)


@needs_fifos
def test_a_fifo_is_no_program(tmp_path: Path) -> None:
    make_fifo(tmp_path / "agy")
    (tmp_path / "agy").chmod(0o755)
    with pytest.raises(MissingProgramError):
        find_agy("agy", path_of(tmp_path), tmp_path)


@needs_symlinks
def test_a_dangling_link_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "agy").symlink_to(tmp_path / "gone")
    with pytest.raises(MissingProgramError):
        find_agy(str(tmp_path / "agy"), {}, tmp_path)


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "./gone", "gone\n\x1b[2J"])
def test_a_name_without_a_program_is_told_in_one_line_with_a_next_step(tmp_path: Path, name: str) -> None:
    with pytest.raises(MissingProgramError, match="ANTIGRAVITY_BIN") as caught:
        find_agy(name, path_of(tmp_path), tmp_path)
    assert str(caught.value).isprintable()


def test_home_and_variables_are_put_in(tmp_path: Path) -> None:
    made = program(tmp_path / "opt" / "agy")
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "OPT": str(tmp_path / "opt")}
    for name in ("~/opt/agy", "$OPT/agy", "${OPT}/agy", "~/./opt/agy"):
        assert same(find_agy(name + SUFFIX, home, Path("/elsewhere")), made)


@posix_only
@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("agy", "agy"),
        ("~", "/home/u"),
        ("~/bin/agy", "/home/u/bin/agy"),
        ("a~/b", "a~/b"),
        ("$A", "one"),
        ("${A}", "one"),
        ("$AB", "$AB"),
        ("${A}B", "oneB"),
        ("$NONE/${NONE}/$", "$NONE/${NONE}/$"),
        ("%A%", "%A%"),
        ("~nobody-of-this-name/x", "~nobody-of-this-name/x"),
    ],
)
def test_what_is_put_in(text: str, whole: str) -> None:
    assert expanded(text, {"HOME": "/home/u", "A": "one"}) == whole


@posix_only
def test_without_a_home_of_its_own_the_systems_is_taken() -> None:
    assert expanded("~/agy", {}) == os.path.expanduser("~/agy")  # noqa: PTH111


@windows_only
@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("~\\agy", "C:\\Users\\u\\agy"),
        ("~/agy", "C:\\Users\\u/agy"),
        ("%a%\\x", "one\\x"),
        ("$a\\x", "one\\x"),
        ("%none%", "%none%"),
    ],
)
def test_what_is_put_in_on_windows(text: str, whole: str) -> None:
    assert expanded(text, {"UserProfile": "C:\\Users\\u", "A": "one"}) == whole


def test_the_home_is_the_environments() -> None:
    assert home_of({"HOME": "h", "USERPROFILE": "h"}) == "h"
    assert home_of({}) == ""


@windows_only
def test_windows_looks_for_what_it_can_launch_in_the_order_of_pathext(tmp_path: Path) -> None:
    for name in ("agy.js", "agy.cmd", "agy.exe", "agy"):
        (tmp_path / name).touch()
    env = {"Path": f'"{tmp_path}"', "PathExt": ".JS;.CMD;.EXE"}
    assert same(find_agy("agy", env, tmp_path), tmp_path / "agy.cmd")
    assert same(find_agy("agy.exe", env, tmp_path), tmp_path / "agy.exe")
    assert same(find_agy(str(tmp_path / "agy"), {}, tmp_path), tmp_path / "agy.exe")


@windows_only
def test_windows_looks_where_agys_installer_puts_it(tmp_path: Path) -> None:
    made = program(tmp_path / "agy" / "bin" / "agy")
    env = {"PATH": "", "LOCALAPPDATA": str(tmp_path)}
    assert same(find_agy("agy", env, tmp_path), made)
    with pytest.raises(MissingProgramError):
        find_agy("fake-agy", env, tmp_path)
