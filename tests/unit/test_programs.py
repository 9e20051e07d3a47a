"""A small program gets no input, runs for as long as it may, and leaves nothing running."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from prun.system import programs
from prun.system.clock import SystemClock
from prun.system.programs import CutShort, Finished, NotStarted, Ran, run_program
from tests.support.children import PATIENCE_S

LONG_S = 60.0
ENV = dict(os.environ)

# Starts a child that keeps both outputs open, tells its pid in a file, and does what the caller says.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(child.pid))
import os
os.replace(sys.argv[1] + ".new", sys.argv[1])
"""


def run(
    script: str, place: Path, *arguments: str, timeout_s: float = LONG_S, env: dict[str, str] = ENV
) -> Ran:
    return run_program([sys.executable, "-c", script, *arguments], env, place, timeout_s, SystemClock())


def is_gone(pid: int) -> bool:
    """Return whether the process *pid* ends, waiting a while for that."""
    with suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
        found = psutil.Process(pid)
        if found.status() == psutil.STATUS_ZOMBIE:
            return True
        found.wait(PATIENCE_S)
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_exit_code_and_both_outputs_come_back(tmp_path: Path, code: int) -> None:
    script = f"import os; os.write(1, b'out\\n'); os.write(2, b'err\\n'); raise SystemExit({code})"
    assert run(script, tmp_path) == Finished(code, b"out\n", b"err\n")


def test_the_program_gets_no_input(tmp_path: Path) -> None:
    script = "import os, sys; os.write(1, repr(sys.stdin.buffer.read()).encode())"
    assert run(script, tmp_path) == Finished(0, b"b''", b"")


def test_the_program_gets_the_environment_and_the_directory_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import os; os.write(1, (os.environ['GIVEN'] + os.environ.get('OURS', '') + os.getcwd()).encode())"
    )
    monkeypatch.setenv("OURS", "not to be passed on")
    ran = run(script, tmp_path, env={**ENV, "GIVEN": "given"})
    assert isinstance(ran, Finished)
    assert ran.stdout.decode().startswith("given")
    assert Path(ran.stdout.decode().removeprefix("given")).samefile(tmp_path)


@pytest.mark.skipif(not hasattr(os, "getsid"), reason="there are no sessions here")
def test_the_program_has_a_session_of_its_own(tmp_path: Path) -> None:
    script = "import os; os.write(1, str(os.getsid(0) == os.getpid()).encode())"
    assert run(script, tmp_path) == Finished(0, b"True", b"")


@pytest.mark.skipif(not hasattr(os, "WIFSIGNALED"), reason="nobody dies of a signal here")
def test_a_death_by_signal_is_a_negative_code(tmp_path: Path) -> None:
    assert run("import os; os.kill(os.getpid(), 9)", tmp_path) == Finished(-9, b"", b"")


def test_a_descendant_that_keeps_the_output_open_holds_nobody_up_and_is_ended(tmp_path: Path) -> None:
    ran = run(PARENT + "print('done', flush=True)", tmp_path, "child")
    assert isinstance(ran, Finished)
    assert ran.stdout.split() == [b"done"]
    assert is_gone(int((tmp_path / "child").read_text()))


def test_a_program_that_does_not_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    class Impatient(SystemClock):
        """Sees an hour pass once the child is there."""

        def monotonic(self) -> float:
            return super().monotonic() + (3600.0 if (tmp_path / "child").exists() else 0.0)

    script = PARENT + "print('waiting', flush=True)\nimport time; time.sleep(600)"
    argv = [sys.executable, "-u", "-c", script, "child"]
    ran = run_program(argv, ENV, tmp_path, 1800.0, Impatient())
    assert isinstance(ran, CutShort)
    assert ran.timed_out
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no signal can be refused here")
def test_a_program_that_ignores_termination_is_ended(tmp_path: Path) -> None:
    class Impatient(SystemClock):
        def monotonic(self) -> float:
            return super().monotonic() + (3600.0 if (tmp_path / "ready").exists() else 0.0)

    script = "import signal, time; signal.signal(15, signal.SIG_IGN); open('ready', 'w'); time.sleep(600)"
    ran = run_program([sys.executable, "-c", script], ENV, tmp_path, 1800.0, Impatient())
    assert ran == CutShort(timed_out=True, stdout=b"", stderr=b"")


def test_output_without_end_is_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "OUTPUT_LIMIT_BYTES", 100_000)
    ran = run("import os\nwhile True: os.write(1, b'x' * 1000)", tmp_path)
    assert isinstance(ran, CutShort)
    assert not ran.timed_out
    assert ran.stdout == b"x" * 100_000


def test_what_can_not_be_started_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\0")
    for name in ("gone", "file", "a\0b"):
        ran = run_program([str(tmp_path / name)], ENV, tmp_path, LONG_S, SystemClock())
        assert isinstance(ran, NotStarted)
        assert "cannot run" in ran.reason
        assert ran.reason.isprintable()


def test_no_room_for_the_output_is_a_reason_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    ran = run("", tmp_path)
    assert isinstance(ran, NotStarted)
    assert "no place for its output" in ran.reason


def test_a_caller_that_is_interrupted_leaves_nothing_running(tmp_path: Path) -> None:
    class Interrupting(SystemClock):
        def sleep(self, seconds: float) -> None:
            if (tmp_path / "child").exists():
                raise KeyboardInterrupt
            super().sleep(seconds)

    argv = [sys.executable, "-c", PARENT + "import time; time.sleep(600)", "child"]
    with pytest.raises(KeyboardInterrupt):
        run_program(argv, ENV, tmp_path, LONG_S, Interrupting())
    assert is_gone(int((tmp_path / "child").read_text()))
