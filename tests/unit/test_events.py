from __future__ import annotations

import json
from typing import Any

import pytest

from prun.core.events import Event, Init, Other, Result, Step, Unrecognised, parse_line, read_delta
from prun.core.objects import PLAIN_BYTES

ID = "3f9a6c52-7d10-4e6b-9a41-0c5be1d2f001"
JUNK: list[Any] = [None, True, -1, 1.5, "", "\ud800", [], [[]], {}, {"a": 1}, 10**30]
NOTHING = Result(
    has_status=False,
    status=None,
    error=None,
    response_utf8=None,
    num_turns=None,
    duration_s=None,
    usage=None,
    denied_actions=(),
)


def line(event: Any) -> bytes:
    return json.dumps(event).encode()


def one(event: Any) -> Event:
    (found,) = parse_line(line(event))
    return found


def result(**fields: Any) -> Result:
    found = one({"event": "result", "result": fields})
    assert isinstance(found, Result)
    return found


def step(**fields: Any) -> Step:
    found = one({"event": "step_update", "step_update": fields})
    assert isinstance(found, Step)
    return found


def test_an_init_carries_its_id_at_the_top() -> None:
    inner = {"cwd": "/w", "tools": ["a"], "permission_mode": "strict", "model": "gemini-3.8-flash"}
    found = one({"event": "init", "conversation_id": ID, "init": inner})
    assert found == Init(ID, "gemini-3.8-flash", "strict", "/w")


@pytest.mark.parametrize(
    ("event", "conversation_id"),
    [
        ({"init": {"conversation_id": ID}}, ID),
        ({"conversation_id": "", "init": {"conversation_id": ID}}, ID),
        ({"conversation_id": ID, "init": {"conversation_id": "other"}}, ID),
        ({"conversation_id": ID}, ID),
        ({"conversation_id": ID, "init": []}, ID),
        ({"conversation_id": "--model"}, None),
        ({"conversation_id": "a/../b"}, None),
        ({"conversation_id": [ID]}, None),
        ({}, None),
    ],
)
def test_only_a_well_formed_id_is_taken_from_an_init(event: Any, conversation_id: str | None) -> None:
    assert one({"event": "init", **event}) == Init(conversation_id, None, None, None)


def test_a_step_carries_what_agy_says_of_it() -> None:
    info = {
        "name": "run_command",
        "parameters": {},
        "error": {"type": "TOOL_ERROR", "message": "exit status 1"},
    }
    found = step(step_index=4, state="ERROR", step_type="tool", tool_name="run_command", tool_info=info)
    assert found == Step(4, "tool", "ERROR", "", "run_command", "exit status 1")
    assert step(step_type="tool", tool_info={"name": "x", "error": "plain"}) == Step(
        None, "tool", "", "", "x", "plain"
    )
    assert step(text_delta="a\ud800\n").text == "a\ud800\n"
    assert step() == Step(None, "", "", "", None, None)


def test_a_result_carries_what_agy_says_of_a_turn() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "odd": "x"}
    found = result(
        conversation_id=ID,
        status="ERROR",
        response="half\n",
        error="interrupted",
        duration_seconds=2,
        num_turns=3,
        usage=usage,
        denied_actions=["mcp"],
    )
    assert found == Result(
        has_status=True,
        status="ERROR",
        error="interrupted",
        response_utf8=b"half\n",
        num_turns=3,
        duration_s=2.0,
        usage={"input_tokens": 1, "output_tokens": 2},
        denied_actions=("mcp",),
    )
    assert result() == NOTHING


@pytest.mark.parametrize(
    ("fields", "response"),
    [
        ({}, None),
        ({"response": 5}, None),
        ({"response": ["x"]}, None),
        ({"response": None}, b""),
        ({"response": ""}, b""),
        ({"response": " \n\t\u3000"}, b""),
        ({"response": "\ufeff"}, b""),
        ({"response": "\ufeffx"}, "\ufeffx".encode()),
        ({"response": "a\ud83d"}, "a\ufffd".encode()),
    ],
)
def test_a_response_is_text_or_blank_or_not_there(fields: dict[str, Any], response: bytes | None) -> None:
    assert result(**fields).response_utf8 == response


