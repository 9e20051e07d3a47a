"""Collecting real files by a clock that only this test moves: when each of them lands."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from prun.core.errors import UsageError
from prun.core.lines import GatherJson, GatherText
from prun.core.watch_settings import GatherArguments, GatherSettings, read_gather_arguments
from prun.flow.collecting import gather
from tests.support.capabilities import make_fifo, needs_fifos, needs_symlinks
from tests.support.clocks import StagedClock
from tests.support.units import ANSWER, FAILED, FALLBACK, Made, make_unit, nobody

if TYPE_CHECKING:
    from pathlib import Path

WINDOW_S = 10.0
SOON_S = 0.25 + 1e-6


@pytest.fixture
def clock() -> StagedClock:
    return StagedClock()


class Place:
    """Where gather is called: results, a state root, and a clock."""

    def __init__(self, root: Path, clock: StagedClock) -> None:
        self.root = root
        self.clock = clock
        self.code = -1
        self.told: list[tuple[float, str]] = []

    def file(self, name: str = "r.md", data: bytes = ANSWER, age_s: float = 0.0) -> Path:
        path = self.root / name
        path.write_bytes(data)
        at_s = self.clock.utc().timestamp() - age_s
        os.utime(path, (at_s, at_s))
        return path

    def unit(self, name: str = "u1", *, older: bool = False, where: str = "state") -> Made:
        return make_unit(self.root / where, name, clock=self.clock, older=older)

    def gather(self, *words: str | Path, timeout_s: float = 3600) -> list[str]:
        """Return the lines of a gather; ``code`` is its exit status, ``told`` when each line came."""
        arguments = read_gather_arguments([str(word) for word in words])
        assert isinstance(arguments, GatherArguments)
        settings = GatherSettings(5.0, timeout_s, WINDOW_S, str(self.root / "state"))
        self.code = gather(
            arguments,
            settings,
            {},
            self.root,
            clock=self.clock,
            lines=GatherJson() if arguments.json else GatherText(),
            say=lambda line: self.told.append((self.clock.passed_s, line)),
        )
        return [line for _, line in self.told]

    def landed_at(self, path: Path) -> float:
        (at_s,) = {at_s for at_s, line in self.told if line == f"DONE {path}"}
        return at_s


@pytest.fixture
def place(tmp_path: Path, clock: StagedClock) -> Place:
    return Place(tmp_path, clock)


def test_a_file_older_than_the_window_fires_at_once(place: Place) -> None:
    path = place.file(age_s=11)
    assert place.gather(path) == ["GATHER-START count=1 timeout=3600s", f"DONE {path}"]
    assert (place.code, place.clock.passed_s) == (0, 0)


def test_a_younger_one_fires_when_its_window_is_over(place: Place) -> None:
    path = place.file(age_s=4)
    place.gather(path)
    assert 6 <= place.landed_at(path) <= 6 + SOON_S


def test_a_result_in_two_parts_fires_after_the_second(place: Place) -> None:
    path = place.root / "r.md"
    place.clock.at(20, lambda: place.file(data=b"part one\n"))
    place.clock.at(28, lambda: place.file(data=b"part one\npart two\n"))
    place.gather(path)
    assert 38 <= place.landed_at(path) <= 38 + 2 * SOON_S


def test_the_window_is_measured_by_gathers_own_clock(place: Place) -> None:
    path = place.root / "r.md"
    place.clock.at(20, lambda: place.file(age_s=86_400))
    place.gather(path)
    assert 30 <= place.landed_at(path) <= 30 + 2 * SOON_S


def test_a_time_in_the_future_is_not_waited_for(place: Place) -> None:
    path = place.file(age_s=-86_400)
    place.gather(path)
    assert 10 <= place.landed_at(path) <= 10 + SOON_S


@pytest.mark.parametrize("data", [b"", b" \n\t", b"\xef\xbb\xbf", b"\xff\xfe"], ids=ascii)
def test_a_blank_file_has_not_landed(data: bytes, place: Place) -> None:
    path = place.file(data=data, age_s=100)
    assert place.gather(path, timeout_s=30)[1:] == ["TIMEOUT remaining=1", f"MISSING {path}"]
    assert place.code == 2


@needs_fifos
def test_what_is_no_regular_file_has_not_landed_and_holds_nothing_up(place: Place) -> None:
    make_fifo(place.root / "fifo")
    good = place.file(age_s=100)
    lines = place.gather(place.root / "fifo", good, timeout_s=30)
    assert lines[1:] == [f"DONE {good}", "TIMEOUT remaining=1", f"MISSING {place.root / 'fifo'}"]


def test_a_live_unit_fires_with_its_outcome_and_not_before(place: Place) -> None:
    made = place.unit()
    made.writes(age_s=100)
    place.clock.at(300.1, made.ends)
    place.gather(made.result)
    assert 300.1 <= place.landed_at(made.result) <= 300.1 + SOON_S
    assert place.code == 0


def test_a_unit_that_is_over_fires_at_once(place: Place) -> None:
    made = place.unit()
    made.writes()
    made.ends()
    place.gather(made.result)
    assert place.landed_at(made.result) == 0


def test_a_unit_whose_owner_is_dead_falls_back_to_quiet(place: Place) -> None:
    made = place.unit()
    made.owned_by(nobody())
    made.writes()
    place.gather(made.result)
    assert 10 <= place.landed_at(made.result) <= 11 + SOON_S


def test_a_unit_of_an_older_tool_goes_by_quiet(place: Place) -> None:
    made = place.unit(older=True)
    made.writes(age_s=4)
    place.gather(made.result)
    assert 6 <= place.landed_at(made.result) <= 7 + SOON_S


def test_an_earlier_run_says_nothing_of_a_document_that_came_after_it(place: Place) -> None:
    earlier = place.unit()
    earlier.ends(place.clock.utc() - timedelta(seconds=3600), **FAILED)
    earlier.writes()
    assert place.gather(earlier.result)[1:] == [f"DONE {earlier.result}"]
    assert 10 <= place.landed_at(earlier.result) <= 10 + SOON_S


def test_of_two_runs_the_one_that_still_runs_decides(place: Place) -> None:
    earlier, later = place.unit(), place.unit("u1", where=".prun/b/agent-io/state")
    earlier.ends(**FAILED)
    later.put(later.state.result_file, os.fsencode(earlier.result) + b"\n")
    earlier.writes(age_s=100)
    place.clock.at(50, later.ends)
    assert place.gather(earlier.result)[1:] == [f"DONE {earlier.result}"]
    assert 50 <= place.landed_at(earlier.result) <= 50 + SOON_S


def test_units_in_the_batches_of_this_directory_count_too(place: Place) -> None:
    made = place.unit(where=".prun/b-1/agent-io/state")
    made.writes(age_s=100)
    place.clock.at(70, made.ends)
    place.gather(made.result)
    assert 70 <= place.landed_at(made.result) <= 70 + SOON_S


@needs_symlinks
def test_a_result_is_the_same_by_whatever_way_it_is_named(place: Place) -> None:
    made = place.unit()
    made.writes(age_s=100)
    (place.root / "link").symlink_to(made.result.parent)
    place.clock.at(20, made.ends)
    place.gather("link/u1.md")
    assert 20 <= place.landed_at(place.root / "link" / "u1.md") <= 20 + SOON_S


def test_a_state_directory_stands_for_its_result(place: Place) -> None:
    made = place.unit()
    made.writes(age_s=100)
    place.clock.at(20, made.ends)
    assert place.gather(made.path) == ["GATHER-START count=1 timeout=3600s", f"DONE {made.result}"]
    assert 20 <= place.landed_at(made.result) <= 20 + SOON_S


def test_paths_are_told_absolute_and_each_argument_counts(place: Place) -> None:
    path = place.file(age_s=100)
    lines = place.gather("r.md", path, "./sub/../r.md")
    assert lines == ["GATHER-START count=3 timeout=3600s", *[f"DONE {path}"] * 3]


def test_a_fallback_and_a_failure_with_a_file_of_its_own_are_told(place: Place) -> None:
    fallback, kept, good = (place.unit(name) for name in ("fallback", "kept", "good"))
    fallback.writes(FALLBACK)
    for made in (kept, good):
        made.writes()
    good.ends()
    for made in (fallback, kept):
        made.ends(**FAILED)
    words = [made.result for made in (fallback, kept, good)]
    expected = [
        *(f"DONE {fallback.result}", f"FALLBACK {fallback.result}"),
        *(f"DONE {kept.result}", f"FAILED {kept.result} quota"),
        f"DONE {good.result}",
    ]
    assert place.gather(*words)[1:] == expected
    assert place.code == 0
    place.gather(*words, "--strict")
    assert place.code == 3
    place.gather(good.result, "--strict")
    assert place.code == 0


def test_a_fallback_of_another_dispatcher_is_one_without_an_outcome_too(place: Place) -> None:
    path = place.file(data=b"\xef\xbb\xbf# x result (FALLBACK, Codex wrote nothing)\r\n", age_s=100)
    body = place.file("body.md", b"# x result\nno (FALLBACK, here)\n", age_s=100)
    assert place.gather(path, body, "--strict")[1:] == [f"DONE {path}", f"FALLBACK {path}", f"DONE {body}"]
    assert place.code == 3


def test_what_is_missing_is_named_when_the_time_is_up(place: Place) -> None:
    good = place.file(age_s=100)
    absent = [place.root / "absent-1", place.root / "absent-2"]
    lines = place.gather(absent[0], good, absent[1], timeout_s=60)
    missing = [f"MISSING {path}" for path in absent]
    assert lines == ["GATHER-START count=3 timeout=60s", f"DONE {good}", "TIMEOUT remaining=2", *missing]
    assert place.code == 2
    assert place.clock.passed_s == pytest.approx(60)


def test_no_time_is_one_look(place: Place) -> None:
    path = place.file(age_s=100)
    place.gather(path, timeout_s=0)
    assert (place.code, place.clock.passed_s) == (0, 0)


def test_a_directory_that_is_no_units_is_refused(place: Place) -> None:
    with pytest.raises(UsageError, match="is a directory, but not a unit's"):
        place.gather(place.root)
    made = place.unit()
    made.state.result_file.unlink()
    with pytest.raises(UsageError, match="does not tell where its result goes"):
        place.gather(made.path)
    assert place.told == []


def test_a_standstill_of_gather_itself_shortens_no_window(place: Place) -> None:
    path = place.root / "r.md"
    place.clock.at(20, lambda: place.file(data=b"part one\n"))
    place.clock.at(21, lambda: place.clock.advance(1000))
    place.clock.at(1026, lambda: place.file(data=b"part one\npart two\n"))
    place.gather(path)
    assert place.landed_at(path) >= 1036


def test_the_results_of_a_batch_are_collected_as_they_appear(place: Place) -> None:
    (place.root / "b").mkdir()
    made: list[Made] = []
    place.clock.at(10, lambda: made.append(place.unit("one", where="b/state")))
    place.clock.at(20, lambda: made[0].writes(ANSWER))
    place.clock.at(20, lambda: made[0].ends(kind="ok"))
    lines = place.gather("--batch", "b")
    assert lines == ["GATHER-START count=0 timeout=3600s", f"DONE {made[0].result}"]


def test_a_directory_of_a_batch_that_fills_up_file_by_file_is_waited_for(place: Place) -> None:
    made = place.unit("one", where="b/state", older=True)
    made.state.result_file.unlink()
    made.writes(age_s=100)
    pointer = os.fsencode(made.result) + b"\n"
    place.clock.at(30, lambda: made.put(made.state.result_file, pointer))
    lines = place.gather("--batch", "b")
    assert lines == ["GATHER-START count=0 timeout=3600s", f"DONE {made.result}"]
    assert 30 <= place.landed_at(made.result) <= 33


def test_a_standstill_before_there_is_anything_changes_nothing(place: Place) -> None:
    path = place.root / "r.md"
    place.clock.at(20, lambda: place.clock.advance(1000))
    place.clock.at(1030, lambda: place.file(data=ANSWER))
    place.gather(path)
    assert place.landed_at(path) >= 1040


def test_objects_say_the_same(place: Place) -> None:
    made = place.unit()
    made.writes(FALLBACK)
    made.ends(**FAILED)
    start, done = (json.loads(line) for line in place.gather("--json", made.result))
    assert start == {"event": "start", "count": 1, "timeout_s": 3600}
    told = {"path": str(made.result), "failed": True, "fallback": True, "kind": "quota"}
    assert done == {"event": "done", **told}


def test_the_last_run_decides_whether_it_failed(place: Place) -> None:
    first, second = place.unit(), place.unit("u1", where=".prun/b/state")
    second.put(second.state.result_file, os.fsencode(first.result) + b"\n")
    first.writes()
    first.ends(place.clock.utc() - timedelta(seconds=5), **FAILED)
    second.ends()
    assert place.gather(first.result)[1:] == [f"DONE {first.result}"]
