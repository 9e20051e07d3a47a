"""The launcher under the older name is the dispatcher, or says how to get one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "scripts" / "dispatch-task-agy.py"


def launch(*arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        # -S: what is installed for this Python is not to be found.
        [sys.executable, "-S", str(LAUNCHER), *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=False,
    )


def test_where_prun_is_not_installed_the_launcher_says_how_to_install_it() -> None:
    done = launch("--help", PYTHONPATH="")
    assert done.returncode == 2
    assert done.stdout == b""
    line = done.stderr.decode()
    assert line.startswith("prun dispatch: can't import prun")
    assert f'-m pip install "{ROOT}"' in line
    assert line.count("\n") == 1


def test_the_launcher_takes_the_dispatchers_arguments_and_gives_its_status() -> None:
    done = launch("--unit-id", "con", PYTHONPATH=str(ROOT))
    assert done.returncode == 2
    assert done.stderr.startswith(b"prun dispatch: ")
    helped = launch("--help", PYTHONPATH=str(ROOT))
    assert helped.returncode == 0
    assert b"--prompt-file" in helped.stdout
