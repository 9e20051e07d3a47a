"""Before a launch: what agy is asked, how often, and what becomes of the unit for each answer."""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.agents import CONVERSATION, RESULT, agent
from tests.support.capabilities import needs_modes
from tests.support.processes import can_fork, is_alive, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.lab import Lab, Run

TOGETHER = 12
BOTH = ["--version", "models"]

# Adds a line to the file ASKED for every call, with one write: who was asked what.
COUNTS = """
asked = os.open(os.environ["ASKED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(asked, (json.dumps([os.getpid(), words]) + "\\n").encode())
os.close(asked)
"""
# Answers the first question only once the file GATE is there.
BLOCKS = f"""
{COUNTS}
if words == ["--version"]:
    until(os.environ["GATE"])
"""


def asked(lab: Lab) -> list[tuple[int, list[str]]]:
    """Return pid and arguments of each call that a counting program got."""
    path = lab.root / "asked"
    if not path.exists():
        return []
    return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def questions(lab: Lab) -> list[str]:
    return [words[0] for _, words in asked(lab) if words in (["--version"], ["models"])]


def counting(lab: Lab, probes: str = COUNTS, work: str = "") -> Lab:
    """Give *lab* a program that counts its calls."""
    lab.extra |= {"ASKED": str(lab.root / "asked"), "GATE": str(lab.root / "gate")}
    return lab.program(agent(probes=probes, work=work))


def check_not_launched(run: Run, kind: str, code: int, *words: str) -> None:
    """Assert that the unit failed before any worker ran, and that every record says so."""
    outcome = run.outcome
    seen = (run.code, outcome["exit_code"], outcome["verdict"], outcome["kind"], outcome["result_author"])
    assert seen == (code, code, "failed", kind, "fallback"), outcome
    assert outcome["worker_exit"] is None
    assert not (run.state / "worker.json").exists()
    assert run.document.startswith(
        f"# {outcome['unit']} result (FALLBACK, Agy wrote no final result)\nConclusion: INCOMPLETE; "
    )
    for word in words:
        assert word in outcome["reason"], (word, outcome["reason"])
        assert word in run.document
        assert word in run.stderr


def test_dispatches_started_together_ask_once(lab: Lab) -> None:
    counting(lab, BLOCKS)
    units = [f"u{number}" for number in range(TOGETHER)]
    running = [lab.start(unit) for unit in units]
    for process in running:
        lab.state_of(process)
    (lab.root / "gate").touch()
    for unit, process in zip(units, running, strict=True):
        run = lab.finish(process, unit)
        assert run.code == 0, run
        assert run.text("preflight-tail").count("--version") == 1
    assert questions(lab) == BOTH
    assert len(asked(lab)) == len(BOTH) + TOGETHER


def kept_facts(lab: Lab) -> Path:
    (path,) = (lab.root / "home").rglob("facts-*.json")
    return path


