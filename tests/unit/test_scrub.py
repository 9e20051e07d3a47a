"""What a child may see of the environment, row by labelled row."""

from __future__ import annotations

import pytest

from prun.core.scrub import Scrubbed, scrub
from tests.unit.scrub_corpus import ROWS, Row

NOTHING: frozenset[str] = frozenset()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_variable_is_withheld_as_its_label_says(row: Row) -> None:
    scrubbed = scrub({row.name: row.value}, NOTHING)
    assert scrubbed.withheld == ((row.name,) if row.withheld else ()), row.why
    assert scrubbed.env == ({} if row.withheld else {row.name: row.value})


def test_the_corpus_is_large_and_of_both_kinds_without_repeats() -> None:
    labels = [row.withheld for row in ROWS]
    assert len(ROWS) >= 170
    assert min(labels.count(True), labels.count(False)) >= 70
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", [row for row in ROWS if row.withheld], ids=lambda row: row.name)
def test_a_kept_name_passes_before_every_rule_in_any_case(row: Row) -> None:
    for name in (row.name, row.name.lower(), row.name.upper()):
        assert scrub({row.name: row.value}, {name}).env == {row.name: row.value}


def test_only_the_whole_name_is_kept() -> None:
    assert scrub({"MY_TOKEN": "x", "TOKEN": "y"}, {"TOKEN"}).withheld == ("MY_TOKEN",)


@pytest.mark.parametrize("name", ["", "=", "=C:", "A=B", "A\0B"])
@pytest.mark.parametrize("keep", [NOTHING, frozenset({""}), frozenset({"A=B"})])
def test_what_no_program_can_be_given_is_dropped(name: str, keep: frozenset[str]) -> None:
    assert scrub({name: "x", "B": "y"}, keep) == Scrubbed({"B": "y"}, ())


def test_the_withheld_are_sorted() -> None:
    assert scrub({"Z_KEY": "", "A_KEY": "", "M_KEY": ""}, NOTHING).withheld == ("A_KEY", "M_KEY", "Z_KEY")


def test_the_environment_given_is_left_as_it_was() -> None:
    env = {"A_KEY": "x", "B": "y"}
    scrub(env, NOTHING)
    assert env == {"A_KEY": "x", "B": "y"}


def test_a_long_value_is_searched_to_its_end() -> None:
    value = "x" * 100_000 + " ghp_" + "A1" * 18
    assert scrub({"LONG": value}, NOTHING).withheld == ("LONG",)
