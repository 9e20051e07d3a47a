"""The launchers under the older names are the doors, or say how to get them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# launcher, verb, what it refuses, a word of its help
LAUNCHERS = [
    ("dispatch-task-agy.py", "dispatch", ["--unit-id", "con"], b"--prompt-file"),
    ("monitor.py", "monitor", ["--until", "soon"], b"STATE_DIR"),
    ("gather.py", "gather", ["--nope"], b"RESULT_FILE"),
    ("demo.py", "demo", ["--nope"], b"--real"),
]


def launch(launcher: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        # -S: what is installed for this Python is not to be found.
        [sys.executable, "-S", str(ROOT / "scripts" / launcher), *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize(("launcher", "verb"), [row[:2] for row in LAUNCHERS], ids=str)
def test_where_prun_is_not_installed_the_launcher_says_how_to_install_it(launcher: str, verb: str) -> None:
    done = launch(launcher, "--help", PYTHONPATH="")
    assert done.returncode == 2
    assert done.stdout == b""
    line = done.stderr.decode()
    assert line.startswith(f"prun {verb}: can't import prun")
    assert f'-m pip install "{ROOT}"' in line
    assert line.count("\n") == 1


@pytest.mark.parametrize(("launcher", "verb", "wrong", "word"), LAUNCHERS, ids=str)
def test_the_launcher_takes_its_doors_arguments_and_gives_its_status(
    launcher: str, verb: str, wrong: list[str], word: bytes
) -> None:
    done = launch(launcher, *wrong, PYTHONPATH=str(ROOT))
    assert done.returncode == 2
    assert f"prun {verb}".encode() in done.stderr
    helped = launch(launcher, "--help", PYTHONPATH=str(ROOT))
    assert helped.returncode == 0
    assert word in helped.stdout
