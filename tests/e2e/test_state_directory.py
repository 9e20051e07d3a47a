"""Every file of a state directory: when it is there, what is in it, and who may read it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from prun import __version__
from prun.system import process
from tests.support.agents import ANSWER, CONVERSATION, STREAM, agent
from tests.support.capabilities import needs_modes, needs_odd_names
from tests.support.processes import until

if TYPE_CHECKING:
    import subprocess

    from tests.support.lab import Lab, Run

AT_CREATION = {
    "timestamp",
    "pre-mtime",
    "result-file",
    "dispatch-pid",
    "python-interpreter",
    "request.json",
    "owner.1.json",
    "outcome.slot",
}
BEFORE_LAUNCH = {
    "prompt-relay",
    "prompt-event.jsonl",
    "model",
    "quota-note",
    "preflight-tail",
    "env-withheld",
    "worker-pid-unverified",
    "worker.json",
    "work",
}
WHILE_IT_RUNS = {"tail", "tail.stderr-tmp", "agy.log", "conversation-id"}
AT_THE_END = {"publish.json", "outcome.json"}
TEXTS = (
    "timestamp",
    "pre-mtime",
    "result-file",
    "dispatch-pid",
    "python-interpreter",
    "model",
    "worker-pid-unverified",
    "conversation-id",
)
RECORDS = ("request.json", "owner.1.json", "worker.json", "publish.json", "outcome.json")


SLOT_BYTES = 16 * 1024
WAITING = """
[[rule]]
any = true
scenario = "waits"
[scenario.waits]
steps = [
  { do = "stderr", text = "a word on stderr" },
  { do = "say", text = "Conclusion: the work is done." },
  { do = "wait_for", path = "GATE" },
]
"""
NEWER = 'models = ["gemini-3.8-flash-high", "gemini-3.9-flash-high", "claude-sonnet-5-5-high"]\n'


def names(state: Path) -> set[str]:
    # On Windows the fake locks its log by a file of its own.
    return {path.name for path in state.iterdir()} - {"agy.log.lock"}


def record(state: Path, name: str) -> dict[str, Any]:
    """Return a JSON record, asserted to be in the form that all of them share."""
    data = (state / name).read_bytes()
    assert data.endswith(b"\n"), name
    loaded: dict[str, Any] = json.loads(data.decode("utf-8"))
    assert list(loaded) == sorted(loaded), name
    assert loaded["schema"] == 1, name
    return loaded


def value(state: Path, name: str) -> str:
    """Return the one value of a text file, asserted to be one line and no more."""
    text = (state / name).read_bytes().decode("utf-8")
    assert text.endswith("\n"), name
    assert "\n" not in text[:-1], name
    assert "\r" not in text, name
    return text[:-1]


def identity_of(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in ("host", "boot", "pid_namespace", "pid", "start")}


def identity_of_pid(pid: int) -> dict[str, Any]:
    """Return who runs under *pid* now, as a record says it."""
    found = process.identify(pid)
    assert found is not None, pid
    machine = found.machine
    return {
        "host": machine.host,
        "boot": machine.boot,
        "pid_namespace": machine.pid_namespace,
        "pid": pid,
        "start": found.start,
    }


def launched(pid: int) -> int:
    """Return what was started as the worker, whose code runs as *pid*: on Windows that is its parent."""
    return psutil.Process(pid).ppid() if sys.platform == "win32" else pid


@pytest.fixture
def waiting(lab: Lab) -> Lab:
    """Give a lab whose worker waits, after it has said something, for the file ``gate``."""
    lab.fake(script=WAITING.replace("GATE", (lab.root / "gate").as_posix()), account=NEWER)
    return lab


def dispatched(lab: Lab, *options: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Return a dispatch, and its state directory once the worker's conversation is recorded in it."""
    running = lab.start("u1", *options, env={"X_API_TOKEN": "hush", "A_SECRET": "hush"})
    state = lab.state_of(running)
    until((state / "conversation-id").exists)
    return running, state


def finished(lab: Lab, running: subprocess.Popen[bytes]) -> Run:
    (lab.root / "gate").touch()
    return lab.finish(running)


@pytest.mark.smoke
def test_every_file_appears_in_its_time_and_says_who_is_who(waiting: Lab) -> None:
    running, state = dispatched(waiting)
    assert names(state) == AT_CREATION | BEFORE_LAUNCH | WHILE_IT_RUNS
    assert (state / "outcome.slot").stat().st_size == SLOT_BYTES
    owner, worker = record(state, "owner.1.json"), record(state, "worker.json")
    (call,) = waiting.workers()
    assert identity_of(owner) == identity_of_pid(running.pid)
    assert identity_of(worker) == identity_of_pid(launched(call["pid"]))
    run = finished(waiting, running)
    assert run.code == 0, run
    assert names(state) == (AT_CREATION | BEFORE_LAUNCH | WHILE_IT_RUNS | AT_THE_END) - {"outcome.slot"}
    assert record(state, "owner.1.json") == owner
    assert record(state, "worker.json") == worker


