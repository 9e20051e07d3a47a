"""Every argument and every variable with values that can't be used: one line, exit 2, nothing happened."""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.capabilities import (
    make_fifo,
    needs_denial,
    needs_fifos,
    needs_name_limit,
    needs_read_only_disk,
    needs_symlinks,
    read_only_disk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from tests.support.lab import Lab, Run

NEXT_STEP = re.compile(
    r"\b(give|name|set|unset|choose|save|dispatch|continue|wait|look|see|change|install|--help)\b"
)
AT_ONCE = 4
LONG = "n" * 300
ABSENT = "--absent"

# Every variable with the commonest mistakes, and each of the rarer ones with some variable.
MISTAKES = ["", "10m", "-1", "1_000"]
NUMBERS = {
    "ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS": ["0", "604801", "nan", " 20 "],
    "ANTIGRAVITY_PREFLIGHT_TIMEOUT_SECONDS": ["0", "3601", "5.5", "9" * 20],
    "PRUN_REAP_IDLE_SECONDS": ["604801", "1e3", "\uff12\uff10", "0x10"],
    "PRUN_REAP_GRACE_SECONDS": ["86401", "+5", "\u0663", "inf"],
    "PRUN_MIN_RESULT_BYTES": ["1000001", " ", "20\n", "20 bytes"],
}
WORDS = {
    "ANTIGRAVITY_BIN": ["", " \t"],
    "ANTIGRAVITY_DISPATCH_MODEL": ["", " ", "\ufeff", "-m", "a\nb"],
    "ANTIGRAVITY_DISPATCH_EFFORT": ["", " ", "High", "xhigh", "low,high"],
    "ANTIGRAVITY_PREFLIGHT": ["", "Auto", "on", " off"],
    "PRUN_AGY_SANDBOX": ["2", "ja", "on off"],
    "PRUN_REAP_LEFTOVERS": ["2", "never", "-1"],
    "PRUN_WORKER_SESSION": ["", "Session", "pgrp"],
    "PRUN_STATE_ROOT": ["", " ", "a\nb"],
    "PRUN_KEEP_ENV": ["*", "A,B*", "AB?"],
}


def words_of(lab: Lab, changes: Mapping[str, str | None], more: Iterable[str] = ()) -> list[str]:
    """Return the command line of a good dispatch with *changes*; an option set to ``None`` is left out."""
    prompt = lab.caller / "u1.md"
    if not prompt.exists():
        prompt.write_bytes(b"Do the work.")
    options: dict[str, str | None] = {
        "--prompt-file": str(prompt),
        "--result-file": str(lab.result_of("u1")),
        "--unit-id": "u1",
        **changes,
    }
    given = [f"{name}={value}" for name, value in options.items() if value is not None]
    return [sys.executable, "-P", "-m", "prun.dispatch", *given, *more]


def run_words(
    lab: Lab, words: list[str], env: Mapping[str, str | None] | None = None, **popen: object
) -> Run:
    return lab.finish(lab.command(words, env=env, **popen))


def check_refusal(lab: Lab, run: Run, *named: str) -> None:
    """Assert that *run* is a usage error that names everything *named*, and that it left nothing."""
    assert (run.code, run.stdout) == (2, b""), run
    assert run.stderr.count("\n") == 1, run.stderr
    line = run.stderr.rstrip("\r\n")
    assert line.startswith("prun dispatch: "), line
    assert line.isprintable(), line
    assert NEXT_STEP.search(line), line
    for name in named:
        assert name in line, (name, line)
    assert lab.states() == []
    assert list((lab.root / "tmp").iterdir()) == []
    assert lab.calls() == []


def check_refusals(
    lab: Lab, cases: Iterable[tuple[list[str], Mapping[str, str | None]]], *named: str
) -> None:
    """Assert that each command line, in its environment, is a usage error; a few run at a time."""
    left = list(cases)
    while left:
        batch, left = left[:AT_ONCE], left[AT_ONCE:]
        for process in [lab.command(words, env=env) for words, env in batch]:
            check_refusal(lab, lab.finish(process), *named)
    assert not lab.result_of("u1").exists()


@pytest.fixture
def bench(lab: Lab) -> Lab:
    """Give a lab in which a dispatch would succeed."""
    return lab.fake()


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_plain_digits_in_its_range(name: str, bench: Lab) -> None:
    cases = [(words_of(bench, {}), {name: value}) for value in [*MISTAKES, *NUMBERS[name]]]
    check_refusals(bench, cases, name)


@pytest.mark.parametrize("name", WORDS)
def test_a_variable_that_cannot_be_used_is_named(name: str, bench: Lab) -> None:
    named = "STATE_ROOT" if name == "PRUN_STATE_ROOT" else name
    check_refusals(bench, [(words_of(bench, {}), {name: value}) for value in WORDS[name]], named)


@pytest.mark.smoke
def test_a_usage_error_is_one_line_and_leaves_nothing(bench: Lab) -> None:
    words = words_of(bench, {"--unit-id": "a/b"})
    check_refusal(bench, run_words(bench, words), "unit id", "a/b")
    assert not bench.result_of("u1").parent.exists()


def test_an_effort_that_a_named_model_contradicts_is_refused(bench: Lab) -> None:
    models = ["gemini-3.8-flash-high", "claude-opus-4-6-thinking"]
    check_refusals(
        bench,
        [
            (
                words_of(bench, {}),
                {"ANTIGRAVITY_DISPATCH_MODEL": model, "ANTIGRAVITY_DISPATCH_EFFORT": "low"},
            )
            for model in models
        ],
        "ANTIGRAVITY_DISPATCH_EFFORT",
        "ANTIGRAVITY_DISPATCH_MODEL",
    )


def test_a_value_given_for_a_name_to_keep_is_not_repeated(bench: Lab) -> None:
    run = run_words(bench, words_of(bench, {}), {"PRUN_KEEP_ENV": "A_TOKEN=hush-hush"})
    check_refusal(bench, run, "PRUN_KEEP_ENV")
    assert "hush" not in run.stderr


def test_a_worker_starts_no_units(bench: Lab) -> None:
    plain = words_of(bench, {})
    cases: list[dict[str, str | None]] = [
        {"PRUN_UNIT": "0123456789abcdef"},
        {"PRUN_UNIT": ""},
        {"PRUN_UNIT": "x", "PRUN_NESTED": "0"},
        {"PRUN_UNIT": "x", "PRUN_NESTED": ""},
    ]
    check_refusals(bench, [(plain, env) for env in cases], "PRUN_UNIT", "PRUN_NESTED=1")
    check_refusals(bench, [(plain, {"PRUN_UNIT": "x", "PRUN_NESTED": "perhaps"})], "PRUN_NESTED")
    allowed = bench.dispatch(env={"PRUN_UNIT": "x", "PRUN_NESTED": "1"})
    assert allowed.code == 0, allowed


def spoil_with_a_file(place: Path) -> list[Path]:
    place.write_bytes(b"mine")
    return [place, place / "below", place / "below" / "it"]


@pytest.mark.parametrize("name", ["PRUN_STATE_ROOT", "PRUN_SCRATCH_CWD"])
def test_a_directory_that_cannot_be_is_refused(name: str, bench: Lab, tmp_path: Path) -> None:
    places = [*spoil_with_a_file(tmp_path / "file"), tmp_path / LONG]
    words = words_of(bench, {"--mode": "plan"})
    check_refusals(bench, [(words, {name: str(place)}) for place in places], name)
    assert (tmp_path / "file").read_bytes() == b"mine"


@pytest.mark.parametrize("option", ["--prompt-file", "--result-file", "--unit-id"])
def test_a_needed_option_is_named(option: str, bench: Lab) -> None:
    good = {"--prompt-file": "u1.md", "--result-file": "r.md", "--unit-id": "u1"}[option]
    cases = [
        words_of(bench, {option: None}),
        words_of(bench, {option: ""}),
        words_of(bench, {}, [option, good]),
        words_of(bench, {option: None}, [option]),
    ]
    check_refusals(bench, [(words, {}) for words in cases], option.strip("-").replace("-id", ""))


def test_an_optional_option_is_named(bench: Lab) -> None:
    for option in ("--mode", "--continue-from", "--add-dir"):
        again = [] if option == "--add-dir" else [words_of(bench, {}, [f"{option}=plan"] * 2)]
        cases = [words_of(bench, {option: ""}), words_of(bench, {}, [option]), *again]
        check_refusals(bench, [(words, {}) for words in cases], option)


@pytest.mark.parametrize("stray", ["--ledger=x", "--nope", "--unit=x", "stray", "-p", "é\u200b"])
def test_what_is_no_option_is_refused(stray: str, bench: Lab) -> None:
    run = run_words(bench, words_of(bench, {}, [stray]))
    check_refusal(bench, run, "--help", stray.rstrip("\u200b"))


def test_a_unit_id_names_a_unit_on_every_system(bench: Lab) -> None:
    bad = ["a b", "../x", "é", "x" * 65, "NUL", "Com1", "a\n"]
    check_refusals(bench, [(words_of(bench, {"--unit-id": unit}), {}) for unit in bad], "unit id")


def test_a_mode_is_one_of_two_and_named_where_the_worker_gets_more(bench: Lab) -> None:
    bad = ["Plan", "yolo", "accept_edits"]
    check_refusals(bench, [(words_of(bench, {"--mode": mode}), {}) for mode in bad], "--mode", "accept-edits")
    more = [str(bench.caller)]
    cases: list[tuple[list[str], dict[str, str | None]]] = [
        (words_of(bench, {"--add-dir": more[0]}), {}),
        (words_of(bench, {}), {"PRUN_SCRATCH_CWD": str(bench.root / "given")}),
    ]
    check_refusals(bench, cases, "--mode plan", "--mode accept-edits")
    assert not (bench.root / "given").exists()


def test_an_added_directory_exists(bench: Lab) -> None:
    (bench.caller / "file").write_bytes(b"mine")
    bad = [" ", "missing", "file", "file/below", LONG]
    cases = [words_of(bench, {"--add-dir": path, "--mode": "plan"}) for path in bad]
    check_refusals(bench, [(words, {}) for words in cases], "--add-dir")


def a_prompt(place: Path, kind: str) -> None:
    match kind:
        case "directory":
            place.mkdir()
        case "cp1252":
            place.write_bytes("café review\n".encode("cp1252"))
        case "utf-16-le":
            place.write_bytes(b"\xff\xfe" + "Do it".encode("utf-16-le"))
        case "utf-16-be":
            place.write_bytes(b"\xfe\xff" + "Do it".encode("utf-16-be"))
        case "cut":
            place.write_bytes("Do it für".encode()[:-2])
        case "surrogate":
            place.write_bytes(b"Do it \xed\xa0\x80")
        case "huge":
            with place.open("wb") as file:
                file.truncate(64 * 1024 * 1024 + 1)
        case "fifo":
            make_fifo(place)
        case "dangling":
            place.symlink_to(place.with_name("nowhere"))
        case _:
            assert kind == "missing"


@pytest.mark.parametrize(
    "kind",
    [
        "missing",
        "directory",
        "cp1252",
        "utf-16-le",
        "utf-16-be",
        "cut",
        "surrogate",
        "huge",
        pytest.param("fifo", marks=needs_fifos),
        pytest.param("dangling", marks=needs_symlinks),
    ],
)
def test_a_prompt_that_is_no_text_in_utf8_is_refused(kind: str, bench: Lab) -> None:
    place = bench.caller / "the prompt"
    a_prompt(place, kind)
    run = run_words(bench, words_of(bench, {"--prompt-file": "the prompt"}))
    check_refusal(bench, run, "prompt file", str(place))


def test_a_prompt_path_that_is_none_is_refused(bench: Lab) -> None:
    for path in (LONG, "u1.md/below", "é\u2028"):
        run = run_words(bench, words_of(bench, {"--prompt-file": path}))
        check_refusal(bench, run, "prompt file")


def occupy(place: Path, kind: str) -> None:
    place.parent.mkdir(parents=True)
    match kind:
        case "text":
            place.write_bytes(b"mine")
        case "empty":
            place.touch()
        case "directory":
            place.mkdir()
            (place / "mine").write_bytes(b"mine")
        case "fifo":
            make_fifo(place)
        case "link":
            place.with_name("target").write_bytes(b"mine")
            place.symlink_to(place.with_name("target"))
        case _:
            assert kind == "dangling"
            place.symlink_to(place.with_name("nowhere"))


def seen(root: Path) -> dict[str, tuple[object, ...]]:
    """Return all that can be seen of what is at and below *root*, links not followed."""
    found: dict[str, tuple[object, ...]] = {}
    for path in [root, *root.rglob("*")]:
        told = path.lstat()
        what: object = None
        if stat.S_ISLNK(told.st_mode):
            what = path.readlink()
        elif stat.S_ISREG(told.st_mode):
            what = path.read_bytes()
        found[str(path.relative_to(root))] = (told.st_mode, told.st_size, told.st_mtime_ns, told.st_ino, what)
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "text",
        "empty",
        "directory",
        pytest.param("fifo", marks=needs_fifos),
        pytest.param("link", marks=needs_symlinks),
        pytest.param("dangling", marks=needs_symlinks),
    ],
)
def test_what_stands_at_the_result_path_stays_untouched(kind: str, bench: Lab) -> None:
    place = bench.result_of("u1")
    occupy(place, kind)
    before = seen(place.parent)
    check_refusal(bench, run_words(bench, words_of(bench, {})), "result file", str(place))
    assert seen(place.parent) == before


