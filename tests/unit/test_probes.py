"""Agy is asked for its version and its models, and what it answers or why it does not is told."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from prun.system import programs
from prun.system.clock import SystemClock
from prun.system.probes import PRINTED_LIMIT_BYTES, Facts, ProbeFailed, probe

if TYPE_CHECKING:
    from pathlib import Path

BOTH = """
import sys
if sys.argv[1:] == ["--version"]:
    print("1.3.5")
elif sys.argv[1:] == ["models"]:
    print("gemini-3.8-flash-high\\tGemini 3.8 Flash (High)")
    print("loading", file=sys.stderr)
else:
    sys.exit(2)
"""


def agy(place: Path, script: str) -> str:
    """Return a program that runs *script*."""
    source = place / "agy.py"
    source.write_text(script, encoding="utf-8")
    if sys.platform == "win32":
        path = place / "agy.cmd"
        path.write_text(f'@"{sys.executable}" "{source}" %*\r\n', encoding="utf-8")
    else:
        path = place / "agy"
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{source}" "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    return str(path)


def asked(
    place: Path, script: str, clock: SystemClock | None = None, timeout_s: float = 60.0
) -> Facts | ProbeFailed:
    return probe(agy(place, script), dict(os.environ), place, timeout_s, clock or SystemClock())


def test_the_texts_come_back_as_they_were_printed(tmp_path: Path) -> None:
    found = asked(tmp_path, BOTH)
    assert isinstance(found, Facts)
    assert found.version.split() == ["1.3.5"]
    assert found.models.splitlines() == ["gemini-3.8-flash-high\tGemini 3.8 Flash (High)"]
    assert found.printed.splitlines() == [
        "$ agy --version",
        "1.3.5",
        "$ agy models",
        "gemini-3.8-flash-high\tGemini 3.8 Flash (High)",
        "loading",
    ]


def test_a_version_on_stderr_is_a_version(tmp_path: Path) -> None:
    found = asked(tmp_path, "import sys; print('agy 1.1.8', file=sys.stderr)")
    assert isinstance(found, Facts)
    assert (found.version.split(), found.models) == (["agy", "1.1.8"], "")


def test_a_probe_that_reads_its_input_is_not_held_up(tmp_path: Path) -> None:
    assert isinstance(asked(tmp_path, "import sys; sys.stdin.read()" + BOTH), Facts)


def test_an_exit_that_is_not_zero_says_to_sign_in(tmp_path: Path) -> None:
    failed = asked(
        tmp_path, "import sys; print('no account', file=sys.stderr); sys.exit(sys.argv[1] == 'models')"
    )
    assert isinstance(failed, ProbeFailed)
    assert failed.reason.startswith("`agy models` exited with code 1")
    assert "sign in" in failed.reason
    assert not failed.timed_out
    assert failed.printed.splitlines() == ["$ agy --version", "no account", "$ agy models", "no account"]


@pytest.mark.skipif(not hasattr(os, "WIFSIGNALED"), reason="nobody dies of a signal here")
def test_a_death_by_signal_is_told(tmp_path: Path) -> None:
    failed = asked(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert isinstance(failed, ProbeFailed)
    assert "killed by signal 9" in failed.reason


def test_a_probe_that_does_not_answer_in_time_is_told_as_such(tmp_path: Path) -> None:
    class Impatient(SystemClock):
        def monotonic(self) -> float:
            return super().monotonic() + (3600.0 if (tmp_path / "waiting").exists() else 0.0)

    script = "import os, time\nprint('so far', flush=True)\nopen('waiting', 'w')\ntime.sleep(600)"
    failed = asked(tmp_path, script, Impatient(), timeout_s=1800.0)
    assert isinstance(failed, ProbeFailed)
    assert failed.timed_out
    assert failed.reason == "`agy --version` did not answer within 1800 s"
    assert "so far" in failed.printed


def test_a_probe_that_prints_without_end_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "OUTPUT_LIMIT_BYTES", 100_000)
    failed = asked(tmp_path, "import os\nwhile True: os.write(1, b'x' * 1000)")
    assert isinstance(failed, ProbeFailed)
    assert failed.reason == "`agy --version` printed without end"
    assert not failed.timed_out


def test_a_program_that_can_not_be_run_is_told(tmp_path: Path) -> None:
    failed = probe(str(tmp_path / "gone"), dict(os.environ), tmp_path, 60.0, SystemClock())
    assert isinstance(failed, ProbeFailed)
    assert "cannot run" in failed.reason
    assert "ANTIGRAVITY_BIN" in failed.reason
    assert not failed.timed_out


def test_the_environment_is_the_one_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_SECRET_TOKEN", "abc")
    env = {name: value for name, value in os.environ.items() if name != "X_SECRET_TOKEN"}
    program = agy(tmp_path, "import os; print('X_SECRET_TOKEN' in os.environ)")
    found = probe(program, env, tmp_path, 60.0, SystemClock())
    assert isinstance(found, Facts)
    assert found.version.split() == found.models.split() == ["False"]


@pytest.mark.parametrize("written", ["b'x' * 100_000", "b'\\xff' * 100_000", "'ü'.encode() * 100_000"])
def test_what_is_kept_of_the_output_is_bounded_and_its_end(tmp_path: Path, written: str) -> None:
    found = asked(tmp_path, f"import os; os.write(2, {written}); os.write(2, b'the end\\n')")
    assert isinstance(found, Facts)
    assert len(found.printed.encode()) <= PRINTED_LIMIT_BYTES
    assert found.printed.endswith("the end\n")
