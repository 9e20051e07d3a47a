"""Steps for the fake's scripts, as tests spell them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ANSWER = "Conclusion: the work is done.\nFiles: none\nOpen items: none\nVerification: read twice."
STOP = "RESOURCE_EXHAUSTED (code 429): Individual quota reached. Please upgrade. Resets in 34m7s."
NOTICE = "[agy] print timeout after 5s with turn in progress; returning partial output"


def do(step: str, **fields: Any) -> dict[str, Any]:
    """Return the step *step*."""
    return {"do": step, **fields}


def say(text: str = ANSWER, **fields: Any) -> dict[str, Any]:
    """Return a step that answers with *text*, in one delta."""
    return {"do": "say", "text": text, "pieces": 1, **fields}


def result(response: Any = ANSWER, status: Any = "SUCCESS", **fields: Any) -> dict[str, Any]:
    """Return a result event; *fields* are set in it as they are, one given as ``...`` is left out."""
    omit = [name for name, value in fields.items() if value is ...]
    given = {name: value for name, value in fields.items() if value is not ...}
    if status is ...:
        omit.append("status")
    elif status != "SUCCESS":
        given["status"] = status
    if response is ...:
        omit.append("response")
    elif not isinstance(response, str):
        given["response"] = response
    response = response if isinstance(response, str) else ""
    return {"do": "result", "response": response, "omit": omit, "fields": given}


def failed(error: str, response: str = "") -> dict[str, Any]:
    """Return a result event that reports *error*; the process then exits with 1 unless told otherwise."""
    return {"do": "result", "status": "ERROR", "error": error, "response": response}


def wait_for(path: Path) -> dict[str, Any]:
    """Return a step that lasts until the test makes *path*."""
    return {"do": "wait_for", "path": str(path)}


def python(code: str, *arguments: str) -> dict[str, Any]:
    """Return a step that runs *code* in the worker's directory; ``{result_file}`` may be an argument."""
    return {"do": "run", "command": [sys.executable, "-I", "-S", "-c", code, *arguments]}
