"""However claims and releases of one conversation cross, one dispatch at most is at it, and none is lost.

Crossed call by call in one process, on what is shipped and on versions without one of its guards, on which
the property must fail; and by chance between real processes, some of which die with the lease in their hands.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pytest

from prun.core.identity import Identity, Machine
from prun.core.records import Owner
from prun.system import leases
from prun.system.files import publish_new, replace
from prun.system.leases import InUseError, Lease, claim, release
from prun.system.locks import LockTimeoutError
from tests.support.children import line_of, python
from tests.support.clocks import ManualClock
from tests.support.steps import interrupted_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Claim: TypeAlias = Callable[[Path, Lease, Callable[[Lease], bool], float, ManualClock], None]
    Release: TypeAlias = Callable[[Path, Lease, ManualClock], None]

ID = "8cd8e1a2-0000-4000-8000-000000000001"
CLOCK = ManualClock()


def lease(unit: str) -> Lease:
    return Lease(ID, f"/state/{unit}", Owner(Identity(Machine("host", "boot", None), 1, unit), "0.1.0"))


def proved_dead(found: Lease) -> bool:
    return found == lease("dead")


# Known to be bad.


def record_of(place: Path) -> Path:
    path = leases._record(place, ID)
    path.parent.mkdir(exist_ok=True)
    return path


def claim_over(
    place: Path, wanted: Lease, is_free: Callable[[Lease], bool], wait_s: float, clock: ManualClock
) -> None:
    """Look first, then put the record there, whatever is there by now."""
    del wait_s
    path = record_of(place)
    held = leases._held(path)
    if isinstance(held, Lease) and not is_free(held):
        raise InUseError
    replace(path, leases._encoded(wanted), clock)


def claim_without_lock(
    place: Path, wanted: Lease, is_free: Callable[[Lease], bool], wait_s: float, clock: ManualClock
) -> None:
    """Create the record, or judge the one in the way and replace it, with nobody kept out meanwhile."""
    del wait_s
    path = record_of(place)
    try:
        publish_new(path, leases._encoded(wanted), clock)
    except FileExistsError:
        held = leases._held(path)
        if not isinstance(held, Lease) or not is_free(held):
            raise InUseError from None
        replace(path, leases._encoded(wanted), clock)


def claim_by_removing(
    place: Path, wanted: Lease, is_free: Callable[[Lease], bool], wait_s: float, clock: ManualClock
) -> None:
    """Remove the record of the dead, then create one's own: each step safe, the two together not."""
    del wait_s
    path = record_of(place)
    held = leases._held(path)
    if isinstance(held, Lease):
        if not is_free(held):
            raise InUseError
        path.unlink(missing_ok=True)
    try:
        publish_new(path, leases._encoded(wanted), clock)
    except FileExistsError:
        raise InUseError from None


def release_whatever_is_there(place: Path, held: Lease, clock: ManualClock) -> None:
    """Remove the record without a look at whose it is."""
    del held, clock
    record_of(place).unlink(missing_ok=True)


# The property.


def won(claim_it: Claim, place: Path, unit: str) -> bool:
    try:
        claim_it(place, lease(unit), proved_dead, 0.0, CLOCK)
    except (InUseError, LockTimeoutError):
        return False
    return True


def crossed(
    place: Path, holder: str | None, first: Callable[[Path], object], second: Callable[[Path], object]
) -> list[Path]:
    """Do *second* before each call of *first* in turn, each time in a fresh place that *holder* has.

    In the last place *first* had no such call any more, and *second* was not done.
    """
    places: list[Path] = []
    call: str | None = "none yet"
    while call is not None:
        here = place / str(len(places))
        here.mkdir()
        places.append(here)
        if holder is not None:
            claim(here, lease(holder), proved_dead, 0.0, CLOCK)
        call, _ = interrupted_at(len(places), partial(first, here), partial(second, here))
    assert len(places) > 2
    return places


def one_of_two_claims_wins(place: Path, claim_it: Claim, holder: str | None) -> None:
    wins: dict[Path, list[str]] = {}

    def attempt(unit: str, here: Path) -> None:
        if won(claim_it, here, unit):
            wins.setdefault(here, []).append(unit)

    for here in crossed(place, holder, partial(attempt, "a"), partial(attempt, "b")):
        assert len(wins[here]) == 1
        assert not won(claim, here, "c")


@pytest.mark.parametrize("holder", [None, "dead"])
def test_one_of_two_claims_wins(tmp_path: Path, holder: str | None) -> None:
    one_of_two_claims_wins(tmp_path, claim, holder)


