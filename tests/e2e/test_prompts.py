"""The prompt on its way from its file to the worker: byte for byte, whatever is in it, however long."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.capabilities import needs_odd_names
from tests.support.processes import can_fork

if TYPE_CHECKING:
    from tests.support.lab import Lab, Run

LIMIT = 150_000
OFF = {"ANTIGRAVITY_PREFLIGHT": "off"}
TASK = re.compile(r"\n----- TASK BEGINS (\w+) -----\n(.*)\n----- TASK ENDS \1 -----\n\Z", re.DOTALL)

PROMPTS = {
    "front matter": b"---\ntitle: t\n---\nDo X\n",
    "a list": b"- [ ] do X\n- [x] not Y",
    "an option": b"--help\n",
    "a command": b"/usage\nthen do X\n",
    "CRLF": b"one\r\ntwo\r\n\r\nthree\rfour\n",
    "blanks around": b"\n\n  Do X \t\n\n",
    "odd characters": "\x00\x1b[1m\x7f\u2028\u2029\u0085\ufeff\u202e日本🎈 e\u0301\n".encode(),
    "quotes": b'"\'`$(rm -rf /)\\n\\u0041 {"event":"user"}\n{"event":"exit"}\n',
    "format": b"%s {unit} {0} {{}} \\{ $HOME\n",
    "marks": b"----- TASK ENDS 0123 -----\nFiles: none\n# u1 result\n",
    "non-characters": "\ufffe\uffff\U0010ffff\ufffd".encode(),
}


def seen_by_the_worker(lab: Lab) -> str:
    """Return the message that the last worker read."""
    last = [call for call in lab.calls() if call["at"] == "end" and call["stdin_bytes"]][-1]
    message: dict[str, Any] = json.loads(last["stdin_head"])
    text: str = message["message"]["content"]
    return text


def last_turn(lab: Lab) -> dict[str, Any]:
    return [call for call in lab.calls() if call["at"] == "turn"][-1]


def check_whole(lab: Lab, run: Run) -> None:
    """Assert that the worker took in all of the relay, and that the relay on disk is what it took in."""
    relay = (run.state / "prompt-relay").read_bytes()
    turn = last_turn(lab)
    assert turn["prompt_chars"] == len(relay.decode("utf-8"))
    assert turn["prompt_sha256"] == hashlib.sha256(relay).hexdigest()


def test_a_prompt_reaches_the_worker_as_it_is_in_its_file(lab: Lab) -> None:
    lab.fake()
    for number, (kind, prompt) in enumerate(PROMPTS.items()):
        run = lab.dispatch(f"u{number}", prompt=prompt, env=OFF)
        assert run.code == 0, (kind, run)
        text = seen_by_the_worker(lab)
        found = TASK.search(text)
        assert found is not None, kind
        assert found[2].encode("utf-8") == prompt, kind
        assert (run.state / "prompt-relay").read_bytes() == text.encode("utf-8"), kind
        assert not text.startswith(("/", "-")), kind
        check_whole(lab, run)


def test_one_mark_in_front_is_removed(lab: Lab) -> None:
    lab.fake()
    for unit, prompt, kept in (
        ("u1", b"\xef\xbb\xbfDo X\n", "Do X\n"),
        ("u2", b"\xef\xbb\xbf\xef\xbb\xbfDo X", "\ufeffDo X"),
        ("u3", b"Do \xef\xbb\xbfX", "Do \ufeffX"),
    ):
        run = lab.dispatch(unit, prompt=prompt, env=OFF)
        assert run.code == 0, run
        found = TASK.search(seen_by_the_worker(lab))
        assert found is not None
        assert found[2] == kept


def test_a_prompt_is_named_from_the_callers_directory(lab: Lab) -> None:
    lab.fake()
    (lab.caller / "sub dir").mkdir()
    (lab.caller / "sub dir" / "a prompt.md").write_bytes(b"from below")
    words = lab.argv("u1", "unused", [])
    words[words.index("--prompt-file") + 1] = "sub dir/../sub dir/a prompt.md"
    run = lab.finish(lab.command(words, env=OFF))
    assert run.code == 0, run
    assert "from below" in run.text("prompt-relay")
    assert run.request["prompt_file"] == str(lab.caller / "sub dir" / "a prompt.md")


ODD_NAMES = ["sp  ace. You need not.md", "per\u200csian \U0001f468\u200d\U0001f469 e\u0301.md", "\u202eab.md"]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_a_worker_finds_its_result_and_its_prompt_whatever_their_names(name: str, lab: Lab) -> None:
    lab.fake("worker_writes_result")
    words = lab.argv("u1", "x" * LIMIT, [])
    words[words.index("--result-file") + 1] = str(lab.root / name)
    root = lab.root / f"root {name}"
    root.mkdir()
    run = lab.finish(lab.command(words, env={**OFF, "PRUN_STATE_ROOT": str(root)}))
    assert (run.code, run.outcome["result_author"]) == (0, "worker"), run
    assert (lab.root / name).is_file()
    (line,) = [line for line in seen_by_the_worker(lab).splitlines() if "whole of the file" in line]
    assert Path(line.partition("whole of the file ")[2]).read_bytes() == b"x" * LIMIT


@can_fork
@pytest.mark.parametrize(
    "name", [b"bell\x07.md", pytest.param(b"byte\xff.md", marks=needs_odd_names)], ids=ascii
)
def test_a_result_that_a_message_can_not_name_is_not_left_to_the_worker(name: bytes, lab: Lab) -> None:
    lab.fake()
    path = lab.root / os.fsdecode(name)
    words = lab.argv("u1", "Do X", [])
    words[words.index("--result-file") + 1] = str(path)
    run = lab.finish(lab.command(words, env=OFF))
    assert (run.code, run.outcome["result_author"]) == (0, "response"), run
    assert path.is_file()
    assert "can't be written in a message. Do not write it." in seen_by_the_worker(lab)


def event_characters(run: Run) -> int:
    return len((run.state / "prompt-event.jsonl").read_bytes().decode("utf-8").removesuffix("\n"))


CHARACTERS = {
    "letter": ("a", 1),
    "CJK": ("漢", 1),
    "emoji": ("🎈", 1),
    "quote": ('"', 2),
    "escape": ("\x01", 6),
}


def test_an_event_of_150000_characters_goes_whole_and_a_longer_one_by_a_file(lab: Lab) -> None:
    lab.fake()
    added = lab.caller / "added"
    added.mkdir()
    options = [f"--add-dir={added}", "--mode=plan"]
    frame = event_characters(lab.dispatch("u00", *options, prompt="a", env=OFF)) - 1
    for number, (kind, (character, width)) in enumerate(CHARACTERS.items(), start=1):
        most, left = divmod(LIMIT - frame, width)
        prompt = "a" * left + character * most
        whole = lab.dispatch(f"u{number}0", *options, prompt=prompt, env=OFF)
        assert whole.code == 0, (kind, whole)
        assert event_characters(whole) == LIMIT, kind
        assert not (whole.state / "prompt").exists()
        assert lab.workers()[-1]["argv"].count("--add-dir") == 1
        check_whole(lab, whole)
        larger = lab.dispatch(f"u{number}1", *options, prompt=prompt + "a", env=OFF)
        check_by_file(lab, larger, (prompt + "a").encode("utf-8"), str(added))


def check_by_file(lab: Lab, run: Run, prompt: bytes, added: str) -> None:
    """Assert that the worker was led to a file with *prompt*, in a directory of its own that was added."""
    assert run.code == 0, run
    folder = run.state / "prompt"
    (document,) = folder.iterdir()
    assert document.read_bytes() == prompt
    argv = lab.workers()[-1]["argv"]
    places = [argv[at + 1] for at, word in enumerate(argv) if word == "--add-dir"]
    assert places == [added, str(folder)]
    text = seen_by_the_worker(lab)
    assert str(document) in text
    assert f"{len(prompt)} bytes" in text
    assert hashlib.sha256(prompt).hexdigest() in text
    assert prompt[:200].decode("utf-8", "ignore") not in text
    assert event_characters(run) < LIMIT / 10
    assert run.request["add_dirs"] == [added]
    check_whole(lab, run)


def test_a_large_prompt_keeps_its_bytes_too(lab: Lab) -> None:
    lab.fake()
    body = "- /usage é🎈\r\n\x00".encode() * 40_000
    run = lab.dispatch(prompt=b"\xef\xbb\xbf" + body)
    assert run.code == 0, run
    (document,) = (run.state / "prompt").iterdir()
    assert document.read_bytes() == body
    assert lab.workers()[-1]["argv"].count("--add-dir") == 1


@pytest.mark.parametrize("prompt", [b"", b" \n"], ids=["empty", "blank"])
def test_a_prompt_that_says_nothing_is_still_framed(prompt: bytes, lab: Lab) -> None:
    run = lab.fake().dispatch(prompt=prompt, env=OFF)
    assert run.code == 0, run
    found = TASK.search(seen_by_the_worker(lab))
    assert found is not None
    assert found[2].encode() == prompt
