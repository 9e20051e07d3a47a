"""A lock keeps others out for as long as its holder lives, and no longer."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import filelock
import pytest

from prun.system.clock import SystemClock
from prun.system.locks import LockTimeoutError, NoLockError, locked
from tests.support.capabilities import needs_modes
from tests.support.children import line_of, python, tell
from tests.support.clocks import ManualClock

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys
from pathlib import Path
from prun.system.clock import SystemClock
from prun.system.locks import locked
with locked(Path(sys.argv[1]), 30.0, SystemClock()):
    print("held")
    sys.stdin.readline()
print("released")
sys.stdin.readline()
"""


def test_a_lock_can_be_held_again_and_again(tmp_path: Path) -> None:
    for _ in range(3):
        with locked(tmp_path / "lock", 0.0, ManualClock()):
            pass


def test_another_process_waits_as_long_as_it_was_told(tmp_path: Path) -> None:
    clock = ManualClock()
    with python(HOLDER, str(tmp_path / "lock")) as holder:
        assert line_of(holder) == "held"
        with (
            pytest.raises(LockTimeoutError, match=r"lock for 7 s"),
            locked(tmp_path / "lock", 7.0, clock),
        ):
            pytest.fail("two held it")
        assert sum(clock.slept) == pytest.approx(7.0, abs=0.1)
        tell(holder, "release it")
        assert line_of(holder) == "released"
        with locked(tmp_path / "lock", 0.0, clock):
            pass


def test_a_lock_ends_with_a_killed_holder(tmp_path: Path) -> None:
    with python(HOLDER, str(tmp_path / "lock")) as holder:
        assert line_of(holder) == "held"
        holder.kill()
        holder.wait()
        with locked(tmp_path / "lock", 10.0, SystemClock()):
            pass


def test_a_thread_keeps_another_out(tmp_path: Path) -> None:
    inside = []

    def other() -> None:
        try:
            with locked(tmp_path / "lock", 0.0, ManualClock()):
                inside.append("two held it")
        except LockTimeoutError:
            inside.append("kept out")

    with locked(tmp_path / "lock", 0.0, ManualClock()):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert inside == ["kept out"]


def test_the_wait_ends_when_the_callers_clock_says_so(tmp_path: Path) -> None:
    class AlarmError(Exception):
        pass

    class AlarmClock(ManualClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            raise AlarmError

    with (
        locked(tmp_path / "lock", 0.0, ManualClock()),
        pytest.raises(AlarmError),
        locked(tmp_path / "lock", 1000.0, AlarmClock()),
    ):
        pytest.fail("two held it")


def test_an_error_inside_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path / "lock", 0.0, ManualClock()):
        raise KeyError
    with locked(tmp_path / "lock", 0.0, ManualClock()):
        pass


@needs_modes
def test_the_lock_file_is_private(tmp_path: Path) -> None:
    with locked(tmp_path / "lock", 0.0, ManualClock()):
        assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


def test_a_place_that_can_have_no_file_has_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(NoLockError, match="local disk"),
        locked(tmp_path / "file" / "lock", 5.0, ManualClock()),
    ):
        pytest.fail("there is nothing to hold")


@pytest.mark.skipif(not filelock.has_fcntl, reason="flock is not asked for here")
def test_a_file_system_without_locks_is_never_locked_by_a_mere_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import fcntl

    def unsupported(*_: Any) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with pytest.raises(NoLockError), locked(tmp_path / "lock", 5.0, ManualClock()):
        pytest.fail("a mere file was taken for a lock")