@pytest.mark.parametrize(
    ("claim_it", "holder"), [(claim_over, None), (claim_without_lock, "dead"), (claim_by_removing, "dead")]
)
def test_without_exclusion_both_win(tmp_path: Path, claim_it: Claim, holder: str | None) -> None:
    with pytest.raises(AssertionError):
        one_of_two_claims_wins(tmp_path, claim_it, holder)


def test_a_claim_crossed_by_a_release_and_another_claim_wins_or_loses_to_it(tmp_path: Path) -> None:
    wins: dict[Path, list[str]] = {}

    def attempt(unit: str, here: Path) -> None:
        if won(claim, here, unit):
            wins.setdefault(here, []).append(unit)

    def release_and_attempt(here: Path) -> None:
        release(here, lease("living"), CLOCK)
        attempt("b", here)

    *places, last = crossed(tmp_path, "living", partial(attempt, "a"), release_and_attempt)
    for here in places:
        assert len(wins[here]) == 1
        assert not won(claim, here, "c")
    assert last not in wins


def test_a_claim_crossed_by_a_release_wins_or_leaves_the_conversation_free(tmp_path: Path) -> None:
    wins: dict[Path, bool] = {}

    def attempt(here: Path) -> None:
        wins[here] = won(claim, here, "a")

    def give_up(here: Path) -> None:
        release(here, lease("living"), CLOCK)

    *places, last = crossed(tmp_path, "living", attempt, give_up)
    for here in places:
        assert won(claim, here, "c") != wins[here]
    assert not wins[last]
    assert set(wins.values()) == {True, False}


def a_release_takes_nobody_elses_lease(place: Path, release_it: Release, holder: str) -> None:
    """Cross the release by *holder*, dead to all others if it is so named, with a claim."""
    wins: dict[Path, bool] = {}

    def attempt(here: Path) -> None:
        wins[here] = won(claim, here, "b")

    def give_up(here: Path) -> None:
        release_it(here, lease(holder), CLOCK)

    for here in crossed(place, holder, give_up, attempt):
        assert won(claim, here, "c") != wins.get(here, False)


def test_a_living_owners_release_takes_nobody_elses_lease(tmp_path: Path) -> None:
    a_release_takes_nobody_elses_lease(tmp_path, release, "living")


def test_a_release_that_does_not_look_can_take_another_lease(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        a_release_takes_nobody_elses_lease(tmp_path, release_whatever_is_there, "dead")


# Takes the lease over and over. Whoever has it makes a file that nobody else may find there, save that of a
# dead process; the last round of a process named "mortal" ends with both in its hands.
DISPATCHER = """
import os, sys
from pathlib import Path
from prun.core.identity import Life
from prun.core.records import Owner
from prun.system import process
from prun.system.clock import SystemClock
from prun.system.leases import InUseError, Lease, claim, release

place, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
clock, inside = SystemClock(), place / "inside"
mine = Lease("the conversation", "/state/" + name, Owner(process.myself(), "0.1.0"))

def is_free(found):
    return process.life_of(found.owner.identity) is Life.DEAD

def enter():
    try:
        os.close(os.open(inside, os.O_CREAT | os.O_EXCL))
        return
    except FileExistsError:
        pass
    if not (place / "died").exists():
        print("two at once", flush=True)
        os._exit(1)
    inside.unlink()
    (place / "died").unlink()
    enter()

for turn in range(rounds):
    while True:
        try:
            claim(place, mine, is_free, 60.0, clock)
            break
        except InUseError:
            clock.sleep(0.001)
    enter()
    if name == "mortal" and turn == rounds - 1:
        (place / "died").touch()
        print("died", flush=True)
        os._exit(1)
    inside.unlink()
    release(place, mine, clock)
print("done", flush=True)
"""


def test_real_processes_are_never_at_a_conversation_together(tmp_path: Path) -> None:
    place = str(tmp_path)
    with (
        python(DISPATCHER, place, "one", "100") as one,
        python(DISPATCHER, place, "two", "100") as two,
        python(DISPATCHER, place, "mortal", "20") as mortal,
    ):
        assert [line_of(child) for child in (mortal, one, two)] == ["died", "done", "done"]
    # The mortal one may have been the last of them.
    with python(DISPATCHER, place, "last", "1") as last:
        assert line_of(last) == "done"
    assert os.listdir(tmp_path / "leases") == []  # noqa: PTH208
