"""What the fake answers without a turn, where a program from outside can't show it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from fake_agy import commands, platforms
from fake_agy.account import DEFAULT
from fake_agy.answering import print_timeout_s
from fake_agy.flags import Options
from fake_agy.glog import Log
from fake_agy.home import SetupError
from fake_agy.profiles import PROFILES
from fake_agy.script import Script
from fake_agy.session import Session, place_of
from fake_agy.waiting import Waiter
from fake_agy.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Impatient(Waiter):
    """A waiter that only notes how long it was to wait."""

    asked_s = 0.0

    def sleep(self, seconds: float) -> None:
        self.asked_s += seconds


def session(waiter: Waiter, **options: str) -> Session:
    return Session(
        options=Options(**options),  # type: ignore[arg-type]  # flags that take words
        account=DEFAULT,
        home=None,
        script=Script(),
        place=place_of({}, None),
        log=Log(None),
        waiter=waiter,
        witness=Witness(None, [], {}, []),
    )


def pipe_of_nobody() -> int:
    reading, writing = os.pipe()
    os.close(writing)
    return reading


def test_with_a_terminal_a_person_is_asked_in_vain(capfd: pytest.CaptureFixture[str]) -> None:
    waiter = Impatient()
    assert commands.refuse_unauthenticated(session(waiter, output_format="json"), reachable=True) == 1
    out, err = capfd.readouterr()
    assert waiter.asked_s == 30
    assert err.startswith("Authentication required. Please visit the URL to log in:\n")
    assert err.endswith("error: authentication failed or timed out\n")
    assert '"error":"authentication failed or timed out"' in out


def test_a_subcommand_that_is_not_simulated_says_so() -> None:
    with pytest.raises(SetupError, match="'mcp' is not simulated"):
        commands.subcommand(session(Impatient()), "mcp", [])


@pytest.mark.parametrize(
    ("given", "version", "limit"),
    [(None, "1.3.5", None), (None, "1.2.2", 300.0), (0.0, "1.2.2", None), (9.0, "1.3.5", 9.0)],
)
def test_a_print_timeout_is_the_given_one_else_the_versions(
    given: float | None, version: str, limit: float | None
) -> None:
    made = session(Impatient())
    made.options = Options(print_timeout_s=given)
    made.profile = PROFILES[version]
    assert print_timeout_s(made) == limit


def test_help_is_the_usage(capfd: pytest.CaptureFixture[str]) -> None:
    assert commands.subcommand(session(Impatient()), "help", []) == 0
    assert capfd.readouterr().out.startswith("Usage of agy:\n")


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (lambda path: os.open(path / "file", os.O_CREAT | os.O_RDWR), "file"),
        (lambda _: os.open(os.devnull, os.O_RDONLY), "null"),
        (lambda _: pipe_of_nobody(), "pipe"),
    ],
    ids=["file", "null", "pipe"],
)
def test_a_stream_is_told_by_what_it_is(tmp_path: Path, made: Callable[[Path], int], kind: str) -> None:
    opened = made(tmp_path)
    assert platforms.stream_kind(opened) == kind
    os.close(opened)
    assert platforms.stream_kind(opened) == "closed"


def test_a_pipe_is_at_its_end_once_nobody_can_write_to_it_and_nothing_is_left() -> None:
    reading, writing = os.pipe()
    assert not platforms.pipe_at_end(reading, 0)
    os.write(writing, b"x")
    os.close(writing)
    assert not platforms.pipe_at_end(reading, 0)
    os.read(reading, 1)
    assert platforms.pipe_at_end(reading, 0)
    os.close(reading)
