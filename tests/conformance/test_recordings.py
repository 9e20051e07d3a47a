"""What agy printed reads as what it meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prun.core.steps import LastStep, RefusedTool
from prun.core.transcript import Transcript, read

RECORDINGS = Path(__file__).parent / "recordings"
MARKS = {"captured", "documented", "reported"}
ID = "3f9a6c52-7d10-4e6b-9a41-0c5be1d2f001"
NOTHING_USED = dict.fromkeys(
    ("input_tokens", "output_tokens", "thinking_tokens", "cache_read_tokens", "total_tokens"), 0
)
QUOTA = (
    "RESOURCE_EXHAUSTED (code 429): Individual quota reached. "
    "Please upgrade your subscription to increase your limits. Resets in 51h12m8s."
)


def usage(sent: int, received: int, thinking: int = 0, cached: int = 0) -> dict[str, int]:
    names = NOTHING_USED.keys()
    return dict(zip(names, (sent, received, thinking, cached, sent + received), strict=True))


def ended(index: int, step_type: str, state: str = "DONE", tool: str | None = None) -> LastStep:
    return LastStep(index, step_type, state, tool, tool_open=False)


EXPECTED = {
    "answer-1.1.12": Transcript(
        conversation_id=ID,
        permission_mode="default",
        cwd="C:\\work\\bees",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response="Three hives, all of them “calm” — see §2.\n",
        num_turns=1,
        duration_s=3.9,
        usage={"total_tokens": 13870},
        last_step=ended(3, "checkpoint"),
        salvaged="Three hives, all of them “calm” — see §2.\n",
    ),
    "answer-documented": Transcript(
        conversation_id=ID,
        permission_mode="request-review",
        cwd="/home/kim/orchard",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response="The orchard has nine trees.\n",
        num_turns=1,
        duration_s=5.8,
        usage=usage(9962, 410, 380, 7702),
        last_step=ended(4, "checkpoint"),
        salvaged="The orchard has nine trees.\n",
    ),
    "tool-error-1.3.1": Transcript(
        conversation_id=ID,
        model="gemini-3.8-flash",
        permission_mode="always-proceed",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response="The check has no recipe.\n",
        num_turns=1,
        duration_s=6.2,
        usage=usage(21950, 166, 150),
        tool_calls=2,
        last_step=ended(6, "agent_response"),
        salvaged="The check has no recipe.\n",
    ),
    "denied-1.2.1": Transcript(
        conversation_id=ID,
        permission_mode="request-review",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        num_turns=1,
        duration_s=3.1,
        usage=usage(15210, 61, 20),
        denied_actions=({"action": "command", "display_name": "RunCommand"},),
        refused_tools=(
            RefusedTool(
                "run_command",
                'permission check failed for command "ruff check": not allowed in headless mode',
            ),
        ),
        tool_calls=1,
        last_step=ended(3, "tool", "ERROR", "run_command"),
        salvaged="I need to run the linter first.\n",
    ),
    "denied-1.3.1": Transcript(
        conversation_id=ID,
        model="gemini-3.8-flash",
        permission_mode="request-review",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        num_turns=1,
        duration_s=4.2,
        usage=usage(15111, 44, 12),
        denied_actions=(
            {"action": "command", "display_name": "RunCommand"},
            {"action": "read_url", "display_name": "ReadUrlContent"},
        ),
        tool_calls=1,
        last_step=ended(2, "tool", tool="run_command"),
    ),
    "quota-stop-1.2.2": Transcript(
        conversation_id=ID,
        permission_mode="request-review",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="ERROR",
        error=f"API error (attempt 5): {QUOTA}",
        num_turns=1,
        duration_s=24.1,
        usage=NOTHING_USED,
        last_step=ended(0, "user_input"),
    ),
    "quota-stop-1.2.10": Transcript(
        conversation_id=ID,
        permission_mode="always-proceed",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="ERROR",
        error=f"API error (attempt 1): {QUOTA} (response may be truncated)",
        response="Reading the two files, then ",
        num_turns=1,
        duration_s=8.0,
        usage=usage(12040, 30),
        last_step=ended(2, "agent_response", "ACTIVE"),
        salvaged="Reading the two files, then ",
    ),
    "bad-model-1.1.13": Transcript(
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="ERROR",
        error='invalid model selection (--model "gemini-9" --effort ""): model gemini-9 is not recognized '
        "as a known model or custom model in settings\n"
        "Available models:\n  gemini-3.7-flash-high\n  gemini-3.7-flash-low",
        num_turns=0,
        duration_s=0.0,
        usage=NOTHING_USED,
    ),
    "usage-command-1.1.11": Transcript(
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response="Gemini Models\tFive Hour Limit Remaining\t75%\n",
        num_turns=0,
        duration_s=0.0,
        usage=NOTHING_USED,
    ),
    "interrupted-1.3.2": Transcript(
        conversation_id=ID,
        model="gemini-3.8-flash",
        permission_mode="always-proceed",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="ERROR",
        error="interrupted",
        num_turns=1,
        duration_s=12.5,
        usage=usage(14003, 25, 9),
        tool_calls=1,
        last_step=ended(55, "tool", "ACTIVE", "run_command"),
    ),
    "print-timeout-1.1.27": Transcript(
        conversation_id=ID,
        permission_mode="request-review",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="ERROR",
        error="timeout waiting for response",
        num_turns=1,
        duration_s=300.2,
        usage=NOTHING_USED,
        last_step=ended(2, "agent_response", "ACTIVE"),
        salvaged="First, ",
    ),
    "print-timeout-1.2.10": Transcript(
        conversation_id=ID,
        permission_mode="always-proceed",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response="I will now run the tests",
        num_turns=1,
        duration_s=302.1,
        usage=usage(16001, 90, 40),
        tool_calls=1,
        last_step=ended(3, "tool", "ACTIVE", "run_command"),
        salvaged="I will now run the tests",
    ),
    "finish-tool-1.3.1": Transcript(
        conversation_id=ID,
        model="gemini-3.8-flash",
        permission_mode="always-proceed",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response='{"answer": "42"}',
        num_turns=1,
        duration_s=5.0,
        usage=usage(13000, 70, 30),
        tool_calls=1,
        last_step=ended(3, "finish", tool="finish"),
    ),
    "two-turns-1.2.9": Transcript(
        conversation_id=ID,
        permission_mode="always-proceed",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response="# hives result\nConclusion: all tests pass\n",
        num_turns=2,
        duration_s=31.0,
        usage=usage(31000, 120, 30),
        last_step=ended(7, "agent_response"),
        salvaged="The suite runs in the background; I wait for it.\n\n"
        "# hives result\nConclusion: all tests pass\n",
    ),
    "noise-1.1.27": Transcript(
        conversation_id=ID,
        permission_mode="default",
        cwd="/w",
        result_seen=True,
        result_stands=True,
        has_status=True,
        status="SUCCESS",
        response="Done, both of them.",
        num_turns=1,
        duration_s=2.0,
        usage=usage(12000, 20),
        last_step=ended(2, "agent_response"),
        salvaged="Done, both of them.",
        unrecognised=2,
    ),
    "torn-last-line": Transcript(
        conversation_id=ID,
        permission_mode="always-proceed",
        cwd="/w",
        last_step=LastStep(2, "agent_response", "ACTIVE", None, tool_open=False),
        salvaged="Nearly ",
        unrecognised=1,
        torn=True,
    ),
}


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"{name}.jsonl").read_bytes()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recording_reads_as_what_agy_meant(name: str) -> None:
    assert read([recorded(name)]) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recording_reads_the_same_byte_by_byte(name: str) -> None:
    data = recorded(name)
    assert read(data[at : at + 1] for at in range(len(data))) == EXPECTED[name]


def test_every_recording_is_expected_and_listed_with_its_mark() -> None:
    files = {path.name for path in RECORDINGS.glob("*.jsonl")}
    rows = re.findall(
        r"^\| `([^`]+\.jsonl)` \| (\w+) \|", (RECORDINGS / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert files == {f"{name}.jsonl" for name in EXPECTED} == {name for name, _mark in rows}
    assert {mark for _name, mark in rows} <= MARKS
