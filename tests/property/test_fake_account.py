"""However many processes share a fake account, it is never overdrawn and no turn is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from fake_agy import meter
from fake_agy.account import DEFAULT, Bucket
from fake_agy.home import Home
from fake_agy.platforms import replace
from tests.support.fakes import DEADLINE_S, STREAM, Fake, user_line
from tests.support.processes import until

SHORT = Bucket("gemini-5h", "gemini", "5h", window_s=10, capacity=3)
LONG = Bucket("gemini-weekly", "gemini", "weekly", window_s=25, capacity=4)
OTHER = Bucket("3p-5h", "3p", "5h", window_s=10, capacity=2)
CEILING = Bucket("ceiling", "", "", window_s=15, capacity=8, cost=2)
ACCOUNT = DEFAULT._replace(buckets=(SHORT, LONG, OTHER), ceiling=CEILING)
CLIENTS = 3


class Client:
    """One process as the account sees it: it begins a turn, and later learns whether it may run."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def begin(self) -> None:
        """Nothing is read before the lock is held."""

    def finish(self, *, gemini: bool, now_s: float) -> float | None:
        """Draw as the fake does."""
        return meter.draw(self.home, ACCOUNT, gemini=gemini, now_s=now_s)


class Torn(Client):
    """Reads when it begins, without the lock, and writes when it ends."""

    def begin(self) -> None:
        self.levels = meter.read_levels(self.home)

    def finish(self, *, gemini: bool, now_s: float) -> float | None:
        decision = meter.decide(meter.buckets_of(ACCOUNT, gemini=gemini), self.levels, now_s)
        replace(self.home.quota, json.dumps(decision.levels).encode())
        return decision.reset_s


class OneByOne(Client):
    """Draws on each bucket before it has looked at the next."""

    def finish(self, *, gemini: bool, now_s: float) -> float | None:
        for bucket in meter.buckets_of(ACCOUNT, gemini=gemini):
            decision = meter.decide((bucket,), meter.read_levels(self.home), now_s)
            replace(self.home.quota, json.dumps(decision.levels).encode())
            if decision.reset_s is not None:
                return decision.reset_s
        return None


class Blind(Client):
    """Does not see the ceiling."""

    def finish(self, *, gemini: bool, now_s: float) -> float | None:
        return meter.draw(self.home, ACCOUNT._replace(ceiling=None), gemini=gemini, now_s=now_s)


class SharedAccount(RuleBasedStateMachine):
    """Clients that begin and finish turns in any order, beside the list of turns that were let through."""

    kind: ClassVar[type[Client]] = Client

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.home = Home(Path(self.folder.name))
        self.clients = [self.kind(self.home) for _ in range(CLIENTS)]
        self.begun: set[int] = set()
        self.now_s = 100.0
        self.starts: dict[str, float] = {}
        self.used: dict[str, int] = {}

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(client=st.integers(0, CLIENTS - 1))
    def begin(self, client: int) -> None:
        """Let a process come to its turn."""
        if client not in self.begun:
            self.clients[client].begin()
            self.begun.add(client)

    @rule(client=st.integers(0, CLIENTS - 1), gemini=st.booleans())
    def finish(self, client: int, gemini: bool) -> None:
        """Let the account decide on it, and decide as the simplest account would."""
        if client not in self.begun:
            return
        self.begun.remove(client)
        buckets = meter.buckets_of(ACCOUNT, gemini=gemini)
        for bucket in buckets:
            if self.now_s - self.starts.get(bucket.id, self.now_s) >= bucket.window_s:
                del self.starts[bucket.id], self.used[bucket.id]
        fits = all(self.used.get(bucket.id, 0) + bucket.cost <= bucket.capacity for bucket in buckets)
        stopped_for_s = self.clients[client].finish(gemini=gemini, now_s=self.now_s)
        assert (stopped_for_s is None) == fits
        if stopped_for_s is not None:
            assert 0 < stopped_for_s <= max(bucket.window_s for bucket in buckets)
            return
        for bucket in buckets:
            self.starts.setdefault(bucket.id, self.now_s)
            self.used[bucket.id] = self.used.get(bucket.id, 0) + bucket.cost

    @rule(seconds=st.integers(1, 12))
    def pass_time(self, seconds: int) -> None:
        """Move the account's clock."""
        self.now_s += seconds

    @invariant()
    def every_turn_let_through_is_on_the_meter_and_none_else(self) -> None:
        """Compare what is stored with what was let through."""
        levels = meter.read_levels(self.home)
        for bucket in (SHORT, LONG, OTHER, CEILING):
            level = meter.at(bucket, levels.get(bucket.id, meter.Level()), self.now_s)
            over = self.now_s - self.starts.get(bucket.id, self.now_s) >= bucket.window_s
            assert level.used == (0 if over else self.used.get(bucket.id, 0))
            assert level.used <= bucket.capacity


