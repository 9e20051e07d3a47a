"""Performs the steps of a script: each step of the closed union has one function here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fake_agy import steps, stops
from fake_agy.ends import ProgramEndError, TurnEndError
from fake_agy.home import SetupError
from fake_agy.platforms import die_of, replace_program, write_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from fake_agy.turns import Turn

HUNG_EXIT = 98


def perform(step: steps.Step, turn: Turn) -> None:
    """Do what *step* says; TurnEndError and ProgramEndError tell that nothing follows."""
    turn.session.waiter.check()
    ACTS[type(step)](step, turn)


def _sleep(step: steps.Sleep, turn: Turn) -> None:
    turn.watch.count(step.seconds)
    turn.session.waiter.sleep(step.seconds)


def _wait_for(step: steps.WaitFor, turn: Turn) -> None:
    path = turn.fill(step.path)
    if not turn.session.waiter.for_file(Path(path), step.seconds):
        raise SetupError(f"wait_for: {path} did not appear in {step.seconds:g} s")


def _raw(step: steps.Raw, turn: Turn) -> None:
    try:
        data = bytes.fromhex(step.hex) or turn.fill(step.text).encode("utf-8", "replace")
    except ValueError:
        raise SetupError(f"raw: {step.hex!r} is not hexadecimal") from None
    turn.session.emitter.raw(data * step.repeat + (b"\n" if step.newline else b""))


def _stderr(step: steps.Stderr, turn: Turn) -> None:
    turn.session.stderr(turn.fill(step.text), newline=step.newline)


def _log(step: steps.Log, turn: Turn) -> None:
    turn.session.log.line(turn.fill(step.text), step.level, step.where)


def _write(step: steps.Write, turn: Turn) -> None:
    path = turn.fill(step.path)
    if not path:
        return
    if step.copy:
        replace_program(Path(path), Path(turn.fill(step.copy)).read_bytes())
        return
    data = turn.fill(step.text).encode("utf-8", "replace")
    size = max(1, -(-len(data) // max(step.chunks, 1)))
    parts = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    with Path(path).open("wb", buffering=0) as file:
        for number, part in enumerate(parts, start=1):
            if step.between and number == len(parts):
                turn.session.waiter.for_file(Path(turn.fill(step.between)), 60.0)
            file.write(part)


def _run(step: steps.Run, turn: Turn) -> None:
    from fake_agy.processes import run

    command = [turn.fill(word) for word in step.command]
    code = run(command, turn.session.waiter, step.seconds)
    turn.session.witness.note("ran", command=command, exit=code)


def _spawn(step: steps.Spawn, turn: Turn) -> None:
    from fake_agy.processes import GROUPS, spawn

    if step.group not in GROUPS:
        raise SetupError(f"spawn: group {step.group!r} is none of {', '.join(GROUPS)}")
    turn.session.witness.note("spawned", child=spawn(step), group=step.group, parent=os.getpid())


def _ignore_signals(_step: steps.IgnoreSignals, turn: Turn) -> None:
    turn.session.waiter.ignore()


def _deny(step: steps.Deny, turn: Turn) -> None:
    turn.deny(step)
    if turn.session.profile.denial == "ends-turn":
        turn.finish()
        raise TurnEndError


def _truncate(step: steps.Truncate, turn: Turn) -> None:
    turn.result(steps.Result(), step.keep)
    raise ProgramEndError(step.code)


def _exit(step: steps.Exit, _turn: Turn) -> None:
    raise ProgramEndError(step.code)


def _signal(step: steps.Signal, turn: Turn) -> None:
    die_of(step.number)
    turn.session.waiter.sleep(1)  # death is on its way
    raise ProgramEndError(HUNG_EXIT)


def _hang(step: steps.Hang | steps.Linger, turn: Turn) -> None:
    turn.session.waiter.hang(step.seconds)
    raise ProgramEndError(HUNG_EXIT)


def _flood(step: steps.Flood, turn: Turn) -> None:
    line = b"x" * (max(step.width or step.size, 1) - 1) + b"\n"
    data = (line * (step.size // len(line) + 1))[: step.size]
    if step.to == "log":
        turn.session.log.line(data.decode("ascii").rstrip("\n"))
    elif step.to in {"stdout", "stderr"}:
        write_all(1 if step.to == "stdout" else 2, data)
    else:
        raise SetupError(f"flood: {step.to!r} is none of stdout, stderr, log")


ACTS: dict[type[steps.Step], Callable[[Any, Turn], None]] = {
    steps.Say: lambda step, turn: turn.say(step),
    steps.Tool: lambda step, turn: turn.tool(step),
    steps.Subagent: lambda step, turn: turn.subagent(step),
    steps.Sleep: _sleep,
    steps.WaitFor: _wait_for,
    steps.Raw: _raw,
    steps.Stderr: _stderr,
    steps.Log: _log,
    steps.Write: _write,
    steps.Run: _run,
    steps.Spawn: _spawn,
    steps.IgnoreSignals: _ignore_signals,
    steps.Quota: stops.quota,
    steps.Deny: _deny,
    steps.Error: stops.error,
    steps.Result: lambda step, turn: turn.result(step),
    steps.Exit: _exit,
    steps.Signal: _signal,
    steps.Hang: _hang,
    steps.Linger: _hang,
    steps.Flood: _flood,
    steps.Truncate: _truncate,
}
