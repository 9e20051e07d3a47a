"""A conversation has one live dispatch at a time, and is free once that is proved dead or gave it up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from prun.core.errors import PrunError, UsageError
from prun.core.identity import Identity, Machine
from prun.core.records import Owner
from prun.system.leases import InUseError, Lease, claim, release
from prun.system.locks import LockTimeoutError, locked
from tests.support.capabilities import make_fifo, needs_fifos, needs_modes, needs_symlinks
from tests.support.clocks import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ID = "8cd8e1a2-0000-4000-8000-000000000001"
CLOCK = ManualClock()


def owner(pid: int) -> Owner:
    return Owner(Identity(Machine("host", "boot", "4026531836"), pid, f"start{pid}"), "0.1.0")


def lease(unit: str, pid: int = 1, subject: str = ID) -> Lease:
    return Lease(subject, f"/state/{unit}", owner(pid))


def never(_: Lease) -> bool:
    pytest.fail("nobody was to be judged")


def alive(_: Lease) -> bool:
    return False


def dead(_: Lease) -> bool:
    return True


def take(place: Path, wanted: Lease, is_free: Callable[[Lease], bool] = alive) -> None:
    claim(place, wanted, is_free, 1.0, CLOCK)


def records(place: Path) -> list[Path]:
    return sorted((place / "leases").iterdir())


def test_a_free_conversation_is_taken_without_a_lock(tmp_path: Path) -> None:
    with locked(tmp_path / "leases.lock", 0.0, CLOCK):
        take(tmp_path, lease("one"), never)
    assert len(records(tmp_path)) == 1


def test_a_conversation_in_use_is_refused_by_the_name_of_its_unit(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    with pytest.raises(InUseError, match=r"in use by /state/one; .*cancel") as caught:
        take(tmp_path, lease("two", 2))
    assert isinstance(caught.value, UsageError)
    assert str(caught.value).isprintable()


def test_the_lease_in_the_way_is_judged_as_it_was_written(tmp_path: Path) -> None:
    judged: list[Lease] = []

    def judge(found: Lease) -> bool:
        judged.append(found)
        return True

    take(tmp_path, lease("ü \udce9", 7))
    take(tmp_path, lease("two", 2), judge)
    assert judged == [lease("ü \udce9", 7)]


def test_a_conversation_of_the_dead_passes_on(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    take(tmp_path, lease("two", 2), dead)
    with pytest.raises(InUseError, match="/state/two"):
        take(tmp_path, lease("three", 3))


def test_a_conversation_given_up_is_free_for_anybody(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    release(tmp_path, lease("one"), CLOCK)
    assert records(tmp_path) == []
    take(tmp_path, lease("two", 2), never)


def test_a_unit_may_claim_again_what_it_has(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    take(tmp_path, lease("one"), never)
    with pytest.raises(InUseError):
        take(tmp_path, lease("two", 2))


def test_the_lease_passes_to_a_units_next_owner(tmp_path: Path) -> None:
    take(tmp_path, lease("one", 1))
    take(tmp_path, lease("one", 2), never)
    release(tmp_path, lease("one", 1), CLOCK)  # of the first, who lost it
    with pytest.raises(InUseError):
        take(tmp_path, lease("two", 3))
    release(tmp_path, lease("one", 2), CLOCK)
    take(tmp_path, lease("two", 3), never)


def test_only_the_holder_gives_up_a_lease(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    release(tmp_path, lease("two", 2), CLOCK)
    release(tmp_path, replace(lease("one"), subject="another"), CLOCK)
    assert len(records(tmp_path)) == 1
    release(tmp_path, lease("one"), CLOCK)
    release(tmp_path, lease("one"), CLOCK)
    assert records(tmp_path) == []


@pytest.mark.parametrize(
    "subject", ["../../x", "a/b\\c:d", "", "x" * 5000, "ü\n", "\ud800", "CON", "-rf", ID.upper()]
)
def test_any_id_has_a_lease_of_its_own_in_one_place(tmp_path: Path, subject: str) -> None:
    odd = lease("one", subject=subject)
    take(tmp_path, odd)
    take(tmp_path, lease("two", 2), never)
    with pytest.raises(InUseError) as caught:
        take(tmp_path, replace(odd, state_dir="/state/three"))
    assert str(caught.value).isprintable()
    assert len(records(tmp_path)) == 2
    assert {path.name for path in tmp_path.iterdir()} <= {"leases", "leases.lock"}


def test_names_that_differ_only_in_case_do_not_meet(tmp_path: Path) -> None:
    take(tmp_path, lease("one", subject="abc"))
    take(tmp_path, lease("two", 2, subject="ABC"), never)


def emptied(record: Path) -> None:
    record.write_bytes(b"")


def stripped_of_its_owner(record: Path) -> None:
    fields = json.loads(record.read_bytes())
    del fields["pid"]
    record.write_text(json.dumps(fields))


def made_a_directory(record: Path) -> None:
    record.unlink()
    record.mkdir()


def made_huge(record: Path) -> None:
    record.write_bytes(b" " * 1_000_000)


@pytest.mark.parametrize("break_it", [emptied, stripped_of_its_owner, made_a_directory, made_huge])
def test_a_record_that_tells_nothing_is_no_proof_that_the_conversation_is_free(
    tmp_path: Path, break_it: Callable[[Path], None]
) -> None:
    take(tmp_path, lease("one"))
    (record,) = records(tmp_path)
    break_it(record)
    with pytest.raises(InUseError, match=r"can't be read; remove that file") as caught:
        take(tmp_path, lease("two", 2), dead)
    assert str(record) in str(caught.value)


@needs_symlinks
def test_a_dangling_link_in_the_place_of_a_record_is_no_proof_either(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    (record,) = records(tmp_path)
    record.unlink()
    record.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InUseError):
        take(tmp_path, lease("two", 2), dead)


@needs_fifos
def test_a_fifo_in_the_place_of_a_record_does_not_block(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    (record,) = records(tmp_path)
    record.unlink()
    make_fifo(record)
    with pytest.raises(InUseError):
        take(tmp_path, lease("two", 2), dead)
    release(tmp_path, lease("one"), CLOCK)


def test_fields_of_a_later_prun_are_passed_over(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    (record,) = records(tmp_path)
    record.write_text(json.dumps({**json.loads(record.read_bytes()), "later": [1]}))
    with pytest.raises(InUseError, match="/state/one"):
        take(tmp_path, lease("two", 2))


def test_a_lock_held_for_too_long_is_an_error(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    with locked(tmp_path / "leases.lock", 0.0, CLOCK), pytest.raises(LockTimeoutError):
        take(tmp_path, lease("two", 2), dead)


def test_a_place_that_can_hold_no_lease_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "leases").touch()
    with pytest.raises(PrunError, match="writable"):
        take(tmp_path, lease("one"), never)


@needs_modes
def test_leases_are_private(tmp_path: Path) -> None:
    take(tmp_path, lease("one"))
    assert (tmp_path / "leases").stat().st_mode & 0o777 == 0o700
    assert records(tmp_path)[0].stat().st_mode & 0o777 == 0o600
