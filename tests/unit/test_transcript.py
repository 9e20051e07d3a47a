from __future__ import annotations

import json
from typing import Any

import pytest

from prun.core.framing import LINE_BYTES
from prun.core.steps import LastStep, RefusedTool
from prun.core.transcript import Reader, Transcript, read

ID = "3f9a6c52-7d10-4e6b-9a41-0c5be1d2f001"


def line(event: Any) -> bytes:
    return json.dumps(event).encode() + b"\n"


def init(conversation_id: Any = ID, **fields: Any) -> bytes:
    return line({"event": "init", "conversation_id": conversation_id, "init": fields})


def step(index: int | None, state: str, step_type: str, **fields: Any) -> bytes:
    where = {} if index is None else {"step_index": index}
    return line(
        {"event": "step_update", "step_update": {**where, "state": state, "step_type": step_type, **fields}}
    )


def tool(index: int | None, state: str, name: str = "run_command", message: str | None = None) -> bytes:
    info = (
        {"name": name}
        if message is None
        else {"name": name, "error": {"type": "TOOL_ERROR", "message": message}}
    )
    return step(index, state, "tool", tool_name=name, tool_info=info)


def said(text: str, index: int = 2) -> bytes:
    return step(index, "ACTIVE", "agent_response", text_delta=text)


def result(**fields: Any) -> bytes:
    return line({"event": "result", "result": fields})


def test_an_empty_stream_tells_nothing() -> None:
    assert read([]) == Transcript()
    assert read([b"", b"\n\n"]) == Transcript()
    assert not Transcript().result_stands


@pytest.mark.parametrize(
    ("results", "status", "response"),
    [
        ([{"status": "SUCCESS", "response": "a"}], "SUCCESS", "a"),
        (
            [{"status": "SUCCESS", "response": "I wait."}, {"status": "SUCCESS", "response": "report"}],
            "SUCCESS",
            "report",
        ),
        ([{"status": "SUCCESS", "response": "a"}, {"response": "b"}], "SUCCESS", "b"),
        ([{"status": "SUCCESS", "response": "a"}, {}], "SUCCESS", "a"),
        ([{"status": "SUCCESS", "response": "a"}, {"response": ""}], "SUCCESS", "a"),
        ([{"status": "SUCCESS", "response": "a"}, {"response": None}], "SUCCESS", "a"),
        ([{"status": "SUCCESS", "response": "a"}, {"status": "SUCCESS", "response": ""}], "SUCCESS", None),
        (
            [{"status": "SUCCESS", "response": "a"}, {"status": "SUCCESS", "response": " \ufeff"}],
            "SUCCESS",
            None,
        ),
        ([{"status": "SUCCESS", "response": "a"}, {"status": "ERROR", "response": None}], "ERROR", None),
        ([{"status": "SUCCESS", "response": "a"}, {"status": "ERROR"}], "ERROR", "a"),
        ([{"status": "SUCCESS", "response": "a"}, {"status": "ERROR", "response": 7}], "ERROR", "a"),
        ([{"status": "SUCCESS", "response": ""}, {"response": "late"}], "SUCCESS", "late"),
        ([{"status": "ERROR", "response": ""}, {"status": "SUCCESS", "response": "b"}], "SUCCESS", "b"),
        ([{"response": "a"}, {"status": "SUCCESS"}], "SUCCESS", "a"),
        ([{"status": "SUCCESS", "response": "a"}, {"status": None, "response": "b"}], None, "b"),
        (
            [{"status": "SUCCESS", "response": "a"}, {"status": {"code": 1}, "response": "b"}],
            {"code": 1},
            "b",
        ),
    ],
)
def test_status_and_response_are_the_last_that_stand(
    results: list[dict[str, Any]], status: Any, response: str | None
) -> None:
    found = read([result(**fields) for fields in results])
    assert (found.status, found.response) == (status, response)
    assert found.has_status
    assert found.result_stands


def test_a_result_without_a_status_is_seen_but_does_not_stand() -> None:
    found = read([result(response="a", num_turns=1)])
    assert found.result_seen
    assert not found.has_status
    assert not found.result_stands
    assert found.response == "a"


