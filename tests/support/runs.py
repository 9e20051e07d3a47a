"""Streams, stderr and logs as agy writes them, made into what a judge is given."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from prun.core.agy_log import LogFindings, LogReader
from prun.core.complaints import Complaints, StderrReader
from prun.core.ending import Ending, Exited
from prun.core.evidence import Evidence
from prun.core.transcript import Transcript, read
from prun.core.verdict import judge

if TYPE_CHECKING:
    from prun.core.verdict import Judgement

NOW = datetime(2026, 9, 17, 12, 0, tzinfo=UTC)
CONVERSATION = "5e0c0b1a-0000-4000-8000-000000000001"
ANSWER = "# u result\nConclusion: all of it is done\n"
QUOTA = "Individual quota reached. Please upgrade your subscription to increase your limits. Resets in 34m7s."
QUOTA_429 = f"API error (attempt 5): RESOURCE_EXHAUSTED (code 429): {QUOTA}"
CHECK_QUOTA = "RESOURCE_EXHAUSTED (code 429): Resource has been exhausted (e.g. check quota)."
CREDITS = "Your AI credits balance is too low to continue."
BUSY = "UNAVAILABLE (code 503): No capacity available for model m on the server"
NETWORK = "There was a network issue connecting to the server, please try again. (response may be truncated)"
REVOKED = "UNAUTHENTICATED (code 401): the stored sign-in was rejected by the server"
BAD_MODEL = 'invalid model selection (--model "x" --effort ""): model x is not recognized as a known model'
CONFLICT = "--model gemini-3.1-pro-high conflicts with --effort=medium"
CUT = "[agy] print timeout after 5s with turn in progress; returning partial output"
DENIAL = 'jetski: no output produced — a tool required the "command" permission, so it was auto-denied.'
NOT_FOUND = 'warning: conversation "5e0c0b1a-0000-4000-8000-000000000009" not found'
DENIED = [{"action": "command", "display_name": "RunCommand"}]


DONE = Exited(0)


def init(conversation: str = CONVERSATION, **fields: Any) -> dict[str, Any]:
    return {"event": "init", "conversation_id": conversation, "init": {"cwd": "/w", "tools": [], **fields}}


def result(response: str | None = ANSWER, **fields: Any) -> dict[str, Any]:
    """Return a result event; a field given as ``...`` is left out."""
    body = {"conversation_id": CONVERSATION, "status": "SUCCESS", "response": response, "num_turns": 1}
    kept = {name: value for name, value in {**body, **fields}.items() if value is not ...}
    return {"event": "result", "result": kept}


def failed(error: str, response: str = "", **fields: Any) -> dict[str, Any]:
    return result(response, **{"status": "ERROR", "error": error, **fields})


def step(index: int, state: str, step_type: str, **fields: Any) -> dict[str, Any]:
    where = {"conversation_id": CONVERSATION, "step_index": index, "state": state, "step_type": step_type}
    return {"event": "step_update", "step_update": {**where, **fields}}


def said(text: str) -> dict[str, Any]:
    return step(2, "ACTIVE", "agent_response", text_delta=text)


def refused(tool: str) -> dict[str, Any]:
    message = f'permission check failed for command "touch x": {DENIAL}'
    info = {"name": tool, "error": {"type": "TOOL_ERROR", "message": message}}
    return step(3, "ERROR", "tool", tool_name=tool, tool_info=info)


def stream(*events: dict[str, Any], torn: bytes = b"") -> Transcript:
    return read([b"".join(json.dumps(event).encode() + b"\n" for event in events) + torn])


def stderr(*lines: str) -> Complaints:
    reader = StderrReader()
    reader.feed("".join(f"{line}\n" for line in lines).encode())
    return reader.found


def log(*messages: str) -> LogFindings:
    reader = LogReader()
    reader.feed("".join(f"E0710 16:10:20.298253 10 log.go:398] {message}\n" for message in messages).encode())
    return reader.found


def payload(text: str, status: str, code: int) -> str:
    return "AGY_ERROR: " + json.dumps({"short_error": text, "status": status, "error_code": code})


def evidence(transcript: Transcript, ending: Ending = DONE, **fields: Any) -> Evidence:
    return replace(Evidence(ending, NOW, "accept-edits", 20, transcript), **fields)


def judged(transcript: Transcript, ending: Ending = DONE, **fields: Any) -> Judgement:
    return judge(evidence(transcript, ending, **fields))


GOOD = stream(init(), said("working"), result())
