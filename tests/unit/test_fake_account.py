"""The fake's account file, its home, and the commands that make them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fake_agy.account import BUCKETS, DEFAULT, account_from, read_account
from fake_agy.home import Home, SetupError, find_home
from fake_agy.setup import init, run

if TYPE_CHECKING:
    from pathlib import Path


def test_without_a_home_the_defaults_hold() -> None:
    assert read_account(None) == DEFAULT
    assert (DEFAULT.profile.version, DEFAULT.signed_in, DEFAULT.file_clock) == ("1.3.5", True, False)


def test_the_home_is_the_pinned_one_then_the_named_one_then_the_users(tmp_path: Path) -> None:
    pinned, named = tmp_path / "pinned", tmp_path / "named"
    pinned.mkdir()
    named.mkdir()
    environ = {"FAKE_AGY_HOME": str(named)}
    assert (found := find_home(environ, str(pinned))) is not None
    assert found.root == pinned
    assert (found := find_home(environ)) is not None
    assert found.root == named


def test_a_named_home_that_is_missing_is_an_error_that_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="fake-agy init"):
        find_home({"FAKE_AGY_HOME": str(tmp_path / "missing")})


def test_the_users_own_home_counts_only_if_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert find_home({}) is None
    (tmp_path / ".fake-agy").mkdir()
    assert (found := find_home({})) is not None
    assert found.root == tmp_path / ".fake-agy"


@pytest.mark.parametrize("profile", ["1.3.5", "1.2.2"])
def test_an_account_that_init_makes_reads_back(tmp_path: Path, profile: str) -> None:
    home = init(tmp_path / "new" / "home", profile, "quota", 7)
    account = read_account(home)
    assert (account.profile.version, account.seed, account.file_clock) == (profile, 7, True)
    assert account.buckets == BUCKETS
    assert home.clock.exists()
    assert home.calls.exists()


def test_every_line_that_init_offers_as_a_comment_is_a_valid_setting(tmp_path: Path) -> None:
    home = init(tmp_path)
    for path in (home.account, home.script):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(?m)^# ", "", text), encoding="utf-8")
    account = read_account(home)
    assert account.ceiling is not None
    assert account.ceiling.capacity == 20


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"profil": "1.3.5"}, "unknown key 'profil'"),
        ({"profile": "9.9.9"}, "profile '9.9.9' is not one of 1.3.5, 1.2.2"),
        ({"signed_in": "yes"}, "'signed_in' must be a bool"),
        ({"clock": "wall"}, "clock 'wall' is neither"),
        ({"bucket": {"gemini-1h": {}}}, "unknown bucket 'gemini-1h'"),
        ({"bucket": {"gemini-5h": {"capacity": 0.5}}}, "bucket 'gemini-5h' takes"),
        ({"bucket": {"gemini-5h": {"capacity": -1}}}, "bucket 'gemini-5h' takes"),
        ({"ceiling": {"turns": 3}}, "bucket 'ceiling' takes"),
    ],
)
def test_a_wrong_account_is_named_with_what_is_wrong(table: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        account_from(table)


def test_a_free_account_has_weekly_buckets_only() -> None:
    assert [bucket.id for bucket in account_from({"plan": "Free"}).buckets] == ["gemini-weekly", "3p-weekly"]


def test_an_account_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.account.write_text("profile = ", encoding="utf-8")
    with pytest.raises(SetupError, match=re.escape(str(home.account))):
        read_account(home)


def test_a_rejected_sign_in_stays_rejected_until_its_file_is_gone(tmp_path: Path) -> None:
    home = init(tmp_path)
    home.signed_out.touch()
    assert not read_account(home).signed_in
    home.signed_out.unlink()
    assert read_account(home).signed_in


def test_the_fakes_own_commands_say_what_they_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", str(tmp_path / "home"), "--scenario", "short"]) == 0
    assert run(["install", str(tmp_path / "bin"), "--home", str(tmp_path / "home")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == str(tmp_path / "home")
    assert run(["scenarios"]) == 0
    assert "ok" in capsys.readouterr().out.splitlines()
    assert run(["scenarios", "--long"]) == 0
    assert "A plain answer." in capsys.readouterr().out


@pytest.mark.parametrize("options", [("--profile", "9.9"), ("--scenario", "nowhere")])
def test_init_refuses_what_there_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    assert run(["init", str(tmp_path / "home"), *options]) == 96
    assert capsys.readouterr().err.startswith("fake-agy: ")
    assert not (tmp_path / "home").exists()