def test_every_file_of_a_finished_unit_has_its_content(waiting: Lab) -> None:
    before = int(time.time())
    (waiting.root / "gate").touch()
    running = waiting.start("u1", env={"X_API_TOKEN": "hush", "a_secret": "hush", "B_PAT": "hush"})
    run = waiting.finish(running)
    assert run.code == 0, run
    state = run.state
    values = {name: value(state, name) for name in TEXTS}
    assert before <= int(values["timestamp"]) <= int(time.time())
    assert values | {"timestamp": ""} == {
        "timestamp": "",
        "pre-mtime": "0",
        "result-file": str(run.result),
        "dispatch-pid": str(running.pid),
        "python-interpreter": sys.executable,
        "model": "gemini-3.9-flash-high",
        "worker-pid-unverified": str(record(state, "worker.json")["pid"]),
        "conversation-id": run.outcome["conversation_id"],
    }
    withheld = run.text("env-withheld").split("\n")
    assert {name.upper() for name in withheld} == {"B_PAT", "X_API_TOKEN", "A_SECRET", ""}
    assert withheld[:-1] == sorted(withheld[:-1])
    assert run.text("quota-note") == (
        "MODEL-RESOLVE from=gemini-3.8-flash-high to=gemini-3.9-flash-high reason=newest-in-family\n"
    )
    printed = run.text("preflight-tail")
    assert "--version\n1.3.5\n" in printed
    assert "models\ngemini-3.8-flash-high\t" in printed
    assert "Fetching available models..." in printed
    assert run.text("tail.stderr-tmp").splitlines() == ["a word on stderr"]
    assert "Print mode: starting" in run.text("agy.log")
    assert run.text("prompt-relay").endswith("-----\n")
    for name in RECORDS:
        record(state, name)


def test_the_name_tells_caller_unit_and_dispatcher(waiting: Lab) -> None:
    (waiting.root / "gate").touch()
    inner = waiting.caller / "inner é"
    inner.mkdir()
    running = [waiting.start("u-1_X"), waiting.start("u-1_X2", cwd=inner)]
    for process_, unit, cwd in zip(running, ("u-1_X", "u-1_X2"), (waiting.caller, inner), strict=True):
        run = waiting.finish(process_, unit)
        caller = hashlib.sha256(os.fsencode(os.path.realpath(cwd))).hexdigest()[:8]
        pattern = rf"prun-task-{caller}-{re.escape(unit)}-{process_.pid}-[0-9a-f]{{16}}"
        assert re.fullmatch(pattern, run.state.name), run.state
        assert run.state.parent == waiting.root / "state"
        assert run.stdout.count(b"\n") == 1


