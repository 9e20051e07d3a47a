"""Every kind of step, performed by the real program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from fake_agy.platforms import pipe_at_end
from tests.support.fakes import DEADLINE_S, STREAM, Answer, Fake, user_line
from tests.support.processes import until

if TYPE_CHECKING:
    from pathlib import Path

has_groups = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs process groups")
PYTHON = json.dumps(sys.executable)


def play(root: Path, *steps: str, before: str = "", profile: str = "1.3.5") -> tuple[Fake, Answer]:
    """Return a fake that plays *steps* (the inside of TOML tables) and what one turn of it gave."""
    listed = ", ".join(f"{{{step}}}" for step in steps)
    head = f"before = [{{{before}}}]\n" if before else ""
    fake = Fake(root, profile, script=f'default = "mine"\n[scenario.mine]\n{head}steps = [{listed}]\n')
    prompt = f"Do it.\nThe result file is {root / 'out.put' / 'r.md'}. You need not write it.\n"
    return fake, fake.ask(prompt, options=("--model", "gemini-3.8-flash-high"))


def test_words_go_where_they_are_sent(tmp_path: Path) -> None:
    fake, answer = play(
        tmp_path,
        'do="stderr", text="panic: {cwd}"',
        'do="stderr", text="no end", newline=false',
        'do="log", text="Language server died", level="E", where="server.go:9"',
        'do="raw", hex="00ff", newline=false',
        'do="raw", text="ab", repeat=2',
        'do="say", text="All said."',
    )
    assert answer.code == 0
    assert answer.stderr == f"panic: {(tmp_path / 'cwd').resolve()}\nno end"
    assert b"\x00\xffabab\n" in answer.stdout
    assert " server.go:9] Language server died\n" in fake.home.log.read_text(encoding="utf-8")


def test_a_flood_has_the_size_it_was_given(tmp_path: Path) -> None:
    fake, answer = play(
        tmp_path,
        'do="flood", size=100_000',
        'do="flood", size=1_000, width=100, to="stderr"',
        'do="flood", size=500, to="log"',
    )
    assert b"x" * 99_999 + b"\n" in answer.stdout
    assert answer.stderr == ("x" * 99 + "\n") * 10
    assert "x" * 499 + "\n" in fake.home.log.read_text(encoding="utf-8")


def test_a_file_is_written_in_chunks_a_command_changes_it_and_it_is_copied(tmp_path: Path) -> None:
    (tmp_path / "out.put").mkdir()
    code = json.dumps("import sys; open(sys.argv[1], 'a').write('!')")
    _, answer = play(
        tmp_path,
        'do="write", text="one two three", chunks=3',
        f'do="run", command=["{{python}}", "-c", {code}, "{{result_file}}"]',
        'do="write", path="{cwd}/copy", copy="{result_file}"',
    )
    assert answer.code == 0
    for path in (tmp_path / "out.put" / "r.md", tmp_path / "cwd" / "copy"):
        assert path.read_text(encoding="utf-8") == "one two three!"


def test_the_last_chunk_waits_for_its_file(tmp_path: Path) -> None:
    (tmp_path / "out.put").mkdir()
    (tmp_path / "go").touch()
    between = json.dumps(str(tmp_path / "go"))
    _, answer = play(tmp_path, f'do="write", text="abcdef", chunks=2, between={between}')
    assert answer.code == 0
    assert (tmp_path / "out.put" / "r.md").read_text(encoding="utf-8") == "abcdef"


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    sleeper = f'do="run", command=[{PYTHON}, "-c", "import time; time.sleep(60)"], seconds=0.1'
    fake, answer = play(tmp_path, sleeper, 'do="say", text="On we go."')
    assert answer.code == 0
    assert fake.calls("ran")[0]["exit"] != 0


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ('do="wait_for", path="{home}/never", seconds=0.05', "wait_for: "),
        ('do="write", text="x"', "r.md"),
        ('do="raw", hex="zz"', "raw: 'zz' is not hexadecimal"),
        ('do="flood", to="nowhere"', "flood: 'nowhere' is none of stdout, stderr, log"),
        ('do="spawn", group="nowhere"', "spawn: group 'nowhere' is none of same, setsid, double-fork"),
        ('do="error", kind="nowhere"', "error: unknown kind 'nowhere'; known are auth_missing"),
    ],
)
def test_a_step_that_cannot_be_done_is_told_in_one_line(tmp_path: Path, step: str, words: str) -> None:
    _, answer = play(tmp_path, step)
    assert (answer.code, answer.stderr.count("\n")) == (96, 1)
    assert answer.stderr.startswith("fake-agy: ")
    assert words in answer.stderr


def test_an_error_can_be_of_the_scripts_own_words(tmp_path: Path) -> None:
    _, answer = play(tmp_path, 'do="say", text="So far."', 'do="error", text="Verify your account", exit=7')
    assert (answer.code, answer.stderr) == (7, "error: Verify your account\n")
    assert (answer.result["status"], answer.result["response"]) == ("ERROR", "So far.\n")


def test_a_result_can_be_anything(tmp_path: Path) -> None:
    _, answer = play(
        tmp_path,
        'do="tool", output_bytes=10',
        'do="tool", open=true',
        'do="result", status="CANCELED", error="stopped", omit=["usage"], fields={status=7, more=[1]}',
        'do="linger", seconds=0',
    )
    assert answer.code == 98
    assert (answer.result["status"], answer.result["more"], answer.result["error"]) == (7, [1], "stopped")
    assert "usage" not in answer.result
    assert answer.stderr == "error: stopped\n"
    outputs = [step["tool_info"].get("output") for step in answer.steps if step["step_type"] == "tool"]
    assert outputs == [None, "x" * 10, None]


def test_a_torn_result_ends_the_process(tmp_path: Path) -> None:
    _, answer = play(tmp_path, 'do="truncate", keep=0.9, code=5')
    assert answer.code == 5
    assert not answer.stdout.endswith(b"\n")
    assert b'{"event":"result"' in answer.stdout.split(b"\n")[-1]


def test_a_refusal_lets_a_turn_of_1_2_2_go_on(tmp_path: Path) -> None:
    _, answer = play(
        tmp_path, 'do="deny", keep_response=true', 'do="say", text="Without it, then."', profile="1.2.2"
    )
    assert answer.result["response"] == "Without it, then.\n"
    assert answer.result["denied_actions"]


def test_a_quota_stop_of_1_2_2_can_be_cut_short_and_ends_with_what_was_said(tmp_path: Path) -> None:
    _, answer = play(
        tmp_path, 'do="say", text="At first."', 'do="quota", retry_s=0, keep_response=true', profile="1.2.2"
    )
    assert (answer.code, answer.result["response"]) == (0, "At first.\n")


def test_what_a_scenario_does_before_init_comes_before_it(tmp_path: Path) -> None:
    _, answer = play(tmp_path, before='do="raw", text="first of all"')
    assert answer.stdout.startswith(b'first of all\n{"event":"init"')


def test_before_the_prompt_is_known_only_a_script_without_conditions_decides(tmp_path: Path) -> None:
    early = '[scenario.early]\nbefore = [{do="exit", code=7}]\n'
    sure = Fake(tmp_path / "sure", script=f'default = "early"\n{early}')
    assert sure.run(*STREAM, stdin=user_line("x")).code == 7
    unsure = Fake(
        tmp_path / "unsure", script=f'default = "early"\n[[rule]]\ncontains = "y"\nscenario = "ok"\n{early}'
    )
    assert unsure.run(*STREAM, stdin=user_line("x")).init
    assert unsure.ask("x").code == 7
    assert unsure.ask("y").code == 0


def test_a_doubly_forked_grandchild_has_no_parent_left_and_may_hold_stdout(tmp_path: Path) -> None:
    step = 'do="spawn", group="double-fork", holds_stdout=true, ignore_signals=true'
    fake = Fake(tmp_path, script=f'default = "mine"\n[scenario.mine]\nsteps = [{{{step}}}]\n')
    reading, writing = os.pipe()
    process = fake.start(*STREAM, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.DEVNULL)
    os.close(writing)
    process.communicate(user_line("x"), timeout=DEADLINE_S)
    child = psutil.Process(fake.calls("spawned")[0]["child"])
    try:
        seen = b""
        while b'"event":"result"' not in seen or not seen.endswith(b"}\n"):
            seen += os.read(reading, 65_536)
        assert not pipe_at_end(reading, 0)
        assert psutil.Process(os.getpid()) not in child.parents()
    finally:
        child.kill()
    until(lambda: pipe_at_end(reading, 0))
    os.close(reading)


@has_groups
def test_a_command_in_progress_is_ended_with_its_worker(tmp_path: Path) -> None:
    code = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    step = f'do="run", command=[{PYTHON}, "-c", {json.dumps(code)}], seconds=600'
    fake = Fake(tmp_path, script=f'default = "mine"\n[scenario.mine]\nsteps = [{{{step}}}]\n')
    process = fake.start(*STREAM, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(user_line("x"))
    process.stdin.flush()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(encoding="utf-8"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), 0)
