"""The rules that the fake's witness holds every caller to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fake_agy.flags import Options
from fake_agy.rules import argv_breaches, secret_names
from fake_agy.setup import init
from fake_agy.witness import BreachError, Witness

if TYPE_CHECKING:
    from fake_agy.home import Home

HERE = str(Path("/work" if Path("/").is_absolute() else "C:/work").absolute())


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("API_TOKEN", "x", True),
        ("my_password", "x", True),
        ("AWS_REGION", "eu", True),
        ("SSH_AUTH_SOCK", "/run/s", True),
        ("GITHUB_PAT", "x", True),
        ("MYSQL_PWD", "x", True),
        ("ANTIGRAVITY_KEY", "x", False),
        ("EMPTY_TOKEN", "", False),
        ("PATH", "/usr/bin", False),
        ("PRUN_KEEP_ENV", "A,B", False),
        ("INNOCENT", "ghp_" + "a" * 36, True),
        ("INNOCENT", "see AKIA" + "A" * 16, True),
        ("INNOCENT", "-----BEGIN RSA PRIVATE KEY-----", True),
        ("INNOCENT", "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", True),
        ("INNOCENT", "ghp_short", False),
        ("DATABASE", "postgres://u:p@h/d", True),
        ("HTTPS_PROXY", "http://u:p@h:8080", False),
        ("DATABASE", "postgres://h/d", False),
    ],
)
def test_a_variable_looks_like_a_secret_by_name_or_by_value(name: str, value: str, secret: bool) -> None:
    assert secret_names({name: value}) == ([name] if secret else [])


def test_an_account_can_allow_names_in_any_case() -> None:
    assert secret_names({"Ssh_Auth_Sock": "/s", "X_TOKEN": "1"}, ["SSH_AUTH_SOCK"]) == ["X_TOKEN"]


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        (Options(), []),
        (Options(prompt=""), []),
        (Options(prompt="/usage"), []),
        (Options(prompt="do it"), ["prompt-in-argv"]),
        (Options(interactive="do it"), ["prompt-in-argv"]),
        (Options(add_dirs=(HERE,)), []),
        (Options(add_dirs=(HERE, ".", "x/y")), ["relative-add-dir", "relative-add-dir"]),
        (Options(model="claude-sonnet-5-5-high", effort="high"), ["effort-on-claude"]),
        (Options(model="gemini-3.8-flash-high", effort="high"), []),
    ],
)
def test_a_command_line_is_held_to_the_rules(options: Options, rules: list[str]) -> None:
    assert [rule for rule, _ in argv_breaches(options)] == rules


def records(home: Home) -> list[dict[str, object]]:
    return [json.loads(line) for line in home.calls.read_text(encoding="utf-8").splitlines()]


def test_a_call_is_witnessed_from_start_to_end_without_any_value(tmp_path: Path) -> None:
    home = init(tmp_path)
    witness = Witness(home, ["--version"], {"B": "hidden-value", "A": "1"}, ["B"])
    witness.read(b"in")
    witness.read(b"put")
    witness.note("turn", scenario="ok")
    witness.end(3)
    start, turn, end = records(home)
    assert (start["at"], start["argv"], start["env_names"], start["secrets"]) == (
        "start",
        ["--version"],
        ["A", "B"],
        ["B"],
    )
    assert {"cwd", "stdin", "stdout", "stderr", "sid", "pgid", "pid", "time", "call"} <= set(start)
    assert turn["scenario"] == "ok"
    assert (end["exit"], end["stdin_bytes"], end["stdin_head"], end["breaches"]) == (3, 5, "input", [])
    assert len({record["call"] for record in (start, turn, end)}) == 1
    assert "hidden-value" not in home.calls.read_text(encoding="utf-8")


def test_a_breach_is_recorded_and_in_an_enforcing_home_it_ends_the_call(tmp_path: Path) -> None:
    home = init(tmp_path)
    witness = Witness(home, [], {}, [])
    witness.breach("some-rule", "so")
    home.enforce.touch()
    with pytest.raises(BreachError, match="other-rule: thus"):
        witness.breach("other-rule", "thus")
    witness.end(97)
    assert [record.get("rule") for record in records(home)] == [None, "some-rule", "other-rule", None]
    assert records(home)[-1]["breaches"] == ["some-rule", "other-rule"]


def test_without_a_home_nothing_is_written_or_enforced() -> None:
    witness = Witness(None, [], {}, [])
    witness.breach("some-rule", "so")
    witness.note("turn")
    witness.end(0)
    assert witness.breaches == ["some-rule"]


def test_of_a_flood_on_stdin_only_the_head_is_kept(tmp_path: Path) -> None:
    home = init(tmp_path)
    witness = Witness(home, [], {}, [])
    witness.read(b"x" * 300_000)
    witness.end(0)
    end = records(home)[-1]
    assert end["stdin_bytes"] == 300_000
    assert len(str(end["stdin_head"])) == 262_144