def test_the_request_tells_everything_resolved(waiting: Lab) -> None:
    (waiting.root / "gate").touch()
    more = waiting.caller / "more"
    more.mkdir()
    env = {
        "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": "77",
        "PRUN_REAP_GRACE_SECONDS": "7",
        "PRUN_REAP_IDLE_SECONDS": "70",
        "PRUN_REAP_LEFTOVERS": "off",
        "PRUN_MIN_RESULT_BYTES": "5",
        "ANTIGRAVITY_PREFLIGHT": "force",
        "ANTIGRAVITY_PREFLIGHT_TIMEOUT_SECONDS": "17",
        "PRUN_AGY_SANDBOX": " Yes ",
        "PRUN_WORKER_SESSION": "group",
        "ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.8-flash-high",
        "ANTIGRAVITY_DISPATCH_EFFORT": "high",
    }
    run = waiting.dispatch("u1", "--mode=plan", "--add-dir=more", env=env)
    assert run.code == 0, run
    request = run.request
    machine = process.this_machine()
    told = {name: request.pop(name) for name in ("worker_token", "started_at", "started_monotonic_s")}
    assert re.fullmatch("[0-9a-f]{16}", told["worker_token"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["started_at"])
    assert 0 < told["started_monotonic_s"] <= time.monotonic()
    assert request == {
        "schema": 1,
        "unit": "u1",
        "attempt": 1,
        "batch": None,
        "prompt_file": str(waiting.caller / "u1.md"),
        "result_file": str(run.result),
        "mode": "plan",
        "work_dir": str(run.state / "work"),
        "work_dir_made": True,
        "add_dirs": [str(more)],
        "continued_id": None,
        "agy": str(waiting.agy),
        "model_asked": "gemini-3.8-flash-high",
        "effort_asked": "high",
        "timeout_s": 77,
        "reap_idle_s": 70,
        "reap_grace_s": 7,
        "reap_leftovers": False,
        "min_result_bytes": 5,
        "preflight": "force",
        "preflight_timeout_s": 17,
        "sandbox": True,
        "session": "group",
        "boot": machine.boot,
        "versions": {"prun": __version__, "python": sys.version.split(maxsplit=1)[0]},
    }


def test_a_plain_request_has_the_defaults(waiting: Lab) -> None:
    (waiting.root / "gate").touch()
    run = waiting.dispatch()
    expected = {
        "mode": "accept-edits",
        "model_asked": None,
        "effort_asked": None,
        "timeout_s": 2700,
        "reap_idle_s": 0,
        "reap_grace_s": 60,
        "reap_leftovers": True,
        "min_result_bytes": 20,
        "preflight": "auto",
        "preflight_timeout_s": 60,
        "sandbox": False,
        "session": "session",
    }
    assert {name: run.request[name] for name in expected} == expected
    assert (run.state / "work").is_dir()


NOISE = bytes(range(256)) + b"\r\n\r\r\n" + "日本🎈".encode()[:-1] + b"\n\n\x00"
LAST = b'torn \xff "'


def test_tail_and_stderr_are_what_the_worker_printed_byte_for_byte(lab: Lab) -> None:
    lab.program(agent(work=f"show({NOISE!r}); os.write(2, {LAST + NOISE!r})"))
    run = lab.dispatch()
    assert run.code == 0, run
    assert (run.state / "tail").read_bytes() == NOISE + STREAM
    assert (run.state / "tail.stderr-tmp").read_bytes() == LAST + NOISE
    assert value(run.state, "conversation-id") == CONVERSATION
    assert run.document == ANSWER + "\n"


def test_the_published_document_is_told_of(lab: Lab) -> None:
    lab.program(agent())
    run = lab.dispatch()
    data = run.result.read_bytes()
    assert record(run.state, "publish.json") == {
        "schema": 1,
        "author": "response",
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
    }


SEES_STDOUT = """
if words == ["--version"]:
    told = os.environ["TOLD"]
    states = os.environ["PRUN_STATE_ROOT"]
    with open(told, "rb") as file:
        line = file.read().decode()
    state = line.removeprefix("STATE-DIR ").removesuffix("\\n")
    note(os.environ["SEEN"], json.dumps([line, os.listdir(states), os.listdir(state)]))
    until(os.environ["SEEN"] + ".go")
"""


def test_the_directory_is_told_before_any_probe_and_holds_its_records_by_then(lab: Lab) -> None:
    lab.program(agent(probes=SEES_STDOUT))
    told, seen = lab.root / "told", lab.root / "seen"
    with told.open("wb") as stdout:
        running = lab.start("u1", env={"TOLD": str(told), "SEEN": str(seen)}, stdout=stdout)
    until(seen.exists)
    line, states, files = json.loads(seen.read_text(encoding="utf-8"))
    state = Path(line.removeprefix("STATE-DIR ").rstrip("\n"))
    assert states == [state.name]
    assert AT_CREATION <= set(files) <= AT_CREATION | {"model"}
    assert running.poll() is None
    Path(f"{seen}.go").touch()
    assert lab.finish(running).code == 0
    assert told.read_text(encoding="utf-8") == line
    assert state.is_absolute()
    assert (state / "outcome.json").exists()


@needs_modes
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_nobody_else_may_read_anything_whatever_the_umask(umask: int, lab: Lab) -> None:
    work = """
if "--log-file" in words:
    open(words[words.index("--log-file") + 1], "a").write("E0101 00:00:00.000000 1 a.go:1] own log\\n")
"""
    lab.program(agent(work=work))
    run = lab.dispatch(prompt="x" * 160_000, env={"A_TOKEN": "hush"}, umask=umask)
    assert run.code == 0, run
    assert "own log" in run.text("agy.log")
    modes = {str(path.relative_to(run.state)): path.stat().st_mode & 0o777 for path in run.state.rglob("*")}
    wrong = {
        name: oct(mode)
        for name, mode in modes.items()
        if mode != (0o700 if name in {"work", "prompt"} else 0o600)
    }
    assert wrong == {}
    assert {"prompt/prompt.md", "agy.log", "env-withheld", "tail", "outcome.json"} <= set(modes)
    assert run.state.stat().st_mode & 0o777 == 0o700
    assert run.result.stat().st_mode & 0o777 == 0o666 & ~umask
    for private in (lab.root / "home" / "xdg-state" / "prun", lab.root / "home" / "xdg-cache" / "prun"):
        assert private.stat().st_mode & 0o777 == 0o700


@needs_odd_names
def test_a_path_that_is_no_utf8_stays_itself(lab: Lab) -> None:
    lab.program(agent())
    root = os.fsdecode(os.fsencode(lab.root) + b"/caf\xe9")
    running = lab.start("u1", env={"PRUN_STATE_ROOT": root})
    stdout, _ = running.communicate()
    state = Path(os.fsdecode(stdout.removeprefix(b"STATE-DIR ").removesuffix(b"\n")))
    assert state.parent == Path(root)
    assert json.loads((state / "outcome.json").read_bytes())["verdict"] == "completed"
    assert json.loads((state / "request.json").read_bytes())["unit"] == "u1"