def redate(lab: Lab, age: timedelta) -> None:
    path = kept_facts(lab)
    moment = datetime.now(UTC) - age
    record = {**json.loads(path.read_bytes()), "asked_at": moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")}
    path.write_text(json.dumps(record), encoding="utf-8")


def test_an_answer_is_kept_for_ten_minutes(lab: Lab) -> None:
    counting(lab)
    numbers = iter(range(100))

    def new_questions(**env: str | None) -> list[str]:
        before, unit = len(questions(lab)), f"u{next(numbers)}"
        run = lab.dispatch(unit, env=env)
        assert run.code == 0, run
        assert (run.state / "preflight-tail").exists() is (env.get("ANTIGRAVITY_PREFLIGHT") != "off")
        return questions(lab)[before:]

    assert new_questions() == BOTH
    assert new_questions() == []
    assert new_questions(ANTIGRAVITY_PREFLIGHT="auto") == []
    assert new_questions(ANTIGRAVITY_PREFLIGHT="off") == []
    assert new_questions(ANTIGRAVITY_PREFLIGHT="force") == BOTH
    redate(lab, timedelta(minutes=9, seconds=30))
    assert new_questions() == []
    redate(lab, timedelta(minutes=10, seconds=1))
    assert new_questions() == BOTH
    redate(lab, timedelta(minutes=-5))
    assert new_questions() == BOTH
    kept_facts(lab).write_bytes(b'{"schema": 1, "vers')
    assert new_questions() == BOTH


def test_another_program_or_home_is_asked_anew(lab: Lab) -> None:
    counting(lab)
    assert lab.agy is not None
    lab.dispatch("u1")
    told = lab.agy.stat()
    os.utime(lab.agy, ns=(told.st_atime_ns, told.st_mtime_ns + 1_000_000_000))
    lab.dispatch("u2")
    assert questions(lab) == BOTH * 2
    (lab.root / "other").mkdir()
    other = str(lab.root / "other")
    lab.dispatch("u3", env={"HOME": other, "USERPROFILE": other})
    assert questions(lab) == BOTH * 3
    lab.dispatch("u4")
    assert questions(lab) == BOTH * 3
    lab.agy.write_bytes(lab.agy.read_bytes() + (b"" if sys.platform == "win32" else b"\n# an update\n"))
    os.utime(lab.agy, ns=(told.st_atime_ns, told.st_mtime_ns + 2_000_000_000))
    lab.dispatch("u5")
    assert questions(lab) == BOTH * 4


def test_a_failed_answer_is_not_kept(lab: Lab) -> None:
    lab.fake(account="")
    signed_out = lab.account / "signed-out"
    signed_out.touch()
    run = lab.dispatch("u1")
    check_not_launched(run, "preflight", 70, "models", "sign in")
    assert "authentication required" in run.text("preflight-tail")
    assert lab.workers() == []
    signed_out.unlink()
    assert lab.dispatch("u2").code == 0
    assert lab.probes() == BOTH * 2


def answers(question: str, deed: str) -> str:
    return f"{COUNTS}\nif words == [{question!r}]:\n    {deed}\n"


def test_a_probe_that_does_not_answer_is_out_of_time(lab: Lab) -> None:
    counting(lab, answers("models", "until('/never')"))
    run = lab.dispatch(env={"ANTIGRAVITY_PREFLIGHT_TIMEOUT_SECONDS": "1"})
    check_not_launched(run, "preflight", 124, "models", "1 s")
    assert "1.3.5" in run.text("preflight-tail")
    assert questions(lab) == BOTH
    assert not any(is_alive(pid) for pid, _ in asked(lab))


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("show(b'who are you?\\n'); sys.exit(7)", ["exited with code 7", "sign in"]),
        pytest.param("os.kill(os.getpid(), 9)", ["killed by signal 9"], marks=can_fork),
        ("[show(b'x' * 65536) for _ in iter(int, 1)]", ["printed without end"]),
    ],
    ids=["non-zero", "signal", "endless"],
)
def test_a_probe_that_fails_keeps_the_unit_from_running(deed: str, words: list[str], lab: Lab) -> None:
    counting(lab, answers("--version", deed))
    run = lab.dispatch()
    check_not_launched(run, "preflight", 70, "--version", *words)
    assert questions(lab) == ["--version"]
    assert (run.state / "preflight-tail").stat().st_size <= 64 * 1024


def listing(text: str) -> str:
    return answers("models", f"show({text.encode()!r}); sys.exit(0)")


