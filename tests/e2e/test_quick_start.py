"""The demonstration of the README, as a newcomer runs it: six real dispatches at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.lab import Lab

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo.py"


@pytest.mark.smoke
def test_the_demo_accounts_for_every_unit_and_leaves_nothing_running(lab: Lab) -> None:
    done = subprocess.run(
        [sys.executable, "-P", str(DEMO)],
        env=lab.env(),
        cwd=lab.caller,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=110,
        check=False,
    )
    printed = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, printed + done.stderr.decode("utf-8", "replace")
    assert "6 of 6 units accounted for, each as expected." in printed
    assert lab.strays() == []
