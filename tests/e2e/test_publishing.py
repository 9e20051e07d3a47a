"""What stands at the result path in the end, whose it is, and that finished work is never lost."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from prun.core.outcome import Outcome
from tests.support.capabilities import needs_fifos, needs_small_disk, needs_symlinks, small_disk
from tests.support.processes import can_fork, until
from tests.support.scenes import ANSWER, do, failed, python, result, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.lab import Lab, Run

OWN = "# u1 result\r\nConclusion: written by the worker itself, as bytes: \u00e9\u20ac.\n\n\n"
KEYS = {
    *("schema", "unit", "attempt", "verdict", "kind", "reason", "exit_code", "worker_exit", "worker_signal"),
    *("status", "result_path", "result_author", "response_path", "conversation_id", "model_asked", "model"),
    *("usage", "num_turns", "denied_actions", "warnings", "quota", "tree", "leftovers", "adopted"),
    *("started_at", "ended_at", "duration_s"),
}
FILL = (
    "import errno, sys\n"
    "with open(sys.argv[1], 'wb', buffering=0) as file:\n"
    "    for size in (65536, 4096, 512, 1):\n"
    "        try:\n"
    "            while file.write(bytes(size)): pass\n"
    "        except OSError as error:\n"
    "            if error.errno != errno.ENOSPC: raise\n"
)


def beside(run: Run) -> Path:
    return run.result.with_name("u1.response.md")


def publication(run: Run) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(run.text("publish.json"))
    return record


def check_failed_to_publish(run: Run, kept: str | None) -> dict[str, Any]:
    outcome = run.outcome
    assert run.code == outcome["exit_code"] == 70
    assert (outcome["verdict"], outcome["kind"]) == ("failed", "publish")
    assert (outcome["result_author"], outcome["response_path"]) == ("none", kept)
    assert outcome["reason"].startswith(f"the result can't be put at {run.result}")
    assert outcome["reason"] in run.stderr
    return outcome


@pytest.mark.smoke
def test_the_response_is_published_stripped_with_one_line_feed(lab: Lab) -> None:
    run = lab.plays(say(), result(f"\ufeff \n\t{ANSWER}  \r\n\n")).dispatch()
    assert run.result.read_bytes() == ANSWER.encode() + b"\n"
    assert (run.outcome["result_author"], run.outcome["response_path"]) == ("response", None)
    assert not beside(run).exists()


@pytest.mark.parametrize(
    "ending",
    [[say("done")], [say("done"), result("done"), do("exit", code=1)], [failed("no")]],
    ids=["well", "with exit 1", "in an error"],
)
def test_a_worker_s_own_file_stays_byte_for_byte_however_the_run_ends(
    ending: list[dict[str, Any]], lab: Lab
) -> None:
    run = lab.plays(do("write", text=OWN, chunks=5), *ending).dispatch()
    assert run.result.read_bytes() == OWN.encode()
    assert run.outcome["result_author"] == "worker"
    assert not (run.state / "publish.json").exists()


def test_an_own_file_of_a_failed_run_is_no_done_unit(lab: Lab) -> None:
    steps = [do("write", text="# u1 result\nConclusion: in progress\n"), failed("something broke")]
    run = lab.plays(*steps, do("exit", code=0)).dispatch()
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["kind"]) == (70, "failed", "error")
    assert run.document == "# u1 result\nConclusion: in progress\n"


def test_the_response_beside_an_own_file_is_kept(lab: Lab) -> None:
    run = lab.plays(do("write", text=OWN), say()).dispatch()
    assert run.outcome["response_path"] == str(beside(run))
    assert beside(run).read_text(encoding="utf-8") == ANSWER + "\n"


@pytest.mark.parametrize("blank", ["", " \n\t\r\n", "\ufeff", "\ufeff \n"])
def test_a_blank_file_at_the_result_path_is_replaced(blank: str, lab: Lab) -> None:
    run = lab.plays(do("write", text=blank), say()).dispatch()
    assert run.document == ANSWER + "\n"
    assert run.outcome["result_author"] == "response"


def test_a_blank_file_is_replaced_by_the_fallback_of_a_failed_run(lab: Lab) -> None:
    run = lab.plays(do("write", text=" \n"), failed("no")).dispatch()
    assert run.outcome["result_author"] == "fallback"
    assert run.document.startswith("# u1 result (FALLBACK, ")


STANDING = {
    "directory": "import os, sys; os.mkdir(sys.argv[1])",
    "directory with something in it": "import os, sys; os.makedirs(sys.argv[1] + '/within')",
    "FIFO": "import os, sys; os.mkfifo(sys.argv[1])",
    "dangling link": "import os, sys; os.symlink('nowhere', sys.argv[1])",
    "link to a directory": "import os, sys; os.symlink('.', sys.argv[1])",
}
NEEDS = {"FIFO": needs_fifos, "dangling link": needs_symlinks, "link to a directory": needs_symlinks}


@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=[NEEDS[name]] if name in NEEDS else [], id=name) for name in STANDING]
)
def test_what_is_no_file_at_the_result_path_stays_and_the_response_is_kept(what: str, lab: Lab) -> None:
    run = lab.plays(python(STANDING[what], "{result_file}"), say()).dispatch()
    check_failed_to_publish(run, str(run.state / "response"))
    assert run.text("response") == ANSWER + "\n"
    assert not run.result.is_file()
    assert not (run.result.parent / "nowhere").exists()


def test_a_directory_at_the_result_path_of_a_failed_run_is_told_of(lab: Lab) -> None:
    run = lab.plays(
        python(STANDING["directory"], "{result_file}"), say(), result(), do("exit", code=1)
    ).dispatch()
    outcome = run.outcome
    assert (run.code, outcome["kind"], outcome["result_author"]) == (1, "crashed", "none")
    assert any(warning.startswith("not published: ") for warning in outcome["warnings"])
    assert beside(run).read_text(encoding="utf-8") == ANSWER + "\n"


@needs_symlinks
def test_a_link_to_a_file_of_the_worker_s_counts_as_its_file(lab: Lab) -> None:
    link = (
        "import os, sys; path = os.path.abspath('mine'); open(path, 'w').write('Conclusion: mine.'); "
        "os.symlink(path, sys.argv[1])"
    )
    run = lab.plays(python(link, "{result_file}"), say()).dispatch()
    assert run.outcome["result_author"] == "worker"
    assert run.document == "Conclusion: mine."


def test_the_response_is_kept_where_the_worker_removed_the_result_s_directory(lab: Lab) -> None:
    gone = python("import os, sys; os.rmdir(os.path.dirname(sys.argv[1]))", "{result_file}")
    run = lab.plays(gone, say()).dispatch()
    check_failed_to_publish(run, str(run.state / "response"))
    assert run.text("response") == ANSWER + "\n"


def test_a_response_whose_place_is_taken_is_kept_in_the_state_directory(lab: Lab) -> None:
    taken = do(
        "write", path=str(lab.result_of("u1").with_name("u1.response.md")), text="the worker's own notes"
    )
    run = lab.plays(taken, say(), result(), do("exit", code=1)).dispatch()
    outcome = run.outcome
    assert (run.code, outcome["kind"]) == (1, "crashed")
    assert outcome["response_path"] == str(run.state / "response")
    assert run.text("response") == ANSWER + "\n"
    assert beside(run).read_text(encoding="utf-8") == "the worker's own notes"
    assert f"Response: kept in {run.state / 'response'}\n" in run.document
    assert any("could not be kept" in warning for warning in outcome["warnings"])


@needs_small_disk
def test_a_full_disk_under_the_result_loses_no_response(lab: Lab) -> None:
    results = lab.result_of("u1").parent
    results.mkdir()
    lab.plays(say(), result(), python(FILL, str(results / "filler")))
    with small_disk(results, 128):
        run = lab.dispatch()
        outcome = check_failed_to_publish(run, str(run.state / "response"))
        assert "No space left" in outcome["reason"]
        assert run.text("response") == ANSWER + "\n"
        assert [path.name for path in results.iterdir()] == ["filler"]


@needs_small_disk
def test_a_full_disk_under_the_state_directory_stops_neither_result_nor_verdict(lab: Lab) -> None:
    root = lab.root / "state"
    root.mkdir()
    lab.plays(say(), result(), python(FILL, str(root / "filler")))
    with small_disk(root, 512):
        run = lab.dispatch()
        outcome = run.outcome
        assert (run.code, outcome["kind"], outcome["result_author"]) == (0, "ok", "response"), outcome
        assert any("publish.json can't be written" in warning for warning in outcome["warnings"])
        assert run.document == ANSWER + "\n"


@needs_small_disk
def test_a_full_disk_under_everything_leaves_verdict_and_tail(lab: Lab) -> None:
    root = lab.root / "state"
    root.mkdir()
    lab.result_of("u1").parent.symlink_to(root)
    lab.plays(say(), result(), python(FILL, str(root / "filler")))
    with small_disk(root, 512):
        run = lab.dispatch()
        outcome = check_failed_to_publish(run, None)
        assert any("tail only" in warning for warning in outcome["warnings"])
        assert json.dumps(ANSWER)[1:-1] in run.text("tail")


@pytest.mark.parametrize("how", ["file", "directory", "link", "several"])
def test_a_foreign_outcome_is_moved_aside_and_told_of(how: str, lab: Lab) -> None:
    if how == "link" and needs_symlinks.args[0]:
        pytest.skip("no symbolic links")
    codes = {
        "file": "open('../outcome.json', 'w').write('{\"verdict\": \"completed\"}')",
        "directory": "import os; os.mkdir('../outcome.json')",
        "link": "import os; os.symlink('tail', '../outcome.json')",
        "several": "[open(f'../outcome.{name}', 'w').write('mine') for name in ('json', 'foreign.1')]",
    }
    run = lab.plays(python(codes[how]), say(), result(), do("exit", code=1)).dispatch()
    outcome = run.outcome
    assert (run.code, outcome["verdict"], outcome["unit"]) == (1, "failed", "u1")
    aside = "outcome.foreign.2" if how == "several" else "outcome.foreign.1"
    assert (run.state / aside).is_symlink() or (run.state / aside).exists()
    assert any(aside in warning for warning in outcome["warnings"])
    assert (run.state / "outcome.json").is_file()
    assert not (run.state / "outcome.json").is_symlink()


COMES_BETWEEN = """
import prun.flow.concluding as it
announce = it._announce
def comes(dispatch, author, document):
    announce(dispatch, author, document)
    with open(dispatch.request.result_file, 'w') as file:
        file.write('Conclusion: late, and the worker\\'s own.')
it._announce = comes
"""


@pytest.mark.parametrize("ends_well", [True, False])
def test_a_worker_s_file_that_comes_in_the_last_moment_is_not_replaced(ends_well: bool, lab: Lab) -> None:
    run = lab.plays(say(), *([] if ends_well else [result(), do("exit", code=1)])).dispatch_with(
        COMES_BETWEEN
    )
    assert run.document == "Conclusion: late, and the worker's own."
    outcome = run.outcome
    assert (outcome["kind"], outcome["result_author"]) == ("ok" if ends_well else "crashed", "worker")
    assert outcome["response_path"] == str(beside(run))
    assert beside(run).read_text(encoding="utf-8") == ANSWER + "\n"


OUTCOME_COMES_BETWEEN = """
import prun.flow.concluding as it
commit, times = it.commit_slot, []
def comes(slot, target, data, clock):
    times.append(target)
    if len(times) <= {times}:
        target.write_text('another')
    commit(slot, target, data, clock)
it.commit_slot = comes
"""


@pytest.mark.parametrize(("times", "code"), [(1, 0), (2, 0), (3, 70)])
def test_an_outcome_that_comes_in_the_last_moment_is_moved_aside_too(times: int, code: int, lab: Lab) -> None:
    run = lab.plays(say()).dispatch_with(OUTCOME_COMES_BETWEEN.format(times=times))
    assert run.code == code
    assert run.document == ANSWER + "\n"
    if code == 0:
        assert run.outcome["unit"] == "u1"
        assert (run.state / f"outcome.foreign.{times}").read_text(encoding="utf-8") == "another"
    else:
        assert "the outcome can't be written" in run.stderr


SLOTS = {
    "removed": "import os; os.remove('../outcome.slot')",
    "a directory": "import os; os.remove('../outcome.slot'); os.mkdir('../outcome.slot')",
    "a link": "import os; os.remove('../outcome.slot'); os.symlink('tail', '../outcome.slot')",
    "a second name": "import os; os.link('../outcome.slot', '../mine')",
}


@can_fork
@pytest.mark.parametrize("how", SLOTS)
def test_a_slot_that_the_worker_spoilt_costs_no_verdict(how: str, lab: Lab) -> None:
    run = lab.plays(python(SLOTS[how]), say()).dispatch()
    assert (run.code, run.outcome["kind"]) == (0, "ok")
    assert '"event"' in run.text("tail")


@can_fork
def test_a_worker_that_takes_its_state_directory_away_gets_a_result_all_the_same(lab: Lab) -> None:
    take_away = (
        "import os, time\n"
        "place = os.path.dirname(os.getcwd())\n"
        "while not os.path.exists(place + '/conversation-id'): time.sleep(0.01)\n"
        "os.rename(place, place + '-away')\n"
    )
    run = lab.plays(say(), result(), python(take_away)).dispatch()
    assert run.code == 70
    assert "the outcome can't be written" in run.stderr
    assert "Traceback" not in run.stderr
    assert run.result.stat().st_size > 0


def test_what_prun_publishes_is_recorded_before_with_its_hash(lab: Lab) -> None:
    runs = {"response": lab.plays(say()).dispatch("u1"), "fallback": lab.plays(failed("no")).dispatch("u2")}
    for author, run in runs.items():
        data = run.result.read_bytes()
        record = publication(run)
        assert record["author"] == author
        assert record["sha256"] == hashlib.sha256(data).hexdigest()
        assert record["size"] == len(data)
        assert (run.state / "publish.json").stat().st_mtime_ns <= run.result.stat().st_mtime_ns


def test_the_outcome_is_the_last_thing_to_appear(lab: Lab) -> None:
    lab.plays(say())
    dispatcher = lab.start()
    state = lab.state_dir()

    def everything() -> dict[str, object]:
        files = {
            path: path.stat()
            for path in (*state.iterdir(), lab.result_of("u1"))
            if path.name != "outcome.slot"
        }
        return {str(path): (found.st_size, found.st_mtime_ns) for path, found in files.items()}

    seen: list[dict[str, object]] = []

    def watch() -> None:
        until((state / "outcome.json").exists)
        seen.append(everything())

    watcher = threading.Thread(target=watch)
    watcher.start()
    run = lab.finish(dispatcher)
    watcher.join()
    assert seen == [everything()]
    assert run.outcome["kind"] == "ok"


def test_the_outcome_has_exactly_the_contract_s_keys_sorted(lab: Lab) -> None:
    run = lab.plays(say("Résumé: " + ANSWER)).dispatch()
    keys = list(json.loads(run.text("outcome.json")))
    assert keys == sorted(keys)
    assert set(keys) == KEYS
    assert keys == sorted(field.name for field in fields(Outcome))
    outcome = run.outcome
    assert (outcome["schema"], outcome["attempt"], outcome["adopted"]) == (1, 1, False)
    assert (outcome["unit"], outcome["result_path"]) == ("u1", str(run.result))
    assert (outcome["worker_exit"], outcome["worker_signal"], outcome["exit_code"]) == (0, None, 0)
    assert outcome["started_at"].endswith("Z")
    assert outcome["started_at"] <= outcome["ended_at"]


def test_a_fallback_is_its_document_to_the_byte(lab: Lab) -> None:
    steps = [
        say("Half of the answer, with ``` in it.", open=True),
        do("stderr", text="one line on stderr"),
        do("stderr", text="````"),
        do("exit", code=9),
    ]
    run = lab.plays(*steps).dispatch()
    reason = "Agy exited with code 9"
    expected = (
        "# u1 result (FALLBACK, Agy wrote no final result)\n"
        f"Conclusion: INCOMPLETE; {reason}\n"
        "Files: unknown\n"
        f"Open items: {reason}\n"
        "Verification: none (dispatcher fallback)\n"
        "\n"
        "## Answer text salvaged from the stream\n"
        "\n"
        "````text\n"
        "Half of the answer, with ``` in it.\n"
        "````\n"
        "\n"
        "## End of the worker's output\n"
        "\n"
        "````text\n"
        f"{run.text('tail')}"
        "````\n"
        "\n"
        "## End of its stderr\n"
        "\n"
        "`````text\n"
        "one line on stderr\n"
        "````\n"
        "`````\n"
    )
    assert run.result.read_bytes() == expected.encode()
    assert run.outcome["reason"] == reason


def test_a_fallback_shows_the_last_256_kib_of_tail_and_stderr(lab: Lab) -> None:
    floods = [do("flood", size=400_000, width=1000, to=to) for to in ("stdout", "stderr")]
    run = lab.plays(*floods, do("stderr", text="the very end"), do("exit", code=9)).dispatch()
    size_bytes = len(run.result.read_bytes())
    assert 500 * 1024 < size_bytes < 514 * 1024
    assert run.document.endswith("the very end\n```\n")


@pytest.mark.parametrize(
    ("answer", "floor", "kind"),
    [
        ("\u20ac" * 10, 30, "ok"),
        ("\u20ac" * 10, 31, "short"),
        ("  " + "x" * 19 + "\n\n", 20, "short"),
        ("  " + "x" * 20 + "\n\n", 20, "ok"),
        ("x", 0, "ok"),
        (" \n", 0, "silent"),
        ("\U0001f388", 4, "ok"),
        ("\U0001f388", 5, "short"),
    ],
    ids=[
        "thirty bytes",
        "one too few",
        "blanks count for nothing",
        "at it",
        "no floor",
        "blank",
        "four",
        "five",
    ],
)
def test_the_floor_is_counted_in_bytes_of_utf8_after_stripping(
    answer: str, floor: int, kind: str, lab: Lab
) -> None:
    run = lab.plays(result(answer)).dispatch(env={"PRUN_MIN_RESULT_BYTES": str(floor)})
    assert run.outcome["kind"] == kind
    if kind == "ok":
        assert run.document == answer.strip() + "\n"
