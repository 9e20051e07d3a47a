"""Gather over real dispatches: when a result has landed, what is told of it, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.doors import Listening, check_silent, door, gather, monitor, unread
from tests.support.processes import KILL, can_fork, is_alive, until
from tests.support.scenes import do, failed, result, say, wait_for
from tests.support.units import ANSWER, FAILED, FALLBACK, Made, make_unit

if TYPE_CHECKING:
    from tests.support.lab import Lab

LAUNCHER = Path(__file__).resolve().parents[2] / "scripts" / "gather.py"
ONE_LOOK = {"AGENT_CONFIG_GATHER_TIMEOUT": "0"}
AT_ONCE = {"PRUN_GATHER_STABLE_WINDOW": "0"}
FORMS = [
    pytest.param([sys.executable, "-P", "-m", "prun.gather"], id="-m prun.gather"),
    pytest.param([sys.executable, "-P", "-m", "prun", "gather"], id="prun gather"),
    pytest.param([sys.executable, str(LAUNCHER)], id="gather.py"),
]


@pytest.fixture
def made(lab: Lab) -> list[Made]:
    """Give three units that are over: a result, a FALLBACK, a result of a run that failed."""
    units = [make_unit(lab.root / "state", name) for name in ("good", "fell é", "kept")]
    for each, data in zip(units, (ANSWER, FALLBACK, ANSWER), strict=True):
        each.writes(data)
    units[0].ends()
    units[1].ends(**FAILED)
    units[2].ends(**FAILED)
    return units


def lines_of(units: list[Made]) -> list[str]:
    good, fell, kept = (str(each.result) for each in units)
    return [
        "GATHER-START count=3 timeout=3600s",
        f"DONE {good}",
        *(f"DONE {fell}", f"FALLBACK {fell}"),
        *(f"DONE {kept}", f"FAILED {kept} quota"),
    ]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_program(form: list[str], made: list[Made], lab: Lab) -> None:
    words = [*form, *(str(each.result) for each in made)]
    told = Listening(lab.command(words)).end()
    assert (told.code, told.lines, told.stderr) == (0, lines_of(made), "")
    told = Listening(lab.command([*words, "--strict"])).end()
    assert (told.code, told.lines) == (3, lines_of(made))
    told = Listening(lab.command([*form, "--help"])).end()
    assert (told.code, told.stderr) == (0, "")
    assert told.lines[0].startswith("usage: prun gather ")


@pytest.mark.smoke
def test_a_result_that_a_worker_writes_in_two_parts_is_collected_once_the_unit_is_over(lab: Lab) -> None:
    more, go = lab.root / "more", lab.root / "go"
    lab.plays(
        do("write", text="part one\npart two\n", chunks=2, between=str(more)), say(), wait_for(go), result()
    )
    dispatcher = lab.start()
    path = lab.result_of("u1")
    lab.state_of(dispatcher)
    waiting = door(lab, "gather", path, env=AT_ONCE)
    waiting.until("GATHER-START")
    until(lambda: path.exists() and path.stat().st_size > 0)
    still = gather(lab, path, env={**AT_ONCE, **ONE_LOOK})
    assert (still.code, still.lines[1:]) == (2, ["TIMEOUT remaining=1", f"MISSING {path}"])
    # Who knows of no unit has only the file to go by.
    stranger = gather(lab, path, env={**AT_ONCE, "PRUN_STATE_ROOT": str(lab.root / "elsewhere")})
    assert (stranger.code, stranger.lines[1:]) == (0, [f"DONE {path}"])
    more.touch()
    go.touch()
    told = waiting.end()
    assert (told.code, told.lines[1:]) == (0, [f"DONE {path}"])
    assert path.read_bytes() == b"part one\npart two\n"
    assert lab.finish(dispatcher).code == 0


@can_fork
def test_a_result_whose_dispatcher_was_killed_goes_by_quiet(lab: Lab) -> None:
    lab.plays(do("write", text="all that I found\n"), say("I have begun.", open=True), do("hang"))
    dispatcher = lab.start()
    state = lab.state_of(dispatcher)
    path = lab.result_of("u1")
    until(lambda: (state / "conversation-id").exists() and path.exists())
    worker = int((state / "worker-pid-unverified").read_text(encoding="ascii"))
    assert gather(lab, path, state, env={**AT_ONCE, **ONE_LOOK}).lines[1] == "TIMEOUT remaining=2"
    dispatcher.send_signal(KILL)
    told = gather(lab, path, state)
    assert (told.code, told.lines[1:]) == (0, [f"DONE {path}"] * 2)
    os.kill(worker, KILL)
    until(lambda: not is_alive(worker))


def test_monitor_and_gather_agree_on_real_units(lab: Lab) -> None:
    lab.plays_by_prompt(
        {
            "alpha": [say(), result()],
            "bravo": [do("write", text="all that I found\n"), say(), result()],
            "charlie": [failed("the model is at a loss")],
            "delta": [do("write", text="all that I found\n"), failed("the model is at a loss")],
        }
    )
    runs = {unit: lab.dispatch(unit, prompt=unit) for unit in ("alpha", "bravo", "charlie", "delta")}
    states = [run.state for run in runs.values()]
    results = {unit: str(run.result) for unit, run in runs.items()}
    watched = monitor(lab, *states)
    assert watched.statuses == ["done", "done", "failed(error)", "failed(error)"]
    expected = [
        "GATHER-START count=4 timeout=3600s",
        f"DONE {results['alpha']}",
        f"DONE {results['bravo']}",
        *(f"DONE {results['charlie']}", f"FALLBACK {results['charlie']}"),
        *(f"DONE {results['delta']}", f"FAILED {results['delta']} error"),
    ]
    for words in (states, list(results.values())):
        told = gather(lab, *words)
        assert (told.code, told.lines) == (0, expected)
    assert gather(lab, *states, "--strict").code == 3
    assert gather(lab, *states[:2], "--strict").code == 0


def test_what_is_named_twice_is_counted_and_told_twice(made: list[Made], lab: Lab) -> None:
    path = made[0].result
    relative = os.path.relpath(path, lab.caller)
    told = gather(lab, path, relative, made[0].path)
    assert told.lines == ["GATHER-START count=3 timeout=3600s", *[f"DONE {path}"] * 3]


def test_what_has_not_landed_is_named_when_the_time_is_up(made: list[Made], lab: Lab) -> None:
    told = gather(lab, "absent.md", made[0].result, env={"AGENT_CONFIG_GATHER_TIMEOUT": "0.5"})
    absent = lab.caller / "absent.md"
    assert told.lines == [
        "GATHER-START count=2 timeout=0.5s",
        f"DONE {made[0].result}",
        "TIMEOUT remaining=1",
        f"MISSING {absent}",
    ]
    assert told.code == 2


def test_a_file_is_told_as_soon_as_it_has_landed(lab: Lab) -> None:
    first, second = lab.caller / "first.md", lab.caller / "second.md"
    waiting = door(lab, "gather", "first.md", "second.md")
    waiting.until("GATHER-START")
    first.write_bytes(ANSWER)
    assert waiting.line() == f"DONE {first}"
    second.write_bytes(b"\xff\xfe" + FALLBACK.decode().encode("utf-16-le"))
    told = waiting.end()
    assert told.lines[-2:] == [f"DONE {second}", f"FALLBACK {second}"]


def test_the_results_of_a_batch_are_collected(lab: Lab) -> None:
    place = lab.caller / ".prun" / "b-1"
    place.mkdir(parents=True)
    waiting = door(lab, "gather", "--batch", "b-1", "--json")
    assert json.loads(waiting.line()) == {"event": "start", "count": 0, "timeout_s": 3600}
    unit = make_unit(place / "agent-io" / "state")
    unit.writes()
    unit.ends()
    (done,) = waiting.end().lines[1:]
    assert json.loads(done)["path"] == str(unit.result)


@pytest.mark.parametrize(
    ("words", "env"),
    [
        ([], {}),
        ([""], {}),
        (["."], {}),
        (["--nope"], {}),
        (["--batch", "nope\nDONE x"], {}),
        (["x"], {"PRUN_GATHER_POLL": "0"}),
        (["x"], {"PRUN_GATHER_POLL": "é"}),
        (["x"], {"PRUN_GATHER_STABLE_WINDOW": "-1"}),
        (["x"], {"AGENT_CONFIG_GATHER_TIMEOUT": "1h"}),
        (["x"], {"PRUN_STATE_ROOT": " "}),
    ],
    ids=str,
)
def test_a_call_that_cant_be_carried_out_is_refused(words: list[str], env: dict[str, str], lab: Lab) -> None:
    told = gather(lab, *words, env=env)
    assert (told.code, told.lines) == (2, [])
    assert told.stderr.startswith("prun gather: ")
    assert told.stderr.count("\n") == 1
    for name in env:
        assert name in told.stderr


@pytest.mark.parametrize("what", ["closed", "unread"])
def test_a_stream_that_nobody_reads_changes_no_status(what: str, made: list[Made], lab: Lab) -> None:
    words = [sys.executable, "-P", "-m", "prun.gather", *(each.path for each in made), "--strict"]
    if what == "closed":
        if not hasattr(os, "fork"):
            pytest.skip("needs a shell that closes streams")
        shell = ["/bin/sh", "-c", 'exec "$@" >&-', "sh"]
        told = [Listening(lab.command([*shell, *some])).end() for some in (words, words[:5], words[:4])]
    else:
        with unread() as writer:
            told = [
                Listening(lab.command(some, stdout=writer)).end() for some in (words, words[:5], words[:4])
            ]
    assert [each.code for each in told] == [3, 0, 2]
    for each in told:
        check_silent(each)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_paths_are_told_in_utf8_whatever_the_encoding(encoding: str, made: list[Made], lab: Lab) -> None:
    told = gather(lab, *(each.path for each in made), env={"PYTHONIOENCODING": encoding})
    assert (told.code, told.lines, told.stderr) == (0, lines_of(made), "")


def test_a_name_forges_no_line(lab: Lab) -> None:
    forged = gather(lab, "x\nDONE /y", env=ONE_LOOK)
    assert forged.lines[1:] == ["TIMEOUT remaining=1", f"MISSING {lab.caller}{os.sep}x\\x0aDONE {os.sep}y"]


@can_fork
def test_an_interrupted_gather_ends_without_a_word(lab: Lab) -> None:
    waiting = door(lab, "gather", "absent.md")
    waiting.until("GATHER-START")
    waiting.process.send_signal(signal.SIGINT)
    told = waiting.end()
    assert (told.code, told.stderr) == (130, "")
