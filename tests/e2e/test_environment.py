"""The environment of every child: what is withheld, what stays, what is added, and that no secret is kept."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.agents import agent
from tests.support.processes import can_fork

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.lab import Lab, Run

HUSH = "hush-hush-"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"

# By its name, whatever the value.
SECRET_NAMES = (
    "X_API_KEY",
    "github_token",
    "MY_SECRET_VALUE",
    "DB_PASSWORD",
    "OLD_PASSWD",
    "APP_CREDENTIALS",
    "MYAPIKEY",
    "SSH_AUTH_SOCK",
    "XAUTHORITY",
    "AWS_REGION",
    "aws_profile",
    "GIT_AUTHOR_NAME",
    "MONKEY_PATH",
    "KEYBOARD_LAYOUT",
    "TOKENIZERS_PARALLELISM",
    "MYSQL_PWD",
    "REDISCLI_AUTH",
    "PGPASSFILE",
    "GITHUB_PAT",
    "SENTRY_DSN",
    "SMTP_PASS",
    "GPG_PASSPHRASE",
    "SLACK_WEBHOOK_URL",
    "COOKIE",
)
# By its value, whatever the name.
SECRET_VALUES = {
    "DATABASE_URL": f"postgres://user:{HUSH}1@host/db",
    "REDIS_URL": f"redis://:{HUSH}2@host:6379/0",
    "INNOCENT": "ghp_" + "a1B2" * 9,
    "PLAIN": "glpat-" + "a1B2" * 5,
    "QUIET": "sk-" + "a1B2" * 8,
    "BOT": "xoxb-123456789012-" + "a1B2" * 6,
    "ACCESS": "AKIA" + "A1B2" * 4,
    "MAPS": "AIza" + "a1B2" * 8 + "abc",
    "SESSION_COPY": JWT,
    "CERT": "-----BEGIN RSA PRIVATE KEY-----\nabc",
}
MISLEADING = {
    "GIT_DIR": "/elsewhere/.git",
    "GIT_WORK_TREE": "/elsewhere",
    "GIT_INDEX_FILE": "/elsewhere/index",
    "GIT_COMMON_DIR": "/elsewhere",
    "GIT_OBJECT_DIRECTORY": "/elsewhere",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/elsewhere",
    "GIT_NAMESPACE": "n",
    "GIT_CEILING_DIRECTORIES": "/",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.worktree",
    "GIT_CONFIG_VALUE_0": "/elsewhere",
    "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
    "FORCE_COLOR": "1",
}
HARMLESS = {
    "ANTIGRAVITY_OTHER": "1",
    "HTTP_PROXY": "http://proxy.example:3128",
    "GIT_SSH_COMMAND": "ssh -v",
    "GIT_EDITOR": "true",
    "CI": "1",
    "CLAUDECODE": "1",
    "TERM": "xterm",
    "EMPTY_VALUE": "",
    "ODD.NAME-x": "kept",
    "PRUN_REAP_GRACE_SECONDS": "30",
    "LONG_TEXT": "x" * 4000 + "é🎈",
    "LC_ALL": "C.UTF-8",
}

DUMPS = """
kind = words[0] if words in (["--version"], ["models"]) else "worker"
note(os.path.join(os.environ["SEEN_DIR"], kind), json.dumps(dict(os.environ)))
"""


def planted(values: dict[str, str]) -> dict[str, str | None]:
    return dict(values)


def everything() -> dict[str, str]:
    named = {name: f"{HUSH}{number}-of-a-name" for number, name in enumerate(SECRET_NAMES)}
    return {**named, **SECRET_VALUES, **MISLEADING, **HARMLESS}


@can_fork
def test_an_entry_without_a_name_does_no_harm(lab: Lab) -> None:
    run = lab.fake().dispatch(env={"": "odd"})
    assert run.code == 0, run
    assert not (run.state / "env-withheld").exists()


def told(place: Path) -> dict[str, dict[str, str]]:
    """Return the environment of each child that a program of :data:`DUMPS` saw."""
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in place.iterdir()}


def files_with(run: Run, needles: list[str]) -> list[str]:
    """Return where any of *needles* stands: files of the state directory, result, stdout, stderr."""
    places = {str(path): path.read_bytes() for path in run.state.rglob("*") if path.is_file()}
    places |= {
        "result": run.result.read_bytes(),
        "stdout": run.stdout,
        "stderr": run.stderr.encode("utf-8", "replace"),
    }
    return [
        f"{needle} in {place}"
        for place, data in places.items()
        for needle in needles
        if needle.encode() in data
    ]


def names_in(names: list[str]) -> list[str]:
    """Return *names* as this system has them: Windows knows them in upper case only."""
    return sorted(name.upper() if sys.platform == "win32" else name for name in names)


def test_every_child_gets_the_environment_less_its_secrets(lab: Lab) -> None:
    place = lab.root / "seen"
    place.mkdir()
    lab.program(agent(probes=DUMPS))
    lab.extra["SEEN_DIR"] = str(place)
    env = lab.env(planted(everything()))
    run = lab.dispatch(env=planted(everything()))
    assert run.code == 0, run
    withheld = names_in([*SECRET_NAMES, *SECRET_VALUES, *MISLEADING])
    assert run.text("env-withheld") == "\n".join(withheld) + "\n"
    stays = {name: value for name, value in env.items() if name not in everything() or name in HARMLESS}
    seen = told(place)
    assert set(seen) == {"--version", "models", "worker"}
    for kind, given in seen.items():
        token = given.pop("PRUN_UNIT")
        assert re.fullmatch("[0-9a-f]{16}", token), kind
        assert (token == run.request["worker_token"]) is (kind == "worker")
        assert given.pop("AGY_CLI_DISABLE_AUTO_UPDATE") == "true"
        assert given.pop("NO_COLOR") == "1"
        if sys.platform != "win32":
            assert given == stays, kind
        else:
            assert {name.upper(): value for name, value in stays.items()}.items() <= given.items(), kind
            assert not set(withheld) & set(given), kind
    assert files_with(run, [HUSH, *SECRET_VALUES.values()]) == []


@pytest.mark.smoke
def test_the_fake_itself_finds_no_secret_in_any_call(lab: Lab) -> None:
    run = lab.fake().dispatch(env=planted(everything()))
    assert run.code == 0, run
    starts = [call for call in lab.calls() if call["at"] == "start"]
    assert len(starts) == 3
    for start in starts:
        assert start["secrets"] == []
        assert set(names_in(list(HARMLESS))) <= set(start["env_names"])
    assert [call for call in lab.calls() if call["at"] == "breach"] == []
    assert files_with(run, [HUSH, *SECRET_VALUES.values()]) == []


def test_a_name_can_be_let_through_in_any_case_before_every_rule(lab: Lab) -> None:
    place = lab.root / "seen"
    place.mkdir()
    lab.program(agent(probes=DUMPS))
    lab.extra["SEEN_DIR"] = str(place)
    keep = " npm_token ,GIT_DIR,, Database_URL,force_color,NOT_THERE"
    values = {
        "NPM_TOKEN": f"{HUSH}npm",
        "GIT_DIR": "/elsewhere/.git",
        "DATABASE_URL": SECRET_VALUES["DATABASE_URL"],
        "FORCE_COLOR": "1",
        "NPM_TOKEN_OTHER": f"{HUSH}other",
        "PRUN_KEEP_ENV": keep,
        "AGY_CLI_DISABLE_AUTO_UPDATE": "false",
        "NO_COLOR": "",
    }
    run = lab.dispatch(env=planted(values))
    assert run.code == 0, run
    assert run.text("env-withheld") == "NPM_TOKEN_OTHER\n"
    for given in told(place).values():
        assert given["NPM_TOKEN"] == f"{HUSH}npm"
        assert given["DATABASE_URL"] == values["DATABASE_URL"]
        assert (given["GIT_DIR"], given["FORCE_COLOR"]) == ("/elsewhere/.git", "1")
        assert given["AGY_CLI_DISABLE_AUTO_UPDATE"] == "false"
        assert given.get("NO_COLOR", "") == ""
    assert files_with(run, [HUSH]) == []


def test_nothing_withheld_is_no_file(lab: Lab) -> None:
    run = lab.fake().dispatch()
    assert run.code == 0, run
    assert not (run.state / "env-withheld").exists()


def test_a_proxy_keeps_its_password(lab: Lab) -> None:
    place = lab.root / "seen"
    place.mkdir()
    lab.program(agent(probes=DUMPS))
    proxies = dict.fromkeys(("HTTPS_PROXY", "ALL_PROXY"), "http://user:pw@proxy.example:3128")
    run = lab.dispatch(env=planted({**proxies, "SEEN_DIR": str(place)}))
    assert run.code == 0, run
    for given in told(place).values():
        assert proxies.items() <= given.items()
