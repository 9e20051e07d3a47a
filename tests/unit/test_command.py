"""The worker's command line, environment and standard input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prun.core.command import child_env, needs_file, user_event, worker_argv
from prun.core.request import Mode
from prun.core.scrub import Scrubbed

BASE: dict[str, Any] = {
    "model": "gemini-3.8-flash-high",
    "effort": "high",
    "mode": Mode.ACCEPT_EDITS,
    "timeout_s": 2700,
    "sandbox": False,
    "add_dirs": (),
    "conversation_id": None,
    "log_file": "/s/agy.log",
    "version": (1, 3, 5),
}
START = (
    "agy --input-format stream-json --output-format stream-json --model gemini-3.8-flash-high --effort high"
)


def argv(**changed: Any) -> str:
    return " ".join(worker_argv("agy", **{**BASE, **changed}))


def test_the_plainest_command_line() -> None:
    line = f"{START} --mode accept-edits --print-timeout 2700s --dangerously-skip-permissions"
    assert argv() == f"{line} --log-file /s/agy.log"


def test_every_part_stands_in_its_place() -> None:
    line = (
        f"{START} --mode accept-edits --print-timeout 9s --sandbox --dangerously-skip-permissions "
        "--add-dir /a --add-dir /b --conversation c-1 --log-file /s/agy.log"
    )
    assert argv(timeout_s=9, sandbox=True, add_dirs=("/a", "/b"), conversation_id="c-1") == line


def test_a_plan_never_skips_permissions() -> None:
    assert argv(mode=Mode.PLAN) == f"{START} --mode plan --print-timeout 2700s --log-file /s/agy.log"


@pytest.mark.parametrize("model", ["claude-sonnet-5-5-high", "gpt-oss-120b-medium", "my-model"])
def test_an_effort_is_for_gemini_models_only(model: str) -> None:
    assert "--effort" not in argv(model=model)


def test_an_effort_left_out_is_not_there() -> None:
    assert "--effort" not in argv(effort=None)


@pytest.mark.parametrize(
    ("version", "logged"),
    [
        (None, False),
        ((1, 1, 0), False),
        ((1, 0, 15), False),
        ((1, 1), False),
        ((1, 1, 1), True),
        ((1, 2), True),
        ((1, 1, 10), True),
        ((2, 0, 0), True),
    ],
    ids=str,
)
def test_the_log_file_is_asked_for_where_the_version_is_known_to_take_it(
    version: tuple[int, ...] | None, logged: bool
) -> None:
    assert ("--log-file" in argv(version=version)) is logged


def test_paths_with_blanks_stay_one_argument() -> None:
    assert "/a b" in worker_argv("/opt/a gy", **{**BASE, "add_dirs": ["/a b"]})


def test_a_child_gets_what_was_let_through_and_the_mark_of_its_unit() -> None:
    assert child_env(Scrubbed({"A": "b"}, ("C_KEY",)), "0123456789abcdef") == {
        "A": "b",
        "PRUN_UNIT": "0123456789abcdef",
        "AGY_CLI_DISABLE_AUTO_UPDATE": "true",
        "NO_COLOR": "1",
    }


def test_what_the_caller_set_stays_but_for_the_mark() -> None:
    own = {"AGY_CLI_DISABLE_AUTO_UPDATE": "false", "NO_COLOR": "", "PRUN_UNIT": "outer"}
    assert child_env(Scrubbed(own, ()), "inner") == {**own, "PRUN_UNIT": "inner"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "/usage\nthen",
        "---\ntitle: t\n---\nDo X\n",
        "- [ ] x",
        '"\\\b\r\n\t\0\x7f',
        "a\u2028b\u2029\u0085",
        "\U0001f600 caf\u00e9 \u6f22",
        "\ufeffmark",
        '"}}\n{"event":"user"}',
    ],
    ids=range(10),
)
def test_a_text_comes_back_from_its_one_line_unchanged(text: str) -> None:
    event = user_event(text)
    assert event.count(b"\n") == 1
    assert event.endswith(b"\n")
    assert json.loads(event) == {"event": "user", "message": {"content": text}}


def test_the_line_has_the_form_agy_reads_and_stays_readable() -> None:
    assert user_event("caf\u00e9") == '{"event":"user","message":{"content":"caf\u00e9"}}\n'.encode()


def test_a_lone_surrogate_still_gives_a_line_of_utf8() -> None:
    event = user_event("/caf\udce9")
    assert event == b'{"event":"user","message":{"content":"/caf\\udce9"}}\n'
    assert json.loads(event.decode())["message"]["content"] == "/caf\udce9"


@pytest.mark.parametrize("character", ["a", "\n", "\u00e9", '"', "\u6f22", "\U0001f600"], ids=ascii)
def test_an_event_over_150000_characters_needs_a_file(character: str) -> None:
    overhead = len(user_event("").decode()) - 1
    width = len(user_event(character).decode()) - 1 - overhead
    most = (150_000 - overhead) // width
    assert not needs_file(user_event(character * most))
    assert needs_file(user_event(character * (most + 1)))


def test_the_limit_is_exact() -> None:
    fill = 150_000 - (len(user_event("")) - 1)
    assert not needs_file(user_event("a" * fill))
    assert needs_file(user_event("a" * (fill + 1)))