@pytest.mark.parametrize(
    "text",
    [
        "gemini-3.8-flash-high\tGemini 3.8 Flash (High)\r\n",
        "Available models:\n\n  - gemini-3.8-flash-high   Gemini 3.8 Flash (High)\n",
        "\x1b[1mgemini-3.8-flash-high\x1b[0m\n",
        "\ufeff* gemini-3.8-flash-high",
    ],
    ids=["tab and CR", "banner and bullet", "escapes", "mark and no line end"],
)
def test_a_listing_is_read_in_any_dress(text: str, lab: Lab) -> None:
    run = counting(lab, listing(text)).dispatch(env={"ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.8-flash-high"})
    assert run.code == 0, run
    assert run.text("model") == "gemini-3.8-flash-high\n"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "nothing"),
        ("Gemini 3.8 Flash (High)\n", "Gemini 3.8 Flash (High)"),
        ("Available models:\n", "nothing"),
    ],
    ids=["empty", "labels", "banner"],
)
def test_a_listing_without_slugs_is_unreadable_not_lacking(text: str, word: str, lab: Lab) -> None:
    run = counting(lab, listing(text)).dispatch()
    check_not_launched(run, "preflight", 70, "unreadable", word)
    assert "unavailable" not in run.outcome["reason"]


# Lists what is in the file LISTED, or asks to sign in where there is none.
LISTS = f"""
{COUNTS}
if words == ["models"]:
    try:
        with open(os.environ["LISTED"], "rb") as listed:
            show(listed.read())
    except FileNotFoundError:
        show(b"Please sign in: run agy\\n")
    sys.exit(0)
"""


def test_a_list_that_can_not_be_read_is_asked_for_again(lab: Lab) -> None:
    listed = lab.root / "listed"
    lab.extra["LISTED"] = str(listed)
    counting(lab, LISTS)
    check_not_launched(lab.dispatch("u1"), "preflight", 70, "unreadable", "sign in")
    listed.write_bytes(b"gemini-3.8-flash-high\n")
    assert lab.dispatch("u2").code == 0
    assert lab.dispatch("u3").code == 0
    assert questions(lab) == BOTH * 2


@pytest.mark.parametrize("model", ["gemini-3.9-flash-high", None], ids=["named", "default"])
def test_a_model_that_is_not_on_a_kept_list_is_looked_for_on_a_new_one_once(
    model: str | None, lab: Lab
) -> None:
    listed = lab.root / "listed"
    lab.extra["LISTED"] = str(listed)
    counting(lab, LISTS)
    listed.write_bytes(b"gemini-3.1-pro-low\n")
    env = {"ANTIGRAVITY_DISPATCH_MODEL": model}
    # New facts are believed.
    check_not_launched(lab.dispatch("u1", env=env), "preflight", 70, "unavailable", "gemini-3.1-pro-low")
    assert questions(lab) == BOTH
    # Kept ones are not, if they keep the unit from running.
    refused = lab.dispatch("u2", env=env)
    check_not_launched(refused, "preflight", 70, "unavailable")
    assert refused.text("preflight-tail").count("--version") == 1
    assert questions(lab) == BOTH * 2
    listed.write_bytes(b"gemini-3.9-flash-high\n")
    run = lab.dispatch("u3", env=env)
    assert run.code == 0, run
    assert run.text("model") == "gemini-3.9-flash-high\n"
    assert "gemini-3.9-flash-high" in run.text("preflight-tail")
    assert lab.dispatch("u4", env=env).code == 0
    assert questions(lab) == BOTH * 3


def test_a_model_that_went_is_refused_where_the_second_look_fails(lab: Lab) -> None:
    listed = lab.root / "listed"
    lab.extra["LISTED"] = str(listed)
    counting(lab, LISTS)
    listed.write_bytes(b"gemini-3.8-flash-high\n")
    assert lab.dispatch("u1").code == 0
    listed.unlink()
    named = {"ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.9-flash-high"}
    check_not_launched(lab.dispatch("u2", env=named), "preflight", 70, "unreadable", "sign in")
    assert lab.dispatch("u3").code == 0
    assert questions(lab) == BOTH * 2


def test_a_named_model_that_is_not_listed_is_unavailable(lab: Lab) -> None:
    lab.fake()
    run = lab.dispatch(env={"ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.1-pro-hgih"})
    check_not_launched(
        run, "preflight", 70, "gemini-3.1-pro-hgih", "unavailable", "ANTIGRAVITY_DISPATCH_MODEL"
    )
    assert "gemini-3.8-flash-high" in run.outcome["reason"]
    assert (run.outcome["model_asked"], run.outcome["model"]) == ("gemini-3.1-pro-hgih",) * 2
    assert lab.workers() == []


