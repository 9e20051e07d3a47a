"""Every file of a state directory has its own name, spelled as other tools read it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from prun.system.state_dir import StateDir, make_private_dir, name_state_dir, text_line
from tests.support.capabilities import needs_modes
from tests.support.clocks import ManualClock

NAMES = {
    "timestamp": "timestamp",
    "pre_mtime": "pre-mtime",
    "result_file": "result-file",
    "dispatch_pid": "dispatch-pid",
    "python_interpreter": "python-interpreter",
    "request": "request.json",
    "prompt_relay": "prompt-relay",
    "model": "model",
    "quota_note": "quota-note",
    "preflight_tail": "preflight-tail",
    "env_withheld": "env-withheld",
    "worker_pid": "worker-pid-unverified",
    "worker": "worker.json",
    "tail": "tail",
    "stderr": "tail.stderr-tmp",
    "log": "agy.log",
    "conversation_id": "conversation-id",
    "work": "work",
    "prompt_event": "prompt-event.jsonl",
    "prompt_dir": "prompt",
    "prompt_document": "prompt/prompt.md",
    "cancel": "cancel",
    "response": "response",
    "outcome_slot": "outcome.slot",
    "publication": "publish.json",
    "outcome": "outcome.json",
}


def test_the_names_are_those_that_other_tools_read() -> None:
    state = StateDir(Path("root"))
    properties = [name for name, value in vars(StateDir).items() if isinstance(value, property)]
    assert {name: getattr(state, name).relative_to("root").as_posix() for name in properties} == NAMES
    assert len(set(NAMES.values())) == len(NAMES)
    assert state.owner(2) == Path("root", "owner.2.json")
    assert state.foreign_outcome(1) == Path("root", "outcome.foreign.1")


def test_a_state_directory_is_a_value() -> None:
    assert StateDir(Path("a")) == StateDir(Path("a"))
    with pytest.raises(FrozenInstanceError):
        StateDir(Path("a")).root = Path("b")  # type: ignore[misc]


def test_the_name_tells_caller_unit_and_process() -> None:
    state = name_state_dir(Path("/s"), "/home/ü", "u-1_B", 4711, "0123456789abcdef")
    caller = hashlib.sha256(os.fsencode("/home/ü")).hexdigest()[:8]
    assert state.root == Path("/s") / f"prun-task-{caller}-u-1_B-4711-0123456789abcdef"


@pytest.mark.skipif(os.name != "posix", reason="paths are bytes on POSIX only")
def test_a_caller_in_a_directory_that_is_not_utf_8_has_a_name_too() -> None:
    state = name_state_dir(Path("/s"), os.fsdecode(b"/caf\xe9"), "u", 1, "0" * 16)
    assert hashlib.sha256(b"/caf\xe9").hexdigest()[:8] in state.root.name


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("gemini-3.8-flash-high", b"gemini-3.8-flash-high\n"),
        ("", b"\n"),
        ("ü\u4f60", "ü\u4f60\n".encode()),
        ("caf\udce9", b"caf\xe9\n"),
        ("a\ud800b", "a\ufffdb\n".encode()),
    ],
)
def test_a_text_is_utf_8_and_a_newline(tmp_path: Path, value: str, data: bytes) -> None:
    state = StateDir(tmp_path)
    assert text_line(value) == data
    state.write_text(state.model, value, ManualClock())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"model": data}


def test_a_text_can_be_written_again(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    state.write_text(state.model, "the first, which is longer", ManualClock())
    state.write_text(state.model, "second", ManualClock())
    assert state.model.read_bytes() == b"second\n"


@needs_modes
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777], ids=oct)
def test_a_private_directory_is_private_whatever_the_umask_is(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_private_dir(tmp_path / "private")
    finally:
        os.umask(before)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o700


def test_the_work_directory_is_new(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    assert state.make_work_dir() == tmp_path / "work"
    with pytest.raises(FileExistsError):
        state.make_work_dir()
