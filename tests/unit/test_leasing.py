"""When a lease in the way is free: on proof that its owner and its worker are dead, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.identity import Identity
from prun.core.records import Owner
from prun.core.values import replace
from prun.flow import leasing
from prun.system import process
from prun.system.leases import Lease

if TYPE_CHECKING:
    from pathlib import Path


def lease_of_the_dead(state_dir: Path, boot: str | None) -> Lease:
    """Return a lease whose owner is this process's pid under another start token."""
    me = process.myself()
    machine = replace(me.machine, boot=boot)
    return Lease("conversation c", str(state_dir), Owner(Identity(machine, me.pid, "1"), "0.1.0"))


def test_a_dead_owners_lease_is_free_where_no_worker_was_launched(tmp_path: Path) -> None:
    assert leasing._is_free(lease_of_the_dead(tmp_path, process.this_machine().boot))


def test_a_state_directory_that_is_gone_proves_nothing_of_its_worker(tmp_path: Path) -> None:
    assert not leasing._is_free(lease_of_the_dead(tmp_path / "gone", process.this_machine().boot))


def test_a_result_has_one_lease_however_its_path_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    plain, roundabout = tmp_path / "r.md", tmp_path / "there" / ".." / "r.md"
    assert leasing.result(str(plain)) == leasing.result(str(roundabout))
    assert leasing.result(str(plain)) != leasing.result(str(tmp_path / "s.md"))
