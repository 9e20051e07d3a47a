"""What the fake writes: events, formats, numbers of a turn, conversations and log lines."""

from __future__ import annotations

import json
import os
import re
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from fake_agy.clock import Clock, Dice, Stopwatch
from fake_agy.conversations import Conversation, latest, remember, stored
from fake_agy.emit import Emitter, encode, failed_early
from fake_agy.glog import Log, log_path
from fake_agy.home import Home
from fake_agy.schema import SchemaError, check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def out(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path / "out", os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0))
    yield opened
    os.close(opened)


def written(out: int) -> bytes:
    os.lseek(out, 0, os.SEEK_SET)
    return os.read(out, 1_000_000)


def test_an_event_nests_its_payload_and_only_init_has_its_id_beside(out: int) -> None:
    emitter = Emitter("stream-json", out)
    emitter.init("id", {"cwd": "/w"})
    emitter.step({"step_index": 0})
    emitter.command_result("usage", {"a": 1})
    emitter.result({"status": "SUCCESS"})
    assert [json.loads(line) for line in written(out).splitlines()] == [
        {"event": "init", "conversation_id": "id", "init": {"cwd": "/w"}},
        {"event": "step_update", "step_update": {"step_index": 0}},
        {"event": "command_result", "command": {"name": "usage", "data": {"a": 1}}},
        {"event": "result", "result": {"status": "SUCCESS"}},
    ]


@pytest.mark.parametrize(
    ("output_format", "expected"),
    [("json", b'{"status":"SUCCESS","response":"\xc3\xa9\\n"}\n'), ("text", b"\xc3\xa9\n")],
)
def test_json_is_the_bare_result_and_text_its_response(out: int, output_format: str, expected: bytes) -> None:
    emitter = Emitter(output_format, out)
    emitter.init("id", {})
    emitter.step({})
    emitter.command_result("usage", {})
    emitter.result({"status": "SUCCESS", "response": "é\n"})
    assert written(out) == expected


@pytest.mark.parametrize(("response", "expected"), [("", b""), (None, b""), ("a", b"a\n")])
def test_text_prints_a_line_or_nothing(out: int, response: object, expected: bytes) -> None:
    Emitter("text", out).result({"response": response})
    assert written(out) == expected


def test_a_result_can_be_cut(out: int) -> None:
    Emitter("stream-json", out).result({"status": "SUCCESS"}, 0.5)
    assert written(out) == b'{"event":"result","resul'


def test_a_line_can_be_cut_inside_its_first_character_that_is_not_ascii(out: int) -> None:
    seen = []
    Emitter("stream-json", out).step({"text_delta": "a€"}, lambda: seen.append(written(out)))
    assert seen[0].endswith(b'"a\xe2')
    assert written(out).endswith(b'a\xe2\x82\xac"}}\n')


def test_a_line_without_such_a_character_is_written_whole(out: int) -> None:
    seen: list[bytes] = []
    Emitter("stream-json", out).step({"text_delta": "a"}, lambda: seen.append(written(out)))
    assert seen == []


def test_a_lone_surrogate_cannot_stop_an_event() -> None:
    assert encode({"a": "\ud800"}) == b'{"a":"?"}'


def test_an_early_failure_has_no_conversation() -> None:
    payload = failed_early("no")
    assert (payload["conversation_id"], payload["status"], payload["error"]) == ("", "ERROR", "no")


def test_dice_fall_alike_for_the_same_key_and_label() -> None:
    assert Dice(1, "a").number(5, 9, "x") == Dice(1, "a").number(5, 9, "x")
    assert {Dice(1, "a").number(5, 6, label) for label in range(50)} == {5, 6}
    assert Dice(1, "a").uuid("x") != Dice(2, "a").uuid("x")
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", Dice("\ud800").uuid("x")
    )


def test_a_counted_watch_shows_what_it_was_told_and_a_clock_what_its_file_says(tmp_path: Path) -> None:
    watch = Stopwatch(counted=True)
    watch.count(1.25)
    assert watch.elapsed_s() == 1.25
    assert Stopwatch(counted=False).elapsed_s() >= 0
    clock = Clock(tmp_path / "clock")
    assert clock.now() == 1_767_225_600.0
    (tmp_path / "clock").write_text("12.5\n", encoding="utf-8")
    assert clock.now() == 12.5
    assert Clock(None).now() > 1_767_225_600


def test_a_conversation_is_stored_and_found_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = Conversation("0f0e-1")
    made.turns, made.next_step, made.duration_s = 2, 7, 1.5
    made.add_usage({"input_tokens": 3, "total_tokens": 4})
    assert made.hold(home)
    made.save(home)
    found = stored(home, "0f0e-1")
    assert found is not None
    assert (found.turns, found.next_step, found.duration_s) == (2, 7, 1.5)
    assert (found.usage["input_tokens"], found.usage["total_tokens"]) == (3, 4)
    assert not Conversation("0f0e-1").hold(home)


@pytest.mark.parametrize("asked", ["missing", "../x", "", "-rf", "a b", "torn"])
def test_an_id_that_is_not_stored_is_not_found(tmp_path: Path, asked: str) -> None:
    home = Home(tmp_path)
    home.conversations.mkdir()
    (home.conversations / "torn.json").write_text('{"turns": 1', encoding="utf-8")
    assert stored(home, asked) is None


def test_the_latest_conversation_of_a_directory_is_the_last_writers(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert latest(home, "/w") is None
    remember(home, "/w", "one")
    remember(home, "/v", "two")
    remember(home, "/w", "three")
    assert (latest(home, "/w"), latest(home, "/v"), latest(None, "/w")) == ("three", "two", None)


def test_a_log_line_has_the_form_of_glog(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", prefix=True)
    for number in range(4):
        log.line(f"message {number}", "E", "log.go:398")
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    form = (
        r"(ERROR: logging before google\.Init: )?E\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ log\.go:398\] message \d"
    )
    matches = [re.fullmatch(form, line) for line in lines]
    assert [match is not None and match[1] is not None for match in matches] == [True, True, True, False]


def test_a_log_that_cannot_be_written_is_given_up(tmp_path: Path) -> None:
    log = Log(tmp_path / "missing" / "log")
    log.line("x")
    assert log.path is None
    log.line("y")
    assert log_path(None, None) is None
    assert log_path(None, Home(tmp_path)) == tmp_path / "cli.log"


@pytest.mark.parametrize(
    ("given", "root_object", "refused"),
    [
        ('{"type":"object"}', True, False),
        ('{"type":"array"}', True, True),
        ('{"type":"array"}', False, False),
        ("string", True, True),
        ("string", False, False),
        ("{", True, True),
        ("/no/such/file", True, True),
    ],
)
def test_a_schema_is_checked_before_any_turn(given: str, root_object: bool, refused: bool) -> None:
    with pytest.raises(SchemaError) if refused else nullcontext():
        check(given, root_object=root_object)