def test_a_result_stands_until_a_step_follows_it() -> None:
    waits, works = result(status="SUCCESS", response="I wait."), step(4, "ACTIVE", "tool", tool_name="sleep")
    assert not read([waits, works]).result_stands
    assert not read([waits, works, result(response="b")]).result_stands
    assert read([waits, result(response="b")]).result_stands
    assert read([waits, works, result(status="ERROR")]).result_stands


def test_an_error_stays_until_a_later_one() -> None:
    first = result(status="ERROR", error="quota")
    assert read([first, result(status="ERROR", error=" ")]).error == "quota"
    assert read([first, result(usage={})]).error == "quota"
    assert read([first, result(error="network")]).error == "network"


def test_figures_are_assigned_and_never_summed() -> None:
    found = read(
        [
            result(status="SUCCESS", num_turns=1, duration_seconds=2.5, usage={"total_tokens": 10}),
            result(status="SUCCESS", num_turns=2, duration_seconds=4, usage={"total_tokens": 30}),
            result(num_turns="3", usage=[1], duration_seconds=-1),
        ]
    )
    assert (found.num_turns, found.duration_s, found.usage) == (2, 4.0, {"total_tokens": 30})


def test_what_a_first_init_told_stays_and_a_later_one_adds_to_it() -> None:
    found = read(
        [init("-bad", cwd="/a"), init(ID, cwd="/b", model="m"), init("other", permission_mode="strict")]
    )
    assert (found.conversation_id, found.cwd, found.model, found.permission_mode) == (ID, "/a", "m", "strict")


def test_denials_of_all_turns_are_kept() -> None:
    found = read(
        [result(denied_actions=["mcp"]), result(denied_actions=["mcp", {"action": "command"}]), result()]
    )
    assert found.denied_actions == ("mcp", {"action": "command"})


def test_a_refused_tool_is_told_from_one_that_failed() -> None:
    refusal = 'permission check failed for command "x":\nnot allowed'
    found = read(
        [
            tool(3, "ERROR", message="touch: /x: Permission denied"),
            tool(4, "ACTIVE"),
            tool(4, "ERROR", message=refusal),
            tool(4, "ERROR", message=refusal),
            tool(5, "DONE", "view_file", message=refusal),
            tool(6, "ERROR", "view_file", message=refusal),
        ]
    )
    line = 'permission check failed for command "x": not allowed'
    assert found.refused_tools == (RefusedTool("run_command", line), RefusedTool("view_file", line))


def test_refusals_are_bounded() -> None:
    found = read(
        [tool(n, "ERROR", message="permission check failed for x " + "y" * 9999) for n in range(300)]
    )
    assert len(found.refused_tools) == 100
    assert len(found.refused_tools[0].message) <= 300


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        ([], 0),
        ([tool(3, "ACTIVE"), tool(3, "DONE")], 1),
        ([tool(3, "DONE"), tool(5, "ACTIVE"), tool(5, "ERROR")], 2),
        ([tool(3, "ACTIVE"), tool(4, "ACTIVE"), tool(3, "DONE"), tool(4, "DONE")], 2),
        ([tool(None, "ACTIVE"), tool(None, "DONE"), tool(None, "DONE")], 2),
        ([said("x"), step(7, "DONE", "checkpoint")], 0),
    ],
)
def test_tool_calls_are_counted_once_each(steps: list[bytes], calls: int) -> None:
    assert read(steps).tool_calls == calls


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ([tool(3, "ACTIVE")], LastStep(3, "tool", "ACTIVE", "run_command", tool_open=True)),
        ([tool(3, "ACTIVE"), tool(3, "DONE")], LastStep(3, "tool", "DONE", "run_command", tool_open=False)),
        (
            [tool(3, "ACTIVE"), result(status="SUCCESS")],
            LastStep(3, "tool", "ACTIVE", "run_command", tool_open=False),
        ),
        ([tool(3, "ACTIVE"), said("x", 4)], LastStep(4, "agent_response", "ACTIVE", None, tool_open=False)),
        ([step(1, "ACTIVE", "subagent")], LastStep(1, "subagent", "ACTIVE", None, tool_open=True)),
        ([result(), tool(9, "ACTIVE", "wait")], LastStep(9, "tool", "ACTIVE", "wait", tool_open=True)),
    ],
)
def test_the_last_step_tells_whether_a_tool_call_is_open(steps: list[bytes], last: LastStep) -> None:
    assert read(steps).last_step == last