def test_the_default_takes_the_newest_of_its_family_and_says_so(lab: Lab) -> None:
    models = [
        "gemini-2026-flash-high",
        "gemini-3.9-flash-high",
        "gemini-3.10-flash-high",
        "gemini-3.11-flash-low",
        "gemini-4-flash-preview-high",
        "gemini-4-pro-high",
        "claude-sonnet-6-high",
    ]
    lab.fake(account=f"models = {json.dumps(models)}\n")
    note = "MODEL-RESOLVE from=gemini-3.8-flash-high to=gemini-3.10-flash-high reason=newest-in-family"
    run = lab.dispatch("u1")
    assert run.code == 0, run
    assert run.text("quota-note") == note + "\n"
    assert run.stderr.splitlines().count(note) == 1
    assert run.text("model") == "gemini-3.10-flash-high\n"
    outcome = run.outcome
    assert (outcome["model_asked"], outcome["model"]) == (None, "gemini-3.10-flash-high")
    assert lab.workers()[0]["argv"][5] == "gemini-3.10-flash-high"
    named = lab.dispatch("u2", env={"ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.9-flash-high"})
    assert named.text("model") == "gemini-3.9-flash-high\n"
    assert not (named.state / "quota-note").exists()
    low = lab.dispatch("u3", env={"ANTIGRAVITY_DISPATCH_EFFORT": "low"})
    assert low.text("model") == "gemini-3.11-flash-low\n"
    assert lab.workers()[2]["argv"][5:8] == ["gemini-3.11-flash-low", "--effort", "low"]


def says_it_runs(model: str) -> str:
    init: dict[str, Any] = {"event": "init", "conversation_id": CONVERSATION, "init": {"model": model}}
    return f"show({(json.dumps(init) + chr(10) + RESULT).encode()!r}); sys.exit(0)"


@pytest.mark.parametrize(
    ("said", "contradicts"),
    [("gemini-3.8-flash", False), ("claude-opus-5-5", True), ("gemini-3.8-pro", True)],
    ids=["without tier", "other group", "other family"],
)
def test_without_preflight_a_named_model_is_held_against_what_ran(
    said: str, *, contradicts: bool, lab: Lab
) -> None:
    counting(lab, work=says_it_runs(said))
    env = {"ANTIGRAVITY_PREFLIGHT": "off", "ANTIGRAVITY_DISPATCH_MODEL": "gemini-3.8-flash-high"}
    run = lab.dispatch(env=env)
    outcome = run.outcome
    assert (run.code, outcome["kind"], questions(lab)) == (0, "ok", [])
    warned = [warning for warning in outcome["warnings"] if said in warning]
    assert bool(warned) is contradicts
    ran = said if contradicts else "gemini-3.8-flash-high"
    assert (run.text("model"), outcome["model"]) == (ran + "\n", ran)
    assert outcome["model_asked"] == "gemini-3.8-flash-high"


def test_probes_do_not_wait_for_the_callers_stdin(lab: Lab) -> None:
    counting(lab, f"{COUNTS}\nif words in (['--version'], ['models']):\n    sys.stdin.buffer.read()\n")
    theirs, ours = os.pipe()
    try:
        run = lab.dispatch("u1", stdin=theirs)
    finally:
        os.close(theirs)
        os.close(ours)
    assert run.code == 0, run
    assert questions(lab) == BOTH


LEAVES = f"""
{COUNTS}
if words == ["models"]:
    import subprocess
    left = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
    note(os.environ["LEFT"], str(left.pid))
    left.returncode = 0
"""


def test_a_process_that_a_probe_leaves_behind_holds_nobody_up(lab: Lab) -> None:
    left = lab.root / "left"
    run = counting(lab, LEAVES).dispatch(env={"LEFT": str(left)})
    assert run.code == 0, run
    assert not is_alive(int(left.read_text(encoding="utf-8")))


