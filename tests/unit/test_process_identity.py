"""Who a process is, and what is said of a pid, asked of real processes."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest

from prun.core.identity import Identity, Life, Presence
from prun.system.process import identify, life_of, myself, sight, this_machine
from tests.support.processes import SLEEPS, can_fork, has_jobs, has_proc, stranger, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with stranger(SLEEPS) as child:
        yield child


def test_this_process_is_alive_and_the_same_at_every_look() -> None:
    me = myself()
    assert (me.pid, me.machine) == (os.getpid(), this_machine())
    assert me.start is not None
    assert me == myself() == identify(os.getpid())
    assert life_of(me) is Life.ALIVE


def test_a_machine_names_its_host() -> None:
    assert this_machine().host


@has_proc
def test_linux_tells_boots_and_pid_namespaces_apart() -> None:
    machine = this_machine()
    assert machine.boot is not None
    assert machine.boot.count("-") == 4
    assert (machine.pid_namespace or "").isdigit()


@pytest.mark.parametrize(
    "pid",
    [0, -1, -(2**31), -(2**63), 2**32, 2**32 + 1, 2**63, 2**64, 10**400],
    ids=range(9),
)
def test_a_number_that_can_be_no_pid_is_unreadable(pid: int) -> None:
    assert sight(pid).presence is Presence.UNREADABLE
    assert identify(pid) is None
    assert life_of(Identity(this_machine(), pid, "1")) is Life.UNKNOWN


def test_a_running_child_is_known_and_another_start_is_another_process(
    sleeper: subprocess.Popen[bytes],
) -> None:
    child = identify(sleeper.pid)
    assert child is not None
    assert child.start is not None
    assert life_of(child) is Life.ALIVE
    assert life_of(replace(child, start=child.start + "0")) is Life.DEAD
    assert life_of(replace(child, start=None)) is Life.UNKNOWN


def test_two_children_of_one_moment_are_two_processes(sleeper: subprocess.Popen[bytes]) -> None:
    assert identify(sleeper.pid) != myself()


def test_another_host_or_namespace_is_unknown_and_another_boot_is_dead(
    sleeper: subprocess.Popen[bytes],
) -> None:
    child = identify(sleeper.pid)
    assert child is not None
    here = child.machine
    assert life_of(replace(child, machine=replace(here, host="elsewhere"))) is Life.UNKNOWN
    assert life_of(replace(child, machine=replace(here, pid_namespace="1"))) is Life.UNKNOWN
    if here.boot is not None:
        assert life_of(replace(child, machine=replace(here, boot="another"))) is Life.DEAD


def test_an_ended_child_is_dead_before_and_after_it_is_waited_for(sleeper: subprocess.Popen[bytes]) -> None:
    child = identify(sleeper.pid)
    assert child is not None
    sleeper.kill()
    until(lambda: life_of(child) is Life.DEAD)
    assert identify(sleeper.pid) is None
    sleeper.wait()
    assert life_of(child) is Life.DEAD


@can_fork
def test_a_zombie_is_seen_as_one_and_is_dead(sleeper: subprocess.Popen[bytes]) -> None:
    child = identify(sleeper.pid)
    assert child is not None
    sleeper.kill()
    until(lambda: psutil.Process(sleeper.pid).status() == psutil.STATUS_ZOMBIE)
    assert sight(sleeper.pid).presence is Presence.ZOMBIE
    assert life_of(child) is Life.DEAD


def test_looking_ends_nobody(sleeper: subprocess.Popen[bytes]) -> None:
    for _ in range(50):
        assert sight(sleeper.pid).presence is Presence.RUNNING
    assert sleeper.poll() is None


@has_jobs
def test_no_look_goes_through_calls_that_end_their_target_on_windows(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: object) -> None:
        raise AssertionError(arguments)

    for name in ("kill", "getppid"):
        monkeypatch.setattr(os, name, refused)
    child = identify(sleeper.pid)
    assert child is not None
    assert life_of(child) is Life.ALIVE
    sleeper.kill()
    sleeper.wait()
    assert life_of(child) is Life.DEAD