def test_the_answer_is_salvaged_from_its_deltas_alone() -> None:
    steps = [
        said("Hello "),
        tool(3, "DONE"),
        said("there.\n"),
        step(4, "DONE", "checkpoint"),
        said("", 5),
        said("More.", 6),
    ]
    assert read(steps).salvaged == "Hello there.\n\nMore."


def test_no_more_than_the_end_of_an_answer_is_salvaged() -> None:
    deltas = [f"{n} café\n" for n in range(60_000)]
    found = read([said(delta) for delta in deltas])
    assert "".join(deltas).endswith(found.salvaged)
    assert 256 * 1024 - 3 <= len(found.salvaged.encode()) <= 256 * 1024


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_huge_delta_is_salvaged_like_many_small_ones(ascii_only: bool) -> None:
    text = "".join(f'{n} 😀 \\ "café"\n' for n in range(60_000))
    event = {
        "event": "step_update",
        "step_update": {"step_index": 2, "step_type": "agent_response", "text_delta": text},
    }
    whole = read([said("x"), json.dumps(event, ensure_ascii=ascii_only).encode() + b"\n", said("end", 3)])
    pieces = read(
        [said("x"), *(said(text[at : at + 1000]) for at in range(0, len(text), 1000)), said("end", 3)]
    )
    assert whole.salvaged == pieces.salvaged
    assert whole.salvaged.endswith('"café"\n\nend')


@pytest.mark.parametrize(
    ("last", "torn", "unrecognised"),
    [
        (b'{"event":"result","result":{"status":"SUCC', True, 1),
        (b"\xef\xbb\xbf{", True, 1),
        (b'{"event":"x"}{"eve', True, 1),
        (b'{"event":"x"}', False, 0),
        (b"logged out", False, 1),
        (b"  ", False, 0),
        (b"\xe2\x82", False, 1),
        (b"", False, 0),
    ],
)
def test_a_stream_that_breaks_off_inside_an_object_is_torn(
    last: bytes, torn: bool, unrecognised: int
) -> None:
    found = read([init(), last])
    assert (found.torn, found.unrecognised) == (torn, unrecognised)
    assert found.conversation_id == ID
    assert not read([init(), last, b"\n"]).torn


def test_a_complete_object_on_an_unterminated_last_line_counts() -> None:
    found = read([init(), result(status="SUCCESS", response="all of it").removesuffix(b"\n")])
    assert (found.status, found.response, found.torn) == ("SUCCESS", "all of it", False)


@pytest.mark.parametrize("terminated", [True, False])
def test_a_line_over_the_limit_is_unrecognised_and_the_next_one_read(terminated: bool) -> None:
    piece = b" " * (1024 * 1024)
    long = [result(status="SUCCESS").rstrip(b"\n"), *[piece] * (LINE_BYTES // len(piece))]
    found = read([*long, b"\n", init()] if terminated else [init(), *long])
    assert found == Transcript(conversation_id=ID, unrecognised=1, torn=not terminated)


def test_a_line_at_the_limit_is_read() -> None:
    event = result(status="SUCCESS", response="x" * 100).rstrip(b"\n")
    found = read([event, b" " * (LINE_BYTES - len(event)), b"\n"])
    assert found.response == "x" * 100


def test_a_reader_tells_at_any_time_what_it_has_read() -> None:
    reader = Reader()
    assert reader.transcript() == Transcript()
    reader.feed(init()[:-1])
    assert reader.transcript() == Transcript()
    reader.feed(b"\n" + result(status="SUCCESS", response="a"))
    first = reader.transcript()
    assert first.result_stands
    assert reader.transcript() is first
    reader.feed(result(status="ERROR", response="b"))
    reader.finish()
    reader.finish()
    assert first.response == "a"
    assert reader.transcript().response == "b"


def test_unrecognised_lines_are_counted() -> None:
    assert read([b"noise\n", init(), b"\n", b'{"x":1}\n', b"{broken}\n"]).unrecognised == 3
