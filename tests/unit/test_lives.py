"""Processes are asked for no oftener than need be, and the dead stay dead."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

from prun.core.identity import Life
from prun.system import lives as module
from prun.system import process
from prun.system.lives import LOOK_S, Lives
from tests.support.clocks import ManualClock
from tests.support.processes import KILL, SLEEPS, STOP, can_fork, stranger, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prun.core.identity import Identity


CONTINUE = getattr(signal, "SIGCONT", 0)


class Asked:
    """Answers for the system and counts how often it is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, life: Life) -> None:
        self.life = life
        self.times = 0
        monkeypatch.setattr(process, "life_of", self.answer)

    def answer(self, identity: Identity) -> Life:
        del identity
        self.times += 1
        return self.life


@pytest.mark.parametrize("life", [Life.ALIVE, Life.UNKNOWN])
def test_an_owner_is_asked_for_once_in_two_seconds_however_many_units_it_has(
    monkeypatch: pytest.MonkeyPatch, life: Life
) -> None:
    asked, clock = Asked(monkeypatch, life), ManualClock()
    lives = Lives(clock)
    units = [lives.of(process.myself()) for _ in range(5)]
    for _ in range(3):
        assert {unit.life() for unit in units} == {life}
    assert asked.times == 1
    clock.advance(LOOK_S - 0.1)
    assert units[0].life() is life
    assert asked.times == 1
    clock.advance(0.1)
    asked.life = Life.DEAD
    assert {unit.life() for unit in units} == {Life.DEAD}
    assert asked.times == 2


def test_the_dead_are_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, clock = Asked(monkeypatch, Life.DEAD), ManualClock()
    owner = Lives(clock).of(process.myself())
    assert owner.life() is Life.DEAD
    asked.life = Life.ALIVE
    clock.advance(1000)
    assert owner.life() is Life.DEAD
    assert asked.times == 1


def test_thousands_are_asked_for_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, clock = Asked(monkeypatch, Life.ALIVE), ManualClock()
    lives = Lives(clock)
    for pid in range(1, 10_001):
        lives.of_pid(pid, None)
    owner = lives.of(process.myself())
    owner.life()
    clock.advance(4.9)
    owner.life()
    assert asked.times == 1
    clock.advance(0.2)
    owner.life()
    assert asked.times == 2


def test_different_processes_are_asked_for_apart() -> None:
    lives, me = Lives(ManualClock()), process.myself()
    assert lives.of(me) is lives.of(process.myself())
    assert lives.of_pid(5, None) is not lives.of_pid(5, 1e9)
    assert lives.of_pid(5, 1e9) is lives.of_pid(5, 1e9)


# An older tool's dispatcher.


def life_by_pid(pid: int, timestamp_s: float | None) -> Life:
    return Lives(ManualClock()).of_pid(pid, timestamp_s).life()


def test_a_pid_that_runs_since_before_the_dispatch_is_alive() -> None:
    assert life_by_pid(os.getpid(), time.time()) is Life.ALIVE
    assert life_by_pid(os.getpid(), None) is Life.UNKNOWN


def test_a_pid_that_started_over_a_minute_after_the_dispatch_is_another() -> None:
    with stranger(SLEEPS) as child:
        assert life_by_pid(child.pid, time.time() - 3600) is Life.DEAD
        assert life_by_pid(child.pid, time.time() - 30) is Life.ALIVE
        assert child.poll() is None


def test_a_pid_that_is_gone_is_dead() -> None:
    with stranger(SLEEPS) as child:
        child.kill()
        child.wait()
        assert life_by_pid(child.pid, time.time()) is Life.DEAD


@can_fork
def test_a_zombie_is_dead_and_a_stopped_process_is_not() -> None:
    with stranger(SLEEPS) as child:
        os.kill(child.pid, STOP)
        until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_STOPPED)
        assert life_by_pid(child.pid, time.time()) is Life.ALIVE
        os.kill(child.pid, CONTINUE)
        assert life_by_pid(child.pid, time.time()) is Life.ALIVE
        os.kill(child.pid, KILL)
        until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
        assert life_by_pid(child.pid, time.time()) is Life.DEAD


@contextmanager
def process_of_another_user() -> Iterator[int]:
    """Give the pid of a process that belongs to somebody else."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield 1
        return
    child = subprocess.Popen(["/bin/sh", "-c", "read line"], stdin=subprocess.PIPE, user="nobody")
    with child:
        try:
            yield child.pid
        finally:
            child.kill()


@can_fork
def test_a_process_of_another_user_is_not_dead() -> None:
    with process_of_another_user() as pid:
        assert life_by_pid(pid, time.time()) is Life.ALIVE
        identity = process.identify(pid)
        assert identity is not None
        assert Lives(ManualClock()).of(identity).life() is Life.ALIVE


@pytest.mark.parametrize("pid", [4_294_967_295, 9_999_999_999])
def test_a_number_that_can_be_no_pid_is_unknown(pid: int) -> None:
    assert life_by_pid(pid, time.time()) is Life.UNKNOWN


def test_a_process_that_goes_while_it_is_asked_for_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(pid: int) -> psutil.Process:
        raise psutil.NoSuchProcess(pid)

    monkeypatch.setattr(psutil, "Process", gone)
    assert module._started_s(os.getpid()) is None
    assert life_by_pid(os.getpid(), time.time()) is Life.UNKNOWN