def machine_of(client: type[Client]) -> type[SharedAccount]:
    return type(f"{client.__name__}Account", (SharedAccount,), {"kind": client})


RUN = settings(max_examples=60, stateful_step_count=30, deadline=None)
SEARCH = settings(
    max_examples=2_000,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def test_clients_that_share_an_account_never_overdraw_it_and_lose_no_turn() -> None:
    run_state_machine_as_test(machine_of(Client), settings=RUN)


@pytest.mark.parametrize("bad", [Torn, OneByOne, Blind])
def test_a_client_that_draws_wrongly_is_caught(bad: type[Client]) -> None:
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine_of(bad), settings=SEARCH)


# Real processes

PROCESSES, DRAWS, CAPACITY = 4, 12, 30
_RACER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fake_agy import meter
from fake_agy.account import DEFAULT
from fake_agy.home import Home
home = Home(Path(sys.argv[2]))
bucket = DEFAULT.buckets[1]._replace(capacity=int(sys.argv[4]))
account = DEFAULT._replace(buckets=(bucket,))
print(flush=True)
while not (home.root / "go").exists():
    time.sleep(0.001)
{draw}
print(sum(draw() is None for _ in range(int(sys.argv[3]))))
"""
_LOCKED = """
def draw():
    return meter.draw(home, account, gemini=True, now_s=5.0)
"""
_UNLOCKED = """
import json, os
from fake_agy.platforms import replace
def draw():
    levels = meter.read_levels(home)
    (home.root / f"read-{os.getpid()}").touch()
    end = time.monotonic() + 30
    while len(list(home.root.glob("read-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.001)
    decision = meter.decide((bucket,), levels, 5.0)
    replace(home.quota, json.dumps(decision.levels).encode())
    return decision.reset_s
"""


def race(home: Home, draw: str, processes: int, draws: int, capacity: int) -> tuple[int, int]:
    """Return the turns that *processes* were let through, all started at once, and the turns on the meter."""
    code = _RACER.replace("{draw}", draw)
    root = str(Path(__file__).resolve().parents[2])
    argv = [sys.executable, "-c", code, root, str(home.root), str(draws), str(capacity)]
    racers = [
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) for _ in range(processes)
    ]
    for racer in racers:
        assert racer.stdout is not None
        racer.stdout.readline()
    (home.root / "go").touch()
    through = sum(int(racer.communicate(timeout=DEADLINE_S)[0]) for racer in racers)
    assert [racer.returncode for racer in racers] == [0] * processes
    return through, meter.read_levels(home)["gemini-5h"].used


def assert_exact(through: int, metered: int, asked: int, capacity: int) -> None:
    assert through == min(asked, capacity)
    assert metered == through


def test_processes_that_draw_at_once_are_let_through_exactly_as_often_as_there_is_room(
    tmp_path: Path,
) -> None:
    through, metered = race(Home(tmp_path), _LOCKED, PROCESSES, DRAWS, CAPACITY)
    assert_exact(through, metered, PROCESSES * DRAWS, CAPACITY)


def test_processes_that_draw_without_the_lock_are_caught(tmp_path: Path) -> None:
    through, metered = race(Home(tmp_path), _UNLOCKED, 2, 1, 1)
    with pytest.raises(AssertionError):
        assert_exact(through, metered, 2, 1)


def test_whole_agy_processes_share_an_account_exactly(tmp_path: Path) -> None:
    script = '[scenario.meet]\nsteps = [{do="wait_for", path="{home}/go"}, {do="say", text="Here I am."}]\n'
    fake = Fake(
        tmp_path, account="[ceiling]\ncapacity = 3\nwindow_s = 86400\n", script=f'default = "meet"\n{script}'
    )
    place = tmp_path / "in"
    place.write_bytes(user_line("Meet."))
    started: list[subprocess.Popen[bytes]] = []
    for _ in range(5):
        with place.open("rb") as stdin:
            started.append(
                fake.start(*STREAM, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
    until(lambda: len(fake.calls("turn")) == len(started))
    (fake.home.root / "go").touch()
    codes = sorted(process.wait(DEADLINE_S) for process in started)
    assert codes == [0, 0, 0, 3, 3]
    assert meter.read_levels(fake.home)["ceiling"].used == 3
    assert sorted(call["nth"] for call in fake.calls("turn")) == [1, 2, 3, 4, 5]
    assert len(list(fake.home.conversations.glob("*.json"))) == len(started)
