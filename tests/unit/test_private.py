"""Prun's own directories are its user's alone, or they are not used."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from prun.core.errors import PrunError
from prun.system import private
from prun.system.private import ensure_private, private_cache_dir, private_state_dir
from tests.support.capabilities import needs_denial, needs_modes, needs_symlinks

if TYPE_CHECKING:
    from pathlib import Path

located = pytest.mark.skipif(find_spec("platformdirs") is None, reason="platformdirs is not installed here")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@located
@needs_modes
def test_both_directories_are_made_for_the_user_alone(home: Path) -> None:
    before = os.umask(0)
    try:
        made = [private_state_dir(), private_cache_dir()]
    finally:
        os.umask(before)
    assert made[0] != made[1]
    for directory in made:
        assert home in directory.parents
        assert directory.stat().st_mode & 0o777 == 0o700
        assert directory.parent.stat().st_mode & 0o777 == 0o700


@located
def test_the_settings_of_the_desktop_are_followed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs import user_cache_dir, user_state_dir

    monkeypatch.setenv("XDG_STATE_HOME", str(home / "s"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "c"))
    assert str(private_state_dir()) == user_state_dir("prun")
    assert str(private_cache_dir()) == user_cache_dir("prun")


def test_a_directory_is_made_once_and_then_used(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "prun"
    assert ensure_private(place, "X") == place
    (place / "kept").touch()
    assert ensure_private(place, "X") == place
    assert (place / "kept").exists()


@needs_modes
@pytest.mark.parametrize("mode", [0o701, 0o710, 0o750, 0o755, 0o777], ids=oct)
def test_a_directory_open_to_others_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "prun"
    place.mkdir()
    place.chmod(mode)
    with pytest.raises(PrunError, match=f"chmod 700 {place}"):
        ensure_private(place, "X")
    assert place.stat().st_mode & 0o777 == mode


@needs_modes
def test_a_directory_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "prun"
    place.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    with pytest.raises(PrunError, match=r"another user .* set X"):
        ensure_private(place, "X")


@needs_symlinks
@needs_modes
def test_a_link_is_as_private_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "prun").symlink_to(tmp_path / "elsewhere")
    assert ensure_private(tmp_path / "prun", "X") == tmp_path / "prun"
    (tmp_path / "elsewhere").chmod(0o755)
    with pytest.raises(PrunError, match="open to other users"):
        ensure_private(tmp_path / "prun", "X")


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prun").touch()
    with pytest.raises(PrunError, match="not a directory"):
        ensure_private(tmp_path / "prun", "X")
    with pytest.raises(PrunError, match="prun's own records"):
        ensure_private(tmp_path / "prun" / "deeper", "X")


@needs_symlinks
def test_a_dangling_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prun").symlink_to(tmp_path / "nowhere")
    with pytest.raises(PrunError, match="prun's own records"):
        ensure_private(tmp_path / "prun", "X")


@needs_denial
def test_a_home_closed_to_us_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(PrunError, match="set X elsewhere"):
        ensure_private(closed / "prun", "X")
    closed.chmod(0o700)


def test_a_user_without_a_home_is_told_what_to_set() -> None:
    def homeless(_name: str) -> str:
        raise RuntimeError("Could not determine home directory.")

    with pytest.raises(PrunError, match="set HOME or XDG_STATE_HOME"):
        private._private(homeless, "XDG_STATE_HOME")
