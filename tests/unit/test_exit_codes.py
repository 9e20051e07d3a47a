"""Exit statuses, each case of them."""

from __future__ import annotations

import pytest

from prun.core.exit_codes import ExitCode, of_signal, of_worker

OWN = [0, 2, 70, 75, 124, 129, 130, 143]


def test_the_statuses_of_prun_itself_are_the_documented_ones() -> None:
    assert sorted(ExitCode) == OWN


@pytest.mark.parametrize("status", OWN)
def test_a_worker_status_that_prun_uses_itself_becomes_70(status: int) -> None:
    assert of_worker(status) == 70


@pytest.mark.parametrize("status", sorted(set(range(1, 256)) - set(OWN)))
def test_any_other_worker_status_is_passed_on(status: int) -> None:
    assert of_worker(status) == status


@pytest.mark.parametrize(("number", "status"), [(1, 129), (2, 130), (6, 134), (9, 137), (11, 139), (15, 143)])
def test_a_death_by_signal_has_the_status_a_shell_gives_it(number: int, status: int) -> None:
    assert of_signal(number) == status


@pytest.mark.parametrize(("number", "status"), [(1, 70), (2, 70), (9, 137), (11, 139), (15, 70)])
def test_a_worker_killed_by_a_signal_never_looks_like_a_signalled_dispatcher(
    number: int, status: int
) -> None:
    assert of_worker(of_signal(number)) == status


@pytest.mark.parametrize("status", [0xC0000005, 0xC000013A], ids=hex)
def test_a_windows_status_is_passed_on_whole(status: int) -> None:
    assert of_worker(status) == status


def test_what_comes_back_is_a_plain_number() -> None:
    assert type(of_worker(0)) is int
    assert type(of_worker(9)) is int