@pytest.mark.parametrize("status", [None, "", "SUCCESS", 0, False, 1.5, [], {"code": 1}])
def test_a_status_is_kept_raw_and_known_to_be_there(status: Any) -> None:
    found = result(status=status)
    assert found.has_status
    assert found.status == status
    assert type(found.status) is type(status)


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ({"event": "command_result", "command": {"name": "usage"}}, Other("command_result")),
        ({"event": "later", "later": 1}, Other("later")),
        ({"event": ""}, Other("")),
        ({"event": "result"}, Unrecognised(19, began=False)),
        ({"event": "result", "result": "x"}, Unrecognised(34, began=False)),
        ({"event": "step_update", "step_update": []}, Unrecognised(43, began=False)),
        ({"event": 1}, Unrecognised(12, began=False)),
        ({"type": "result"}, Unrecognised(18, began=False)),
        ({}, Unrecognised(2, began=False)),
    ],
)
def test_an_object_of_another_kind_is_passed_over(event: Any, found: Event) -> None:
    assert one(event) == found


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "event",
    [
        {
            "event": "init",
            "conversation_id": ID,
            "init": {"model": "m", "cwd": "/", "permission_mode": "strict"},
        },
        {
            "event": "step_update",
            "step_update": {
                "step_index": 1,
                "state": "ERROR",
                "step_type": "tool",
                "text_delta": "x",
                "tool_name": "t",
                "tool_info": {"name": "t", "error": {"message": "m"}},
            },
        },
        {
            "event": "result",
            "result": {
                "status": "SUCCESS",
                "response": "r",
                "error": "e",
                "duration_seconds": 1,
                "num_turns": 1,
                "usage": {"n": 1},
                "denied_actions": [{"action": "a"}],
            },
        },
    ],
    ids=["init", "step", "result"],
)
def test_a_value_of_any_type_in_any_place_is_read(event: dict[str, Any], junk: Any) -> None:
    def everywhere(value: Any) -> list[Any]:
        if not isinstance(value, dict):
            return [junk]
        return [junk, *({**value, key: other} for key, inner in value.items() for other in everywhere(inner))]

    for altered in everywhere(event):
        for pad in (b"", b" " * PLAIN_BYTES):
            (found,) = parse_line(line(altered) + pad) or (None,)
            if isinstance(altered, dict):
                assert isinstance(found, Init | Step | Result | Other | Unrecognised)


@pytest.mark.parametrize(
    "data",
    [b"", b" ", b"\r", b"\t \r"],
)
def test_a_blank_line_has_no_events(data: bytes) -> None:
    assert parse_line(data) == ()


@pytest.mark.parametrize(
    ("data", "began"),
    [
        (b"jetski: no output produced", False),
        (b"\x00\xff\xfe", False),
        (b"\x1b[0m", False),
        (b'{"event":"result","result":{"status":"SUCC', True),
        (b"{" * 1_000_000, True),
        (b"[" * 200_000, False),
        (b'{"a":' + b"[" * 200_000, True),
        (b"{oops}", True),
    ],
)
def test_anything_else_is_unrecognised(data: bytes, began: bool) -> None:
    assert parse_line(data) == (Unrecognised(len(data), began),)


@pytest.mark.parametrize(
    "extra",
    [
        b"1" * 5000,
        b"-" + b"1" * 5000,
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"[" * 100_000 + b"]" * 100_000,
        b'"\\ud800"',
    ],
    ids=["long number", "negative", "NaN", "Infinity", "1e999", "deep", "surrogate"],
)
def test_no_strange_value_loses_the_event(extra: bytes) -> None:
    for place in (b'"usage":{"n":%b},', b'"num_turns":%b,', b'"new":%b,'):
        data = (
            b'{"event":"result","result":{' + place % extra + b'"status":"SUCCESS","response":"all of it"}}'
        )
        (found,) = parse_line(data)
        assert isinstance(found, Result)
        assert (found.status, found.response_utf8) == ("SUCCESS", b"all of it")
        assert found.num_turns is None


def test_several_events_on_a_line_are_all_read() -> None:
    first, second = line({"event": "init", "conversation_id": ID}), line({"event": "x"})
    found = parse_line(b"\xef\xbb\xbf\x1b]0;t\x07" + first + b"noise" + second + b'{"event":"res')
    assert [type(event) for event in found] == [Init, Other, Unrecognised]


@pytest.mark.parametrize("field", ["response", "error", "status", "text_delta", "output"])
def test_a_huge_value_is_read_in_any_field(field: str) -> None:
    text = "line of €\n" * 100_000
    name = "step_update" if field in {"text_delta", "output"} else "result"
    (found,) = parse_line(line({"event": name, name: {field: text, "usage": {"n": 1}, "step_index": 1}}))
    if isinstance(found, Result):
        assert found.usage == {"n": 1}
        assert field != "response" or found.response_utf8 == text.encode()
        assert field != "error" or (found.error or "").startswith("line of €\nline")
    else:
        assert isinstance(found, Step)
        assert found.index == 1
        assert field != "text_delta" or (text.endswith(found.text) and len(found.text) > 100_000)


DELTA = (
    '{"event":"step_update","step_update":{"conversation_id":"a-1","step_index":12,"state":"ACTIVE",'
    '"step_type":"agent_response","text_delta":"caf\\u00e9 \\"x\\"\\n"}}'
)


def test_agys_own_spelling_of_a_delta_is_read_the_short_way() -> None:
    assert read_delta(DELTA.encode()) == Step(12, "agent_response", "ACTIVE", 'café "x"\n', None, None)


@pytest.mark.parametrize(
    "data",
    [
        DELTA + " ",
        DELTA + DELTA,
        DELTA[:-1],
        DELTA[:-3] + '","text_delta":"later"}}',
        DELTA[:-2] + ',"state":"DONE"}}',
        DELTA[:-1] + ',"event":"result"}',
        DELTA.replace("12", "012"),
        DELTA.replace("12", "1234567890"),
        DELTA.replace("12", "-1"),
        DELTA.replace("\\n", "\\x"),
        DELTA.replace("agent_response", "tool"),
        DELTA.replace("ACTIVE", "active"),
        " " + DELTA,
    ],
)
def test_any_other_spelling_goes_the_general_way(data: str) -> None:
    assert read_delta(data.encode()) is None
