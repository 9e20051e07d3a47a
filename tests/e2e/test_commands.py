"""The ways to call it, and streams that are closed, full, unread or of another encoding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prun import __version__
from tests.support.agents import ANSWER, STREAM, agent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.lab import Lab, Run

LAUNCHER = Path(__file__).resolve().parents[2] / "scripts" / "dispatch-task-agy.py"
INSTALLED = Path(sysconfig.get_path("scripts")) / ("prun.exe" if sys.platform == "win32" else "prun")
PYTHON = [sys.executable, "-P"]
FULL = Path("/dev/full")

needs_install = pytest.mark.skipif(not INSTALLED.exists(), reason="prun is not installed as a command")
needs_shell = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a shell that closes streams")
needs_full = pytest.mark.skipif(
    not hasattr(os, "fork") or not FULL.exists(), reason="needs a device that is always full"
)

FORMS = [
    pytest.param([str(INSTALLED), "dispatch"], marks=needs_install, id="prun dispatch"),
    pytest.param([*PYTHON, "-m", "prun.dispatch"], id="-m prun.dispatch"),
    pytest.param([*PYTHON, "-m", "prun", "dispatch"], id="-m prun dispatch"),
    pytest.param([sys.executable, str(LAUNCHER)], id="dispatch-task-agy.py"),
]
CLI = [
    pytest.param([str(INSTALLED)], marks=needs_install, id="prun"),
    pytest.param([*PYTHON, "-m", "prun"], id="-m prun"),
]


def options_of(lab: Lab) -> list[str]:
    """Return the options of a good dispatch."""
    words = lab.argv("u1", "Do the work.", [])
    return words[words.index("--prompt-file") :]


def told(lab: Lab, words: list[str], **popen: Any) -> tuple[int, str, str]:
    """Return exit status, stdout and stderr of a command that is no dispatch."""
    process = lab.command(words, **popen)
    stdout, stderr = process.communicate(timeout=60)
    texts = [(data or b"").decode("utf-8").replace("\r\n", "\n") for data in (stdout, stderr)]
    return process.returncode, texts[0], texts[1]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_program(form: list[str], lab: Lab) -> None:
    lab.fake()
    run = lab.finish(lab.command([*form, *options_of(lab)]))
    assert run.code == 0, run
    assert run.stdout == f"STATE-DIR {run.state}\n".encode()
    assert run.state.is_absolute()
    assert run.outcome["verdict"] == "completed"
    assert "the work is done" in run.document
    refused = told(lab, [*form, *options_of(lab)])
    assert refused[:2] == (2, "")
    assert refused[2].startswith(f"prun dispatch: the result file {run.result} exists already")
    code, stdout, stderr = told(lab, [*form, "--help"])
    assert (code, stderr) == (0, "")
    assert stdout.startswith("usage: prun dispatch ")
    assert len(lab.states()) == 1


@pytest.mark.parametrize("form", CLI)
def test_the_command_picks_a_door(form: list[str], lab: Lab) -> None:
    assert told(lab, [*form, "--version"]) == (0, f"{__version__}\n", "")
    code, stdout, stderr = told(lab, [*form, "--help"])
    assert (code, stderr) == (0, "")
    assert "dispatch" in stdout
    for words in ([], ["nonsense"], ["nonsensé\u2028", "--unit-id"], ["--prompt-file=x"]):
        code, stdout, stderr = told(lab, [*form, *words])
        assert (code, stdout) == (2, ""), words
        assert stderr.startswith("prun: "), stderr
        assert stderr.count("\n") == 1, stderr
        assert "prun --help" in stderr


def check_done(run: Run, state: Path) -> None:
    """Assert that the unit in *state* completed, and that no record has anything in it but its own."""
    assert run.code == 0, run
    assert run.document == ANSWER + "\n"
    assert (state / "tail").read_bytes() == STREAM
    assert (state / "tail.stderr-tmp").read_bytes() == b""
    for name in ("request.json", "owner.1.json", "worker.json", "publish.json", "outcome.json"):
        assert json.loads((state / name).read_bytes())["schema"] == 1
    assert json.loads((state / "outcome.json").read_bytes())["verdict"] == "completed"
    assert "Traceback" not in run.stderr
    assert "Exception ignored" not in run.stderr


@needs_shell
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(closed: str, lab: Lab) -> None:
    lab.program(agent())
    words = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *lab.argv("u1", "Do it.", [])]
    run = lab.finish(lab.command(words))
    (state,) = lab.states()
    check_done(run, state)
    assert (run.stdout == b"") is (" >&-" in f" {closed}")
    assert (run.stderr == "") is ("2>&-" in closed)


@needs_shell
def test_a_usage_error_without_stderr_is_still_one(lab: Lab) -> None:
    lab.fake()
    words = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *lab.argv("u1", "Do it.", ["--nope"])]
    assert told(lab, words) == (2, "", "")
    assert lab.states() == []
    for form in ([*PYTHON, "-m", "prun"], [*PYTHON, "-m", "prun", "nonsense"]):
        assert told(lab, ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *form]) == (2, "", "")


@pytest.fixture
def unread() -> Iterator[int]:
    """Give the writing end of a pipe that nobody reads any more."""
    theirs, ours = os.pipe()
    os.close(theirs)
    yield ours
    with suppress(OSError):
        os.close(ours)


@pytest.mark.smoke
def test_a_reader_that_went_away_changes_nothing(unread: int, lab: Lab) -> None:
    lab.program(agent())
    run = lab.dispatch("u1", stdout=unread)
    check_done(run, lab.states()[0])
    assert "--- u1: completed" in run.stderr
    both = lab.dispatch("u2", stdout=unread, stderr=unread)
    assert (both.code, both.stderr) == (0, "")
    assert both.document == ANSWER + "\n"


def test_a_reader_that_went_away_is_nothing_to_complain_of_either(unread: int, lab: Lab) -> None:
    for form, words, code in (
        (["-m", "prun"], ["--help"], 0),
        (["-m", "prun"], ["--version"], 0),
        (["-m", "prun.dispatch"], ["--help"], 0),
        (["-m", "prun"], ["nonsense"], 2),
        (["-m", "prun.dispatch"], ["--nope"], 2),
    ):
        stream = "stdout" if code == 0 else "stderr"
        assert told(lab, [*PYTHON, *form, *words], **{stream: unread}) == (code, "", ""), words


@needs_full
def test_a_full_disk_behind_stdout_changes_nothing(lab: Lab) -> None:
    lab.program(agent())
    with FULL.open("wb", buffering=0) as full:
        run = lab.dispatch("u1", stdout=full)
    check_done(run, lab.states()[0])


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "utf-16"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX"},
    ],
    ids=["ascii", "cp1252", "utf-16", "C alone", "POSIX"],
)
def test_the_state_directory_is_told_in_utf8_whatever_the_encoding(env: dict[str, str], lab: Lab) -> None:
    lab.program(agent())
    root = lab.root / "états – 状態"
    running = lab.start("u1", env={**env, "PRUN_STATE_ROOT": str(root)})
    run = lab.finish(running)
    (state,) = root.iterdir()
    assert run.stdout == f"STATE-DIR {state}\n".encode()
    check_done(run, state)
    refused = lab.dispatch("u1", env={**env, "PRUN_WORKER_SESSION": "état"})
    assert (refused.code, refused.stdout) == (2, b"")
    assert refused.stderr.startswith("prun dispatch: PRUN_WORKER_SESSION is ")
    assert refused.stderr.count("\n") == 1


def test_a_caller_that_reads_nothing_until_the_end_is_not_waited_for(lab: Lab) -> None:
    lab.program(agent(work="show(b'x' * 300_000 + b'\\n'); os.write(2, b'y' * 300_000 + b'\\n')"))
    process = lab.command(lab.argv("u1", "Do it.", []), stderr=subprocess.STDOUT)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert stdout.startswith(b"STATE-DIR ")
