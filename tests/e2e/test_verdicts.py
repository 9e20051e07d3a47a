"""The verdict, rule by rule, over real workers: what streams, exits, stderr and files amount to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.scenes import ANSWER, NOTICE, STOP, do, failed, python, result, say

if TYPE_CHECKING:
    from tests.support.lab import Lab, Run

REAL_SIGNALS = hasattr(os, "fork")
OWN_FILE = do("write", text="# u1 result\nConclusion: written by the worker itself.\n")
QUOTA_WORDS = (
    f"I read: {STOP} and error: UNAUTHENTICATED (code 401), connection refused. {NOTICE}. All noted."
)
PLAN_BUT_FREE = 'permission_mode = "always-proceed"'


@dataclass(frozen=True, slots=True)
class Expected:
    """What a unit has to come to; *reason* and *warning* are words of it."""

    kind: str
    code: int
    author: str = "fallback"
    verdict: str = "failed"
    reason: str = ""
    warning: str = ""
    status: Any = "SUCCESS"
    kept: bool = False


def ok(author: str = "response", **fields: Any) -> Expected:
    return Expected("ok", 0, author, "completed", **fields)


def check(run: Run, expected: Expected) -> None:
    outcome = run.outcome
    assert (outcome["verdict"], outcome["kind"]) == (expected.verdict, expected.kind), outcome
    assert run.code == outcome["exit_code"] == expected.code, outcome
    assert (outcome["result_author"], outcome["status"]) == (expected.author, expected.status)
    assert expected.reason in outcome["reason"]
    if expected.warning:
        assert any(expected.warning in warning for warning in outcome["warnings"]), outcome["warnings"]
    beside = run.result.with_name("u1.response.md")
    assert (outcome["response_path"] == str(beside)) == beside.exists() == expected.kept
    if expected.author == "fallback":
        assert run.document.startswith("# u1 result (FALLBACK, Agy wrote no final result)\n")
        assert outcome["reason"] in run.document.split("\n")[1]


CASES: dict[str, tuple[list[dict[str, Any]], Expected]] = {
    # Rule 1: the last that carries each.
    "an error, then a success": (
        [say(), failed("some error"), result(), do("exit", code=0)],
        ok(),
    ),
    "a success, then an error": (
        [say(), result(), failed("a later error")],
        Expected("error", 1, reason="ERROR: a later error", status="ERROR"),
    ),
    "a success, then an error without a response": (
        [say(), result(), result(..., "ERROR", error="a later error")],
        Expected("error", 70, reason="ERROR: a later error", status="ERROR", kept=True),
    ),
    "a later event without a status": (
        [say(), result(), result("A note after the report.", status=..., usage=...)],
        ok(),
    ),
    "a later blank event without a status": ([say(), result(), result("", status=...)], ok()),
    "a later status with a blank response": (
        [say(), result(), result(" \ufeff\n")],
        Expected("silent", 70),
    ),
    "an error that only the first event carries": (
        [say(), failed("the first one"), result("", status="ERROR")],
        Expected("error", 1, reason="the first one", status="ERROR"),
    ),
    # Rule 2: what is success.
    "no status": ([say(), result(status=...)], ok(status=None)),
    "a blank status": ([say(), result(status=" \n")], ok(status="")),
    "a success in lower case": ([say(), result(status="  success ")], ok(status="success")),
    "a status of null": (
        [say(), result(status=None)],
        Expected("error", 70, reason="status null", status="null", kept=True),
    ),
    "a number for a status": (
        [say(), result(status=0)],
        Expected("error", 70, reason="status 0", status="0", kept=True),
    ),
    "false for a status": (
        [say(), result(status=False)],
        Expected("error", 70, reason="status false", status="false", kept=True),
    ),
    "another word for a status": (
        [say(), result(status="PARTIAL")],
        Expected("error", 70, reason="status PARTIAL", status="PARTIAL", kept=True),
    ),
    # Rule 3: how it ended.
    "a result and exit 1": (
        [say(), result(), do("exit", code=1)],
        Expected("crashed", 1, reason="Agy exited with code 1", kept=True),
    ),
    "no result and exit 3": (
        [say("Half of it."), do("exit", code=3)],
        Expected("crashed", 3, reason="Agy exited with code 3", status=None),
    ),
    "exit 9 without a word": (
        [do("exit", code=9)],
        Expected("crashed", 9, reason="Agy exited with code 9", status=None),
    ),
    "an own file and exit 1": (
        [OWN_FILE, say("done"), result("done"), do("exit", code=1)],
        Expected("crashed", 1, "worker", reason="Agy exited with code 1", kept=True),
    ),
    # Rule 4: an answer that is none.
    "a success without a response": ([say(), result("")], Expected("silent", 70)),
    "a response of null": ([say(), result(response=None)], Expected("silent", 70)),
    "a response that is no text": ([say(), result(response={"text": ANSWER})], Expected("silent", 70)),
    "a short response": (
        [say("ok")],
        Expected("short", 70, reason="implausibly short", kept=True),
    ),
    "a short response after a quota stop on stderr": (
        [do("stderr", text=f"error: {STOP}"), say("I will look")],
        Expected("quota", 70, reason="implausibly short", kept=True),
    ),
    "an own file beside a short response": ([OWN_FILE, say("done")], ok("worker", kept=True)),
    "an own file without a response": ([OWN_FILE, result("")], ok("worker")),
    "an own file without a result event": ([OWN_FILE, do("exit", code=0)], ok("worker", status=None)),
    "an own file that is blank": (
        [do("write", text=" \ufeff\n\n"), result("")],
        Expected("silent", 70),
    ),
    "nothing but init": ([do("exit", code=0)], Expected("silent", 70, reason="without a final", status=None)),
    "no turns, no response": ([result("", num_turns=0)], Expected("silent", 70)),
    "no turns, yet a response": ([say(), result(num_turns=0)], ok(warning="no turns")),
    # Rule 5: the print timeout.
    "the notice beside a success": (
        [say(), do("stderr", text=NOTICE)],
        Expected("timeout", 124, reason="print timeout", kept=True),
    ),
    "the notice beside an own file": (
        [OWN_FILE, say(), do("stderr", text=NOTICE)],
        Expected("timeout", 124, "worker", reason="print timeout", kept=True),
    ),
    "an old version's timeout": (
        [say("The first half of it is this."), failed("timeout waiting for response")],
        Expected("timeout", 124, reason="timeout waiting for response", status="ERROR"),
    ),
    "an old version's timeout with a partial text": (
        [say(), failed("timeout waiting for response", ANSWER)],
        Expected("timeout", 124, reason="print timeout", status="ERROR", kept=True),
    ),
    # Rule 7: permissions.
    "a denial with a response": (
        [say(), result(denied_actions=[{"action": "command"}])],
        ok(warning="denied: command"),
    ),
    "a denial beside an own file": (
        [OWN_FILE, say("done"), result("", denied_actions=["command"])],
        ok("worker", warning="denied: command"),
    ),
    "a denial without a response": (
        [say("I would like to run it."), result("", denied_actions=["command", {"action": "write"}])],
        Expected("denied", 70, reason="denied command, write"),
    ),
    "a denial with a short response": (
        [say("no"), result("no", denied_actions=["command"])],
        Expected("denied", 70, reason="denied command", kept=True),
    ),
    "a refused tool step": (
        [
            do("tool", error='permission check failed for command "touch x": it was auto-denied'),
            result(""),
        ],
        Expected("denied", 70, reason="denied run_command"),
    ),
    "a refused tool step with a response": (
        [do("tool", error='permission check failed for command "touch x"'), say()],
        ok(warning="denied: run_command"),
    ),
    "a file's own permission error": (
        [do("tool", error="open /etc/shadow: permission denied"), result("")],
        Expected("silent", 70),
    ),
    # Causes, and words that are none.
    "nothing but words on stderr": (
        [do("stderr", text="error: RESOURCE_EXHAUSTED (code 429): check quota"), do("exit", code=0)],
        Expected("capacity", 70, reason="RESOURCE_EXHAUSTED", status=None),
    ),
    "a quota stop and an exit code": (
        [say(), do("quota")],
        Expected("quota", 3, reason="Individual quota", status="ERROR"),
    ),
    "a quota stop ahead of a sign-in": (
        [
            do("stderr", text="error: Authentication required. Please sign in again."),
            failed(STOP),
            do("exit", code=5),
        ],
        Expected("quota", 5, status="ERROR"),
    ),
    "a sign-in ahead of the network": (
        [do("stderr", text="error: connection refused"), failed("UNAUTHENTICATED (code 401): no")],
        Expected("auth", 1, status="ERROR"),
    ),
    "a mistake of the caller's own": (
        [failed("--model m conflicts with --effort=low"), do("exit", code=1)],
        Expected("error", 1, reason="conflicts with", status="ERROR"),
    ),
    "interrupted inside agy": (
        [say("Half."), failed("interrupted"), do("exit", code=1)],
        Expected("error", 1, reason="interrupted", status="ERROR"),
    ),
    "noise on stderr beside a success": (
        [do("stderr", text=f"error: {STOP}"), do("stderr", text="Error: connection refused"), say()],
        ok(),
    ),
    "words in the answer": ([say(QUOTA_WORDS)], ok()),
    "words in the answer of a crash": (
        [say(QUOTA_WORDS), result(QUOTA_WORDS), do("exit", code=4)],
        Expected("crashed", 4, kept=True),
    ),
    "words in a tool's output of a crash": (
        [do("tool", output=f"error: {STOP}"), do("exit", code=4)],
        Expected("crashed", 4, status=None),
    ),
    "words of another program on stderr": (
        [python("import sys; sys.stderr.write(sys.argv[1])", f"npm: {STOP}\n"), do("exit", code=4)],
        Expected("crashed", 4, status=None),
    ),
    # The stream.
    "a whole result without a line feed": (
        [
            do(
                "raw",
                text='{"event":"result","result":{"response":"As long as it has to be."}}',
                newline=False,
            ),
            do("exit", code=0),
        ],
        ok(status=None),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_comes_to_its_verdict(name: str, lab: Lab) -> None:
    steps, expected = CASES[name]
    check(lab.plays(*steps).dispatch(), expected)


@pytest.mark.parametrize("code", [2, 70, 75, 124, 129, 130, 143])
def test_a_worker_s_exit_code_that_is_also_prun_s_own_becomes_70_and_the_reason_tells_it(
    code: int, lab: Lab
) -> None:
    run = lab.plays(say(), result(), do("exit", code=code)).dispatch()
    check(run, Expected("crashed", 70, reason=f"Agy exited with code {code}", kept=True))
    assert run.outcome["worker_exit"] == code


def test_an_own_code_is_told_also_where_another_reason_stands_first(lab: Lab) -> None:
    run = lab.plays(failed(STOP), do("exit", code=75)).dispatch()
    check(run, Expected("quota", 70, reason="Agy exited with code 75", status="ERROR"))


@pytest.mark.skipif(not REAL_SIGNALS, reason="needs signals")
@pytest.mark.parametrize(("number", "code"), [(6, 134), (9, 137), (15, 70), (2, 70)])
@pytest.mark.parametrize("answered", [True, False], ids=["after a result", "without one"])
def test_a_worker_that_dies_of_a_signal_has_failed_whatever_its_stream_says(
    number: int, code: int, *, answered: bool, lab: Lab
) -> None:
    steps = [say(), *([result()] if answered else []), do("signal", number=number)]
    run = lab.plays(*steps).dispatch()
    status = "SUCCESS" if answered else None
    reason = f"Agy was killed by signal {number}"
    check(run, Expected("crashed", code, reason=reason, status=status, kept=answered))
    assert (run.outcome["worker_exit"], run.outcome["worker_signal"]) == (None, number)


def test_a_plan_that_ran_without_asking_is_told_of(lab: Lab) -> None:
    run = lab.plays(say(), account=PLAN_BUT_FREE).dispatch("u1", "--mode", "plan")
    check(run, ok(warning="plan was asked for, but Agy ran with always-proceed"))


def test_a_plan_that_asked_has_no_warning(lab: Lab) -> None:
    run = lab.plays(say()).dispatch("u1", "--mode", "plan")
    check(run, ok())
    assert run.outcome["warnings"] == []


def test_the_quota_stop_that_was_met_is_in_the_outcome(lab: Lab) -> None:
    stop = lab.plays(say(), do("quota", reset_s=2047.0)).dispatch().outcome["quota"]
    assert stop["group"] == "gemini"
    assert "Individual quota" in stop["text"]
    assert stop["resets_at"].endswith("Z")


def test_the_denials_and_the_figures_that_agy_tells_are_in_the_outcome(lab: Lab) -> None:
    told = {"usage": {"input_tokens": 11, "output_tokens": 7}, "num_turns": 3}
    denied = [{"action": "command", "display_name": "RunCommand"}]
    steps = [say(), result(num_turns=1, usage={"input_tokens": 5}), result(denied_actions=denied, **told)]
    outcome = lab.plays(*steps).dispatch().outcome
    assert (outcome["usage"], outcome["num_turns"]) == (told["usage"], 3)
    assert outcome["denied_actions"] == denied
