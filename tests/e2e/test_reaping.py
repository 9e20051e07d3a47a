"""When a dispatcher ends its worker of its own accord, and when it lets it be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.processes import until
from tests.support.scenes import ANSWER, STOP, do, result, say

if TYPE_CHECKING:
    from tests.support.lab import Lab

IDLE_S = 3
DEADLINE = {"ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": "1", "PRUN_REAP_GRACE_SECONDS": "1"}
HALF = "The cause is in the reader of the last line;"


def test_a_worker_that_prints_nothing_for_the_idle_time_is_ended_as_stalled(lab: Lab) -> None:
    lab.plays(say(HALF), do("hang"))
    run = lab.dispatch(env={"PRUN_REAP_IDLE_SECONDS": "1"})
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (124, "failed", "stalled")
    assert (outcome["tree"], outcome["result_author"]) == ("gone", "fallback")
    assert HALF in run.document
    assert outcome["duration_s"] < 2700


def test_growth_of_stderr_or_log_alone_counts_as_life(lab: Lab) -> None:
    def murmurs(step: str) -> list[dict[str, object]]:
        return [do(step, text="still at it"), do("sleep", seconds=0.2)] * (5 * IDLE_S + 5)

    turns = {"the log": murmurs("log"), "stderr": murmurs("stderr")}
    lab.plays_by_prompt({name: [*steps, say()] for name, steps in turns.items()}, preflight="auto")
    idle = {"PRUN_REAP_IDLE_SECONDS": str(IDLE_S)}
    first = lab.start("u1", prompt="Write to the log.", env=idle)
    second = lab.start("u2", prompt="Write to stderr.", env=idle)
    runs = [lab.finish(first, "u1"), lab.finish(second, "u2")]
    assert [run.outcome["kind"] for run in runs] == ["ok", "ok"]
    assert all(run.outcome["duration_s"] > IDLE_S for run in runs)


def test_the_hard_deadline_is_the_timeout_and_the_grace_together(lab: Lab) -> None:
    lab.plays(say(HALF), do("hang"))
    outcome = lab.dispatch(env=DEADLINE).outcome
    assert outcome["kind"] == "timeout"
    assert outcome["reason"].startswith("hard-timeout: Agy still ran after 2 s")
    assert outcome["duration_s"] >= 2.0


def test_a_waiting_note_followed_by_more_work_is_no_result_at_the_hard_deadline(lab: Lab) -> None:
    note = "I have started it and am waiting."
    lab.plays(say(note), result(note), do("tool", name="sleep", open=True), do("hang"))
    run = lab.dispatch(env=DEADLINE)
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (124, "failed", "timeout")
    assert (outcome["status"], outcome["result_author"]) == ("SUCCESS", "fallback")
    kept = run.result.parent / "u1.response.md"
    assert kept.read_text(encoding="utf-8") == note + "\n"


def test_a_result_that_stands_at_the_hard_deadline_completes_the_unit_with_a_warning(lab: Lab) -> None:
    lab.plays(say(), result(), do("linger"))
    run = lab.dispatch(env={**DEADLINE, "PRUN_REAP_GRACE_SECONDS": "0"})
    outcome = run.outcome
    assert (run.code, outcome["kind"], outcome["tree"]) == (0, "ok", "gone")
    assert any(warning.startswith("lingering: ") for warning in outcome["warnings"])
    assert run.document == ANSWER + "\n"
    assert lab.strays() == []


def test_an_error_that_stands_while_agy_lingers_is_that_error(lab: Lab) -> None:
    lab.plays(result("", "ERROR", error="invalid --effort"), do("linger"))
    run = lab.dispatch(env={**DEADLINE, "PRUN_REAP_GRACE_SECONDS": "0"})
    assert (run.code, run.outcome["kind"]) == (70, "error")


def test_a_quota_stop_that_agy_retries_against_in_silence_is_ended_early(lab: Lab) -> None:
    retried = do("log", text=f"Run: attempt 1 failed ({STOP}), retrying in 1m")
    lab.plays(say(HALF), retried, do("hang"), preflight="auto")
    run = lab.dispatch()
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (70, "failed", "quota")
    assert outcome["quota"]["group"] == "gemini"
    assert "Individual quota" in outcome["quota"]["text"]
    assert HALF in run.document


def test_a_worker_that_gets_through_a_logged_quota_stop_is_not_ended_when_it_pauses(lab: Lab) -> None:
    retried = do("log", text=f"Run: attempt 1 failed ({STOP}), retrying in 1s")
    got_through = [step for _ in range(8) for step in (say("On it. "), do("sleep", seconds=0.15))]
    lab.plays(retried, *got_through, do("sleep", seconds=3.5), say(), preflight="auto")
    run = lab.dispatch()
    assert (run.code, run.outcome["kind"], run.outcome["quota"]) == (0, "ok", None), run.outcome


def test_a_worker_goes_on_after_a_quota_stop_of_a_subagent(lab: Lab) -> None:
    said = do("log", text=f"agent executor error: {STOP}")
    lab.plays(said, do("sleep", seconds=3.0), say(), preflight="auto")
    run = lab.dispatch()
    assert (run.code, run.outcome["kind"], run.outcome["quota"]) == (0, "ok", None), run.outcome


@pytest.mark.smoke
def test_a_cancel_request_ends_the_worker(lab: Lab) -> None:
    lab.plays(do("spawn", group="setsid"), say(HALF), do("hang"))
    dispatcher = lab.start()
    until(lambda: HALF in lab.tail())
    (lab.state_dir() / "cancel").touch()
    run = lab.finish(dispatcher)
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (70, "cancelled", "cancelled")
    assert (outcome["tree"], outcome["status"], outcome["result_author"]) == ("gone", None, "fallback")
    assert HALF in run.document
    assert lab.strays() == []
