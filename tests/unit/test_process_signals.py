"""Signals around a worker: it starts as from a shell, and the caller's own ways are not disturbed."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from prun.system.process import Ended
from tests.support.processes import Stage, run, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("fcntl", reason="needs a POSIX system")
assert sys.platform != "win32"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as made:
        yield made


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGPIPE"])
def test_a_death_by_signal_is_no_exit_code(stage: Stage, name: str) -> None:
    number = getattr(signal, name)
    reset = f"signal.signal({number}, signal.SIG_DFL); " if number != signal.SIGKILL else ""
    code = f"import os, signal; {reset}os.kill(os.getpid(), {number})"
    assert run(stage.python(code))[0] == Ended(signal=number)


def test_a_signal_handler_of_the_caller_runs_while_it_waits(stage: Stage) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _frame: heard.append(number))
    try:
        code = f"import os; os.kill({os.getpid()}, {int(signal.SIGUSR1)})"
        assert run(stage.python(code))[0] == Ended(code=0)
        until(lambda: heard)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_signals_are_as_a_shell_would_leave_them(stage: Stage) -> None:
    code = """
import signal
names = ("SIGPIPE", "SIGXFSZ", "SIGUSR1", "SIGINT", "SIGCHLD", "SIGHUP")
print([int(signal.getsignal(getattr(signal, name)) == signal.SIG_IGN) for name in names])
print(len(signal.pthread_sigmask(signal.SIG_BLOCK, ())))
"""
    # a Python sets SIGPIPE, SIGXFSZ and SIGINT for itself, so the state is looked at from outside
    shell = 'cat /proc/$$/status 2>/dev/null | grep -E "^Sig(Blk|Ign)" || echo none'
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    hangup = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        run(stage.launch("/bin/sh", "-c", shell))
        assert run(stage.python(code))[0] == Ended(code=0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGHUP, hangup)
        signal.signal(signal.SIGUSR1, before)
    said = stage.out.read_text(encoding="utf-8").splitlines()
    if said[0] != "none":
        states = {name: int(value, 16) for name, value in (line.split(":") for line in said[:2])}
        assert states == {"SigBlk": 0, "SigIgn": 1 << (signal.SIGHUP - 1)}
    assert said[-1] == "0"


def test_an_inherited_ignored_sigchld_does_not_lose_the_exit(stage: Stage) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run(stage.python("raise SystemExit(9)"))[0] == Ended(code=9)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_the_callers_handlers_stay(stage: Stage) -> None:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    run(stage.python("pass"))
    assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