def deep(place: Path, beyond: int) -> Path:
    """Return a path whose own length the system takes, with *beyond* characters to spare."""
    longest: Callable[[str, str], int] = getattr(os, "pathconf")  # noqa: B009 - Windows has none
    limit = longest("/", "PC_PATH_MAX") - 1
    path = place
    while len(os.fsencode(path)) < limit - 220:
        path /= "d" * 100
    parent_length = limit - beyond - len("/r.md")
    path /= "e" * (parent_length - len(os.fsencode(path)) - 1)
    return path / "r.md"


def unwritable(lab: Lab, kind: str) -> Path:
    results = lab.root / "results"
    results.mkdir()
    (results / "file").write_bytes(b"mine")
    match kind:
        case "parent is a file":
            return results / "file" / "r.md"
        case "grandparent is a file":
            return results / "file" / "below" / "r.md"
        case "name too long":
            return results / f"{'n' * 253}.md"
        case "no room for the response":
            return results / f"{'n' * 245}.md"
        case "no room for the temporary name":
            return deep(results, 10)
        case "a line break in its name":
            return results / "two\nlines.md"
        case _:
            assert kind == "a directory's name"
            return results


@pytest.mark.parametrize(
    "kind",
    [
        "parent is a file",
        "grandparent is a file",
        pytest.param("name too long", marks=needs_name_limit),
        pytest.param("no room for the response", marks=needs_name_limit),
        pytest.param(
            "no room for the temporary name",
            marks=pytest.mark.skipif(
                not hasattr(os, "pathconf"), reason="needs a limit for paths that is told"
            ),
        ),
        "a directory's name",
        "a line break in its name",
    ],
)
def test_a_result_that_could_not_be_written_is_refused(kind: str, bench: Lab) -> None:
    place = unwritable(bench, kind)
    run = run_words(bench, words_of(bench, {"--result-file": str(place)}))
    check_refusal(bench, run, "result file")
    files = [path for path in (bench.root / "results").rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["file"]
    assert files[0].read_bytes() == b"mine"


@needs_denial
def test_a_result_in_a_closed_directory_is_refused(bench: Lab) -> None:
    closed = bench.root / "results"
    closed.mkdir(mode=0o500)
    try:
        for path in (closed / "r.md", closed / "below" / "r.md"):
            run = run_words(bench, words_of(bench, {"--result-file": str(path)}))
            check_refusal(bench, run, "result file", str(path))
    finally:
        closed.chmod(0o700)


@needs_read_only_disk
def test_a_result_on_a_disk_that_cannot_be_written_to_is_refused(bench: Lab) -> None:
    place = bench.root / "results"
    place.mkdir()
    with read_only_disk(place):
        for path in (place / "r.md", place / "below" / "r.md"):
            run = run_words(bench, words_of(bench, {"--result-file": str(path)}))
            check_refusal(bench, run, "result file", str(path))


@needs_name_limit
def test_a_result_name_with_just_enough_room_is_taken(lab: Lab) -> None:
    lab.fake("worker_writes_result")
    place = lab.root / "results" / f"{'n' * (255 - len('.response.md'))}.md"
    run = run_words(lab, words_of(lab, {"--result-file": str(place)}))
    assert run.code == 0, run
    assert sorted(path.name for path in place.parent.iterdir()) == sorted(
        [place.name, f"{place.stem}.response.md"]
    )


JUNK_IDS = {
    "empty": b"",
    "blank": b" \n",
    "two lines": b"abc-1\nabc-2\n",
    "an option": b"-rf\n",
    "a path": b"../x\n",
    "a Windows path": b"a\\b\n",
    "blanks": b"a b\n",
    "undecodable": b"abc\xff\n",
    "utf-16": "abc-1".encode("utf-16"),
    "too long": b"a" * 129 + b"\n",
    "huge": b"a" * 5000,
}


def test_an_id_that_is_none_is_not_continued_from(bench: Lab) -> None:
    cases = []
    for number, junk in enumerate(JUNK_IDS.values()):
        earlier = bench.root / f"earlier-{number}"
        earlier.mkdir()
        (earlier / "conversation-id").write_bytes(junk)
        cases.append(words_of(bench, {"--continue-from": str(earlier)}))
    check_refusals(bench, [(words, {}) for words in cases], "conversation-id", "continue")


def earlier_state(place: Path, kind: str) -> None:
    match kind:
        case "missing":
            return
        case "a file":
            place.write_bytes(b"abc-1\n")
            return
        case _:
            place.mkdir()
    match kind:
        case "nothing in it":
            return
        case "a tail without init":
            (place / "tail").write_bytes(b'{"event":"step_update"}\nnoise\n{"event":"ini')
        case "an id in tail that is a path":
            (place / "tail").write_bytes(b'{"event":"init","conversation_id":"../x","init":{}}\n')
        case "an id in tail that is an option":
            (place / "tail").write_bytes(b'{"event":"init","conversation_id":"--help","init":{}}\n')
        case "a directory for an id":
            (place / "conversation-id").mkdir()
        case _:
            assert kind == "a FIFO for an id"
            make_fifo(place / "conversation-id")


@pytest.mark.parametrize(
    "kind",
    [
        "missing",
        "a file",
        "nothing in it",
        "a tail without init",
        "an id in tail that is a path",
        "an id in tail that is an option",
        "a directory for an id",
        pytest.param("a FIFO for an id", marks=needs_fifos),
    ],
)
def test_what_is_no_state_directory_is_not_continued_from(kind: str, bench: Lab) -> None:
    place = bench.root / "earlier"
    earlier_state(place, kind)
    run = run_words(bench, words_of(bench, {"--continue-from": str(place)}))
    check_refusal(bench, run, str(place), "continue" if place.is_dir() else "state directory")
    check_refusal(bench, run_words(bench, words_of(bench, {"--continue-from": LONG})), "--continue-from")


def test_records_that_cannot_be_kept_are_a_usage_error(bench: Lab) -> None:
    earlier = bench.root / "earlier"
    earlier.mkdir()
    (earlier / "conversation-id").write_bytes(b"abc-1\n")
    words = words_of(bench, {"--continue-from": str(earlier)})
    in_the_way = bench.root / "file"
    in_the_way.write_bytes(b"mine")
    name = "WIN_PD_OVERRIDE_LOCAL_APPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    check_refusal(bench, run_words(bench, words, {name: str(in_the_way)}), str(in_the_way))


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs a directory that can be removed from under a process"
)
def test_a_caller_in_a_directory_that_is_gone_is_told_so(bench: Lab) -> None:
    gone = bench.root / "gone"
    gone.mkdir()
    script = 'rmdir "$1" && shift && exec "$@"'
    words = ["/bin/sh", "-c", script, "sh", str(gone), *words_of(bench, {})]
    check_refusal(bench, run_words(bench, words, cwd=gone), "current directory")


MISSING: dict[str, Callable[[Lab], str]] = {
    "no such file": lambda lab: str(lab.root / "nowhere" / "agy"),
    "a directory": lambda lab: str(lab.caller),
    "the root": lambda _lab: os.sep,
    "a name too long": lambda lab: str(lab.root / LONG),
    "no program": lambda lab: str(lab.caller / "u1.md"),
    "not on PATH": lambda _lab: "no-such-agy",
    "only in the current directory": lambda _lab: "agy-here",
}


@pytest.mark.parametrize("kind", MISSING)
def test_an_agy_that_is_not_there_is_exit_70_before_any_state_directory(kind: str, bench: Lab) -> None:
    here = bench.caller / ("agy-here.exe" if sys.platform == "win32" else "agy-here")
    here.write_bytes(b"#!/bin/sh\n")
    here.chmod(0o755)
    run = run_words(bench, words_of(bench, {}), {"ANTIGRAVITY_BIN": MISSING[kind](bench)})
    assert (run.code, run.stdout) == (70, b""), run
    assert run.stderr.startswith("prun dispatch: ")
    assert run.stderr.count("\n") == 1
    assert "ANTIGRAVITY_BIN" in run.stderr
    assert bench.states() == []
    assert not bench.result_of("u1").exists()
