"""One line of agy's event stream as events; reading is total."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from prun.core.blank import is_blank_text
from prun.core.denials import Denial, read_denials
from prun.core.fields import (
    PATH_CHARACTERS,
    WORD_CHARACTERS,
    clipped,
    conversation_id,
    count,
    counts,
    message,
    seconds,
    status,
    word,
)
from prun.core.objects import PLAIN_BYTES, objects_on
from prun.core.plain import utf8
from prun.core.skim import Broken, Keep, Shape
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

SHAPE: Mapping[str, Shape] = {
    "event": Keep.HEAD,
    "conversation_id": Keep.HEAD,
    "init": dict.fromkeys(("conversation_id", "model", "permission_mode", "cwd"), Keep.HEAD),
    "step_update": {
        **dict.fromkeys(("step_index", "state", "step_type", "tool_name"), Keep.HEAD),
        "text_delta": Keep.TAIL,
        "tool_info": {"name": Keep.HEAD, "error": {"message": Keep.HEAD}},
    },
    "result": {
        **dict.fromkeys(("status", "num_turns", "duration_seconds", "usage", "denied_actions"), Keep.HEAD),
        "error": {"message": Keep.HEAD},
        "response": Keep.WHOLE,
    },
}

# How nearly every line begins; any other spelling of the same goes the general way.
_DELTA = re.compile(
    rb'\{"event":"step_update","step_update":\{"conversation_id":"[A-Za-z0-9._-]*+",'
    rb'"step_index":(0|[1-9][0-9]{0,8}),"state":"([A-Z]{1,20})","step_type":"agent_response","text_delta":(?=")'
)
_DELTA_END = "}}"
_decode = json.JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True, slots=True)
class Init:
    """The stream's beginning; what was not told, or not in a form to be used, is ``None``."""

    conversation_id: str | None
    model: str | None
    permission_mode: str | None
    cwd: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """One step as it stands; agy sends a step again under its *index* until it is ``DONE`` or ``ERROR``.

    *text* is the delta, of a huge one its end; *error* is the message of a tool that failed.
    """

    index: int | None
    step_type: str
    state: str
    text: str
    tool_name: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a turn; *response_utf8* is ``None`` where the event has none, empty where that is blank."""

    has_status: bool
    status: Any
    error: str | None
    response_utf8: bytes | None
    num_turns: int | None
    duration_s: float | None
    usage: dict[str, int] | None
    denied_actions: tuple[Denial, ...]


@dataclass(frozen=True, slots=True)
class Other:
    """An event of a kind that says nothing prun needs."""

    name: str


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A line, or the rest of one, that is no event; *began* where it begins like one."""

    size_bytes: int
    began: bool


Event: TypeAlias = Init | Step | Result | Other | Unrecognised


def parse_line(data: bytes) -> tuple[Event, ...]:
    """Return the events on one line; a blank line has none."""
    delta = read_delta(data)
    if delta is not None:
        return (delta,)
    found = objects_on(data, SHAPE)
    if found:
        return tuple([_event(one, len(data)) for one in found])
    return (Unrecognised(len(data), began=False),) if data.strip() else ()


def read_delta(data: bytes) -> Step | None:
    """Return the step of a line that is one delta of the answer and nothing else, in agy's own spelling."""
    beginning = _DELTA.match(data)
    if beginning is None or len(data) > PLAIN_BYTES:
        return None
    line = data.decode("utf-8", "replace")
    try:
        text, end = _decode(line, beginning.end())
    except ValueError:
        return None
    if line[end:] != _DELTA_END:
        return None
    index, state = beginning.groups()
    return Step(int(index), "agent_response", state.decode(), text, None, None)


def _event(found: dict[str, Any] | Broken, size_bytes: int) -> Event:
    if isinstance(found, Broken):
        return Unrecognised(size_bytes, began=True)
    name = found.get("event")
    if not isinstance(name, str):
        return Unrecognised(size_bytes, began=False)
    payload = found.get(name)
    if name == "step_update" and isinstance(payload, dict):
        return _step(payload)
    if name == "result" and isinstance(payload, dict):
        return _result(payload)
    if name == "init":
        return _init(found, payload if isinstance(payload, dict) else {})
    return Unrecognised(size_bytes, began=False) if name in SHAPE else Other(clipped(name, WORD_CHARACTERS))


def _init(event: dict[str, Any], payload: dict[str, Any]) -> Init:
    return Init(
        conversation_id(event.get("conversation_id")) or conversation_id(payload.get("conversation_id")),
        word(payload.get("model")),
        word(payload.get("permission_mode")),
        word(payload.get("cwd"), PATH_CHARACTERS),
    )


def _step(payload: dict[str, Any]) -> Step:
    text = payload.get("text_delta")
    tool = payload.get("tool_info")
    info = tool if isinstance(tool, dict) else {}
    return Step(
        count(payload.get("step_index")),
        word(payload.get("step_type")) or "",
        word(payload.get("state")) or "",
        text if isinstance(text, str) else "",
        word(payload.get("tool_name")) or word(info.get("name")),
        message(info.get("error")),
    )


def _result(payload: dict[str, Any]) -> Result:
    return Result(
        has_status="status" in payload,
        status=status(payload.get("status")),
        error=message(payload.get("error")),
        response_utf8=_response(payload),
        num_turns=count(payload.get("num_turns")),
        duration_s=seconds(payload.get("duration_seconds")),
        usage=counts(payload.get("usage")),
        denied_actions=read_denials(payload.get("denied_actions")),
    )


def _response(payload: dict[str, Any]) -> bytes | None:
    response = payload.get("response", ...)
    if isinstance(response, bytes):
        return response
    if isinstance(response, str):
        return b"" if is_blank_text(response) else utf8(response)
    return b"" if response is None else None
