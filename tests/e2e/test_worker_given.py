"""What the worker is given: its command line, streams, session, directory, and which program it is."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.agents import agent
from tests.support.capabilities import needs_symlinks

if TYPE_CHECKING:
    from tests.support.lab import Lab, Run

CLAUDE = "claude-sonnet-5-5-high"
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs sessions and descriptors of POSIX")

START = ["--input-format", "stream-json", "--output-format", "stream-json", "--model"]
SKIP = "--dangerously-skip-permissions"
GEMINI = ["gemini-3.8-flash-high", "--effort", "high"]

Env = dict[str, str | None]


def argv_of(lab: Lab) -> list[str]:
    """Return the arguments of the one worker."""
    (worker,) = lab.workers()
    argv: list[str] = worker["argv"]
    return argv


def log_of(run: Run) -> list[str]:
    return ["--log-file", str(run.state / "agy.log")]


@pytest.mark.smoke
def test_the_plainest_command_line(lab: Lab) -> None:
    run = lab.fake().dispatch()
    assert run.code == 0, run
    expected = [*START, *GEMINI, "--mode", "accept-edits", "--print-timeout", "2700s", SKIP, *log_of(run)]
    assert argv_of(lab) == expected


def test_everything_in_its_place(lab: Lab) -> None:
    for name in ("one dir", "two"):
        (lab.caller / name).mkdir()
    options = ["--add-dir=one dir", "--mode=accept-edits", f"--add-dir={lab.caller / 'two' / '..' / 'two'}"]
    env: Env = {"ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": "07", "PRUN_AGY_SANDBOX": "\tTRUE "}
    earlier = lab.root / "earlier"
    earlier.mkdir()
    (earlier / "conversation-id").write_bytes(b"\xef\xbb\xbfabc-1\r\n")
    run = lab.fake().dispatch("u1", *options, f"--continue-from={earlier}", env=env)
    assert argv_of(lab) == [
        *(*START, *GEMINI, "--mode", "accept-edits", "--print-timeout", "7s", "--sandbox", SKIP),
        *("--add-dir", str(lab.caller / "one dir"), "--add-dir", str(lab.caller / "two")),
        *("--conversation", "abc-1", *log_of(run)),
    ]


def test_a_plan_never_skips_permissions(lab: Lab) -> None:
    env: Env = {"PRUN_AGY_SANDBOX": "off"}
    run = lab.fake().dispatch("u1", "--mode", "plan", env=env)
    assert argv_of(lab) == [*START, *GEMINI, "--mode", "plan", "--print-timeout", "2700s", *log_of(run)]


@pytest.mark.parametrize(
    ("env", "given"),
    [
        ({"ANTIGRAVITY_DISPATCH_EFFORT": "low"}, ["gemini-3.8-flash-low", "--effort", "low"]),
        ({"ANTIGRAVITY_DISPATCH_EFFORT": "medium"}, ["gemini-3.8-flash-medium", "--effort", "medium"]),
        ({"ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.8-flash-low"}, ["gemini-3.8-flash-low", "--effort", "low"]),
        ({"ANTIGRAVITY_DISPATCH_MODEL": CLAUDE}, [CLAUDE]),
        ({"ANTIGRAVITY_DISPATCH_MODEL": CLAUDE, "ANTIGRAVITY_DISPATCH_EFFORT": "high"}, [CLAUDE]),
        ({"ANTIGRAVITY_DISPATCH_MODEL": "gpt-oss-120b-medium"}, ["gpt-oss-120b-medium"]),
    ],
    ids=["low", "medium", "named", "second group", "second group with effort", "gpt"],
)
def test_a_model_and_its_effort(env: Env, given: list[str], lab: Lab) -> None:
    run = lab.fake().dispatch(env=env)
    assert run.code == 0, run
    argv = argv_of(lab)
    assert argv[4 : 5 + len(given)] == ["--model", *given]
    assert argv[5 + len(given)] == "--mode"
    assert run.text("model") == given[0] + "\n"


def test_an_effort_is_left_out_for_a_tier_that_is_none(lab: Lab) -> None:
    lab.fake(account='models = ["gemini-9-mini", "gemini-9-mini-xhigh", "gemini-9-mini-max"]\n')
    for unit, model, effort in (
        ("u1", "gemini-9-mini", None),
        ("u2", "gemini-9-mini-xhigh", None),
        ("u3", "gemini-9-mini-max", "max"),
    ):
        lab.dispatch(unit, env={"ANTIGRAVITY_DISPATCH_MODEL": model})
        argv = lab.workers()[-1]["argv"]
        assert argv[5] == model
        assert (argv[7] if argv[6] == "--effort" else None) == effort


@pytest.mark.parametrize(
    ("version", "logged"),
    [("1.1.0", False), ("1.1.1", True), ("agy version v1.10.0 (abc)", True), ("a version", False)],
)
def test_the_log_is_asked_for_where_the_version_takes_it(version: str, *, logged: bool, lab: Lab) -> None:
    line = f"{version}\n".encode()
    shows = f"if words == ['--version']:\n    show({line!r}); sys.exit(0)"
    work = "note(os.environ['SEEN'], json.dumps(words))"
    seen = lab.root / "seen"
    run = lab.program(agent(probes=shows, work=work)).dispatch(env={"SEEN": str(seen)})
    assert run.code == 0, run
    words = json.loads(seen.read_text(encoding="utf-8"))
    assert words[-2:] == log_of(run) if logged else "--log-file" not in words
    assert (run.state / "agy.log").exists() is logged


def test_without_preflight_no_version_is_known(lab: Lab) -> None:
    run = lab.fake().dispatch(env={"ANTIGRAVITY_PREFLIGHT": "off"})
    assert run.code == 0, run
    assert argv_of(lab) == [*START, *GEMINI, "--mode", "accept-edits", "--print-timeout", "2700s", SKIP]
    assert lab.probes() == []
    assert not (run.state / "preflight-tail").exists()


def test_stdin_is_a_file_with_the_one_event(lab: Lab) -> None:
    run = lab.fake().dispatch(prompt="Do it.\r\n\tNow – é 🎈\x00")
    (worker,) = lab.workers()
    assert (worker["stdin"], worker["stdout"], worker["stderr"]) == ("file", "file", "file")
    event = (run.state / "prompt-event.jsonl").read_bytes()
    (end,) = [call for call in lab.calls() if call["at"] == "end" and call["call"] == worker["call"]]
    assert end["stdin_sha256"] == hashlib.sha256(event).hexdigest()
    assert event.count(b"\n") == 1
    assert event.startswith(b'{"event":"user","message":{"content":"')
    assert json.loads(event) == {"event": "user", "message": {"content": run.text("prompt-relay")}}
    assert "Do it.\r\n\tNow – é 🎈\x00" in run.text("prompt-relay")


LOOKS = """
import fcntl, stat
def look(fd):
    told = os.fstat(fd)
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    return [stat.S_ISREG(told.st_mode), told.st_ino, bool(flags & os.O_APPEND), flags & os.O_ACCMODE]
fds = sorted(int(name) for name in os.listdir("/dev/fd"))
note(os.environ["SEEN"], json.dumps({
    "streams": [look(fd) for fd in (0, 1, 2)],
    "fds": [fd for fd in fds if fd == 0 or os.path.exists(f"/dev/fd/{fd}")],
    "sid": os.getsid(0), "pgid": os.getpgid(0), "pid": os.getpid(), "ppid": os.getppid(),
    "tty": [os.isatty(fd) for fd in (0, 1, 2)],
}))
"""


@posix
@pytest.mark.parametrize("session", ["session", "group"])
def test_a_worker_has_three_files_and_nothing_else_of_its_dispatcher(session: str, lab: Lab) -> None:
    lab.program(agent(work=LOOKS))
    seen = lab.root / "seen"
    ours, theirs = os.pipe()
    try:
        running = lab.start(
            "u1",
            env={"SEEN": str(seen), "PRUN_WORKER_SESSION": session},
            pass_fds=(ours, theirs),
            start_new_session=True,
        )
        run = lab.finish(running)
    finally:
        os.close(ours)
        os.close(theirs)
    assert run.code == 0, run
    told: dict[str, Any] = json.loads(seen.read_text(encoding="utf-8"))
    files = [run.state / name for name in ("prompt-event.jsonl", "tail", "tail.stderr-tmp")]
    reads, writes = os.O_RDONLY, os.O_WRONLY
    assert told["streams"] == [
        [True, files[0].stat().st_ino, False, reads],
        [True, files[1].stat().st_ino, True, writes],
        [True, files[2].stat().st_ino, True, writes],
    ]
    assert told["fds"] == [0, 1, 2]
    assert told["tty"] == [False] * 3
    assert (told["pgid"], told["ppid"]) == (told["pid"], running.pid)
    assert told["sid"] == (told["pid"] if session == "session" else running.pid)
    hold = json.loads(run.text("worker.json"))["hold"]
    assert hold == {"kind": session, "id": told["pid"], "name": None}


def test_a_worker_runs_in_the_scratch_that_prun_makes(lab: Lab) -> None:
    run = lab.fake().dispatch()
    (worker,) = lab.workers()
    assert Path(worker["cwd"]) == Path(os.path.realpath(run.state / "work"))


def test_a_worker_runs_where_it_is_told_to(lab: Lab) -> None:
    lab.fake()
    full = lab.root / "full"
    full.mkdir()
    (full / "mine").write_bytes(b"mine")
    cases = {
        "u1": ("new/deep é", lab.caller / "new" / "deep é"),
        "u2": (str(full), full),
        "u3": (" \t", None),
        "u4": ("", None),
    }
    for unit, (given, place) in cases.items():
        run = lab.dispatch(unit, "--mode", "accept-edits", env={"PRUN_SCRATCH_CWD": given})
        assert run.code == 0, run
        expected = run.state / "work" if place is None else place
        assert Path(lab.workers()[-1]["cwd"]) == Path(os.path.realpath(expected))
        assert run.request["work_dir"] == str(expected)
        assert run.request["work_dir_made"] is (place is None)
        assert (run.state / "work").exists() is (place is None)
    assert (full / "mine").read_bytes() == b"mine"
    assert [path.name for path in full.iterdir()] == ["mine"]


def test_a_relative_state_root_is_made_absolute_and_made(lab: Lab) -> None:
    run = lab.fake().dispatch(env={"PRUN_STATE_ROOT": "states/here"})
    assert run.code == 0, run
    assert run.state.parent == lab.caller / "states" / "here"


def test_without_a_state_root_the_temporary_directory_is_it(lab: Lab) -> None:
    run = lab.fake().dispatch(env={"PRUN_STATE_ROOT": None})
    assert run.code == 0, run
    assert run.state.parent == lab.root / "tmp"
    assert [path.name for path in run.state.parent.iterdir()] == [run.state.name]


def test_agy_is_found_by_a_path_or_a_name(lab: Lab) -> None:
    lab.fake()
    agy = lab.agy
    assert agy is not None
    path = os.pathsep.join([".", "", str(agy.parent), os.environ["PATH"]])
    cases: dict[str, Env] = {
        "u1": {"ANTIGRAVITY_BIN": None, "PATH": path},
        "u2": {"ANTIGRAVITY_BIN": agy.name, "PATH": path},
        "u3": {"ANTIGRAVITY_BIN": os.path.relpath(agy, lab.caller)},
        "u4": {"ANTIGRAVITY_BIN": f"~/../bin/{agy.name}"},
        "u5": {"ANTIGRAVITY_BIN": f"$PLACE/{agy.name}", "PLACE": str(agy.parent)},
        "u6": {"ANTIGRAVITY_BIN": f"${{PLACE}}/{agy.name}", "PLACE": str(agy.parent)},
    }
    running = {unit: lab.start(unit, env=env) for unit, env in cases.items()}
    for unit, process in running.items():
        run = lab.finish(process, unit)
        assert run.code == 0, (unit, run)
        assert os.path.isabs(run.request["agy"])  # noqa: PTH117 - a string is what is told
        assert os.path.samefile(run.request["agy"], agy)  # noqa: PTH121 - as above
    # One program by three paths: whatever it is called, "here" is never searched.
    assert (lab.caller / agy.name).exists() is False


@needs_symlinks
def test_a_link_to_agy_is_not_followed(lab: Lab) -> None:
    lab.fake()
    assert lab.agy is not None
    link = lab.root / "link" / lab.agy.name
    link.parent.mkdir()
    link.symlink_to(lab.agy)
    run = lab.dispatch(env={"ANTIGRAVITY_BIN": str(link)})
    assert run.code == 0, run
    assert run.request["agy"] == str(link)
    assert json.loads(run.text("worker.json"))["program"] == str(link)


@pytest.mark.skipif(sys.platform != "win32", reason="the installer's place on Windows")
def test_agy_is_found_where_its_installer_puts_it(lab: Lab) -> None:
    lab.fake()
    assert lab.agy is not None
    place = lab.root / "home" / "local" / "agy" / "bin" / "agy.exe"
    place.parent.mkdir(parents=True)
    place.write_bytes(lab.agy.read_bytes())
    run = lab.dispatch(env={"ANTIGRAVITY_BIN": None})
    assert run.code == 0, run
    assert Path(run.request["agy"]) == place


def test_the_relay_says_what_a_worker_has_to_know(lab: Lab) -> None:
    run = lab.fake().dispatch("unit-7", prompt="Count the stars.")
    text = run.text("prompt-relay")
    for pattern in (
        r"one unit of a parallel batch",
        r"nothing beyond",
        r"untrusted data",
        r"never commit or push",
        r"branch or a tag",
        r"never reset, clean",
        r"Never change a remote system",
        r"in full",
        r"need not write",
        r"kept and your final answer is stored beside it",
        r"\n# unit-7 result\nConclusion: <one line>\n",
        r"\nFiles: <files created or modified, or none>\n",
        r"\nOpen items: <blockers or follow-ups, or none>\n",
        r"\nVerification: <commands or checks, or none>\n",
        r"\nCount the stars\.\n",
    ):
        assert re.search(pattern, text), pattern
    assert str(run.result) in text
