"""Killed or crossed at any moment, a publication leaves whole files and nobody else's replaced.

Each property is stated once as a check and run on what is shipped, and on versions that lack one of its
guards or have two steps swapped: on those it must fail.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pytest

from prun.system.creation import Beginning, create_state_dir
from prun.system.files import publish_new, publish_over_blank, replace, temporary_beside, write_new
from prun.system.placing import place_new
from prun.system.reading import is_blank_file
from prun.system.slot import allocate, commit_slot
from prun.system.state_dir import StateDir
from tests.support.clocks import ManualClock
from tests.support.steps import calls_of, can_fork, flushes_directories, interrupted_at, killed_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Publish: TypeAlias = "Callable[[Path, bytes, ManualClock], None]"
    Commit: TypeAlias = "Callable[[Path, Path, bytes, ManualClock], None]"
    Create: TypeAlias = "Callable[[StateDir, Beginning, ManualClock], object]"

CLOCK = ManualClock()
OLD, NEW, RIVAL = b"old, in full\n", b"new, and in full as well\n", b"somebody else's, in full\n"


# Known to be bad.


def in_place(path: Path, data: bytes, clock: ManualClock) -> None:
    del clock
    write_new(path, data)


def over_in_place(path: Path, data: bytes, clock: ManualClock) -> None:
    del clock
    with suppress(FileNotFoundError):
        os.truncate(path, 0)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, data)
    os.close(descriptor)


def look_then_replace(path: Path, data: bytes, clock: ManualClock) -> None:
    if os.path.lexists(path):
        raise FileExistsError
    replace(path, data, clock)


def remove_then_rename(path: Path, data: bytes, clock: ManualClock) -> None:
    temporary = temporary_beside(path)
    write_new(temporary, data)
    path.unlink(missing_ok=True)
    place_new(temporary, path, clock)


def look_once_for_blank(path: Path, data: bytes, clock: ManualClock) -> None:
    if is_blank_file(path):
        replace(path, data, clock)
    else:
        publish_new(path, data, clock)


def slot_written_whatever_it_is(slot: Path, target: Path, data: bytes, clock: ManualClock) -> None:
    descriptor = os.open(slot, os.O_WRONLY)
    os.write(descriptor, data)
    os.ftruncate(descriptor, len(data))
    os.close(descriptor)
    place_new(slot, target, clock)


def slot_placed_then_written(slot: Path, target: Path, data: bytes, clock: ManualClock) -> None:
    place_new(slot, target, clock)
    descriptor = os.open(target, os.O_WRONLY)
    os.write(descriptor, data)
    os.ftruncate(descriptor, len(data))
    os.close(descriptor)


def created_in_place(state: StateDir, beginning: Beginning, clock: ManualClock) -> None:
    state.root.mkdir(parents=True)
    publish_new(state.request, beginning.request, clock)
    publish_new(state.owner(1), beginning.owner, clock)


# Whoever is killed, and wherever, readers find whole files.


def every_death(place: Path, act: Callable[[Path], object], check: Callable[[Path], None]) -> None:
    """Run *act* in fresh places, killed before and within each call in turn, and *check* what is left."""
    for torn in (False, True):
        step = 1
        while True:
            here = place / f"{step}{torn}"
            here.mkdir()
            came = killed_at(step, partial(act, here), torn=torn)
            check(here)
            if not came:
                break
            step += 1
        assert step > 4


def death_leaves_nothing_or_all(place: Path, publish: Publish) -> None:
    def check(here: Path) -> None:
        if os.path.lexists(here / "it"):
            assert (here / "it").read_bytes() == NEW

    every_death(place, lambda here: publish(here / "it", NEW, CLOCK), check)


def death_leaves_old_or_new(place: Path, publish: Publish, old: bytes) -> None:
    def act(here: Path) -> None:
        publish(here / "it", NEW, CLOCK)

    def check(here: Path) -> None:
        assert (here / "it").exists()
        assert (here / "it").read_bytes() in {old, NEW}

    for torn in (False, True):
        step = 1
        came = True
        while came:
            here = place / f"{step}{torn}"
            here.mkdir()
            (here / "it").write_bytes(old)
            came = killed_at(step, partial(act, here), torn=torn)
            check(here)
            step += 1


def death_leaves_one_outcome(place: Path, commit: Commit) -> None:
    """Check that what a first committer leaves is whole, and that a second one never changes it."""

    def act(here: Path) -> None:
        commit(here / "slot", here / "outcome", NEW, CLOCK)

    for torn in (False, True):
        step = 1
        came = True
        while came:
            here = place / f"{step}{torn}"
            here.mkdir()
            allocate(here / "slot")
            came = killed_at(step, partial(act, here), torn=torn)
            stood = (here / "outcome").exists()
            assert not stood or (here / "outcome").read_bytes() == NEW
            with suppress(FileExistsError, FileNotFoundError):
                commit(here / "slot", here / "outcome", RIVAL, CLOCK)
            assert (here / "outcome").read_bytes() == (NEW if stood else RIVAL)
            step += 1


BEGINNING = Beginning(1, "/out/u1.md", 4711, "/usr/bin/python3", b"request", b"owner")


def death_leaves_no_unit_without_its_owner(place: Path, create: Create) -> None:
    def check(here: Path) -> None:
        for root in here.glob("prun-task-*"):
            assert StateDir(root).request.read_bytes() == b"request"
            assert StateDir(root).owner(1).read_bytes() == b"owner"

    every_death(place, lambda here: create(StateDir(here / "prun-task-x"), BEGINNING, CLOCK), check)


@can_fork
def test_a_death_while_publishing_leaves_nothing_or_all(tmp_path: Path) -> None:
    death_leaves_nothing_or_all(tmp_path, publish_new)


@can_fork
def test_a_death_while_replacing_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    death_leaves_old_or_new(tmp_path, replace, OLD)


@can_fork
def test_a_death_while_replacing_a_blank_file_leaves_it_or_the_new(tmp_path: Path) -> None:
    death_leaves_old_or_new(tmp_path, publish_over_blank, b"\n")


@can_fork
def test_a_death_while_committing_leaves_one_outcome(tmp_path: Path) -> None:
    death_leaves_one_outcome(tmp_path, commit_slot)


@can_fork
def test_a_death_while_creating_leaves_no_unit_without_its_owner(tmp_path: Path) -> None:
    death_leaves_no_unit_without_its_owner(tmp_path, create_state_dir)


@can_fork
def test_writing_in_place_can_be_seen_half_done(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        death_leaves_nothing_or_all(tmp_path, in_place)


@can_fork
@pytest.mark.parametrize("publish", [over_in_place, remove_then_rename])
def test_a_record_changed_in_two_steps_can_be_lost(tmp_path: Path, publish: Publish) -> None:
    with pytest.raises(AssertionError):
        death_leaves_old_or_new(tmp_path, publish, OLD)


@can_fork
@pytest.mark.parametrize("commit", [slot_written_whatever_it_is, slot_placed_then_written])
def test_a_slot_without_a_guard_changes_what_was_published(tmp_path: Path, commit: Commit) -> None:
    with pytest.raises(AssertionError):
        death_leaves_one_outcome(tmp_path, commit)


@can_fork
def test_a_state_directory_filled_in_place_can_be_found_without_an_owner(tmp_path: Path) -> None:
    with pytest.raises((AssertionError, FileNotFoundError)):
        death_leaves_no_unit_without_its_owner(tmp_path, created_in_place)


# What must outlive a power loss is flushed before it is named, and its name after that.


@flushes_directories
@pytest.mark.parametrize("publish", [publish_new, publish_over_blank, replace])
def test_a_file_is_flushed_before_it_is_placed_and_its_directory_after(
    tmp_path: Path, publish: Publish
) -> None:
    calls = calls_of(lambda: publish(tmp_path / "it", NEW, CLOCK))
    placed = next(number for number, call in enumerate(calls) if call in {"link", "replace"})
    assert calls[:placed] == ["open", "write", "flush file"]
    assert calls[-1] == "flush directory"


@flushes_directories
def test_an_outcome_is_flushed_before_it_is_placed_and_its_directory_after(tmp_path: Path) -> None:
    allocate(tmp_path / "slot")
    calls = calls_of(lambda: commit_slot(tmp_path / "slot", tmp_path / "outcome", NEW, CLOCK))
    assert calls == ["write", "ftruncate", "flush file", "link", "unlink", "flush directory"]


@flushes_directories
def test_a_state_directory_is_flushed_before_it_appears_and_its_root_after(tmp_path: Path) -> None:
    calls = calls_of(lambda: create_state_dir(StateDir(tmp_path / "prun-task-x"), BEGINNING, CLOCK))
    assert calls[-3:] == ["flush directory", "rename", "flush directory"]
    assert calls.count("flush file") == 2


@flushes_directories
def test_a_text_that_only_repeats_a_record_is_not_flushed(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    calls = calls_of(lambda: state.write_text(state.model, "gemini-3.8-flash-high", CLOCK))
    assert calls == ["open", "write", "replace"]


# Whatever another program does meanwhile, what it wrote stays.


def a_rival_is_never_replaced(place: Path, publish: Publish) -> None:
    """Let a rival write the target, where it is free, before each call in turn: its text or ours stands."""
    step = 1
    call: str | None = "none yet"
    while call is not None:
        here = place / str(step)
        here.mkdir()
        target = here / "it"
        wrote: list[bytes] = []

        def write(target: Path = target, wrote: list[bytes] = wrote) -> None:
            if not target.exists():
                wrote.append(RIVAL)
                target.write_bytes(RIVAL)

        call, refused = interrupted_at(step, partial(publish, target, NEW, CLOCK), write)
        assert target.read_bytes() == (RIVAL if wrote else NEW)
        assert refused == bool(wrote)
        assert [path.name for path in here.iterdir()] == ["it"]
        step += 1
    assert step > 4


@pytest.mark.parametrize("publish", [publish_new, publish_over_blank])
def test_a_rival_at_the_target_is_never_replaced(tmp_path: Path, publish: Publish) -> None:
    a_rival_is_never_replaced(tmp_path, publish)


@pytest.mark.parametrize("publish", [replace, look_then_replace])
def test_replacing_or_looking_first_loses_the_rival(tmp_path: Path, publish: Publish) -> None:
    with pytest.raises(AssertionError):
        a_rival_is_never_replaced(tmp_path, publish)


def losing_calls(place: Path, publish: Publish) -> list[str]:
    """Return the calls before which the writer of a blank target, writing then, loses what it wrote."""
    lost = []
    step = 1
    call: str | None = "none yet"
    while call is not None:
        here = place / str(step)
        here.mkdir(parents=True)
        target = here / "it"
        target.touch()
        wrote: list[bytes] = []

        def write(target: Path = target, wrote: list[bytes] = wrote) -> None:
            if is_blank_file(target):
                wrote.append(RIVAL)
                target.write_bytes(RIVAL)

        call, _ = interrupted_at(step, partial(publish, target, NEW, CLOCK), write)
        if call is not None and wrote and target.read_bytes() != RIVAL:
            lost.append(call)
        step += 1
    return lost


def test_a_blank_file_may_be_written_up_to_the_rename_itself(tmp_path: Path) -> None:
    assert losing_calls(tmp_path, publish_over_blank) == ["replace"]


def test_looking_once_loses_what_is_written_while_the_new_file_is_prepared(tmp_path: Path) -> None:
    lost = losing_calls(tmp_path, look_once_for_blank)
    assert len(lost) > 1
    assert lost[-1] == "replace"
