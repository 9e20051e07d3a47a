"""Small programs to stand in for agy where a test has to see or decide what the fake does not show."""

from __future__ import annotations

import json

CONVERSATION = "c0ffee00-0000-4000-8000-000000000001"
MODELS = "gemini-3.8-flash-high\tGemini 3.8 Flash (High)\n"
ANSWER = "Conclusion: the work is done."

INIT = json.dumps({"event": "init", "conversation_id": CONVERSATION, "init": {"cwd": "/"}}) + "\n"
RESULT = (
    json.dumps(
        {
            "event": "result",
            "result": {"conversation_id": CONVERSATION, "status": "SUCCESS", "response": ANSWER},
        }
    )
    + "\n"
)
STREAM = (INIT + RESULT).encode()

# What every such program begins with: its answers to the two probes are steered by variables.
_HEAD = """
import json, time
def until(path):
    end = time.monotonic() + 60
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.01)
def show(data):
    os.write(1, data)
def note(path, text):
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)
words = sys.argv[1:]
"""
_PROBES = f"""
if words == ["--version"]:
    show(b"1.3.5\\n"); sys.exit(0)
if words == ["models"]:
    show({MODELS.encode()!r}); sys.exit(0)
"""
_FINISH = f"""
show({STREAM!r})
"""


def agent(*, probes: str = "", work: str = "") -> str:
    """Return a program that does *probes* first, answers the two probes, else does *work* and ends well.

    Both may use ``words`` (the arguments), ``show(bytes)``, ``until(path)``, ``note(path, text)``.
    """
    return f"{_HEAD}\n{probes}\n{_PROBES}\n{work}\n{_FINISH}"