def blocked(lab: Lab, unit: str = "u1") -> tuple[subprocess.Popen[bytes], Path]:
    """Return a dispatch whose first probe runs and does not answer, and its state directory."""
    running = lab.start(unit)
    state = lab.state_of(running)
    until(lambda: asked(lab))
    return running, state


@can_fork
@pytest.mark.parametrize(
    ("name", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)], ids=["TERM", "INT", "HUP"]
)
def test_a_signal_ends_a_dispatch_that_waits_for_a_probe(name: str, code: int, lab: Lab) -> None:
    counting(lab, BLOCKS)
    running, _ = blocked(lab)
    running.send_signal(getattr(signal, name))
    run = lab.finish(running)
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (code, "cancelled", "interrupted"), run
    assert name in outcome["reason"]
    assert run.document.startswith("# u1 result (FALLBACK")
    assert questions(lab) == ["--version"]
    assert not any(is_alive(pid) for pid, _ in asked(lab))
    assert lab.strays() == []


@can_fork
def test_a_signal_ends_a_dispatch_that_waits_for_anothers_probe(lab: Lab) -> None:
    counting(lab, BLOCKS)
    first, _ = blocked(lab, "u1")
    second = lab.start("u2")
    state = lab.state_of(second)
    until((state / "model").exists)  # the last it does before it asks for the lock
    second.send_signal(signal.SIGTERM)
    run = lab.finish(second, "u2")
    assert (run.code, run.outcome["kind"]) == (143, "interrupted"), run
    assert first.poll() is None
    assert questions(lab) == ["--version"]
    (lab.root / "gate").touch()
    assert lab.finish(first, "u1").code == 0


def test_a_cancel_request_ends_a_dispatch_that_waits_for_a_probe(lab: Lab) -> None:
    counting(lab, BLOCKS)
    running, state = blocked(lab)
    (state / "cancel").touch()
    run = lab.finish(running)
    assert (run.code, run.outcome["verdict"], run.outcome["kind"]) == (70, "cancelled", "cancelled"), run
    assert not any(is_alive(pid) for pid, _ in asked(lab))


@needs_modes
def test_facts_that_others_could_plant_are_not_shared(lab: Lab) -> None:
    counting(lab)
    cache = lab.root / "home" / "xdg-cache" / "prun"
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    for number in (1, 2):
        run = lab.dispatch(f"u{number}")
        assert run.code == 0, run
        assert any("open to other users" in warning for warning in run.outcome["warnings"])
        assert questions(lab) == BOTH * number
    assert list(cache.iterdir()) == []


def no_program(agy: Path) -> None:
    agy.write_bytes(b"no program of any kind\n")


def no_interpreter(agy: Path) -> None:
    agy.write_bytes(b"#!/no/such/interpreter\n")


@can_fork
@pytest.mark.parametrize("spoil", [no_program, no_interpreter], ids=["text", "interpreter"])
@pytest.mark.parametrize(("preflight", "kind"), [("auto", "preflight"), ("off", "launch")])
def test_a_file_that_is_no_program_cannot_be_started(
    spoil: Callable[[Path], None], preflight: str, kind: str, lab: Lab
) -> None:
    counting(lab)
    assert lab.agy is not None
    spoil(lab.agy)
    run = lab.dispatch(env={"ANTIGRAVITY_PREFLIGHT": preflight})
    outcome = run.outcome
    assert (run.code, outcome["kind"], outcome["result_author"]) == (70, kind, "fallback"), run
    assert "cannot run" in outcome["reason"]
    assert "Traceback" not in run.stderr


@can_fork
def test_a_program_that_goes_away_after_its_answers_cannot_be_started(lab: Lab) -> None:
    counting(lab, f"{COUNTS}\nif words == ['models']:\n    os.unlink(sys.argv[0])\n")
    run = lab.dispatch()
    assert (run.code, run.outcome["kind"]) == (70, "launch"), run
    assert questions(lab) == BOTH
