"""What /proc says of a process is read right whatever the process calls itself."""

from __future__ import annotations

import ctypes
import os

import pytest

from prun.core.identity import Life, Presence
from prun.system.process import identify, life_of, sight
from prun.system.process._kin import Process, carries
from prun.system.process._procfs import parse_stat, read
from tests.support.processes import SLEEPS, has_proc, stranger, until

TAIL = b" 1 2 3 0 -1 4194304 80 0 0 0 1 2 0 0 20 0 %d 0 987654 0 0 18446744073709551615 0"


def stat(name: bytes, state: bytes = b"S", threads: int = 1) -> bytes:
    return b"42 (" + name + b") " + state + TAIL % threads


@pytest.mark.parametrize(
    "name",
    [b"agy", b"a b", b"(sd-pam)", b"x) Z 1 1 (y", b") ) )", b"", b"\n", b"caf\xc3\xa9"],
    ids=["plain", "blank", "parentheses", "looks like a state", "closing", "empty", "newline", "utf-8"],
)
def test_a_stat_line_is_read_past_any_name(name: bytes) -> None:
    assert parse_stat(stat(name)) == Process(
        pid=42, start="987654", parent=1, group=2, session=3, name=name.decode(), zombie=False
    )


def test_a_name_that_is_no_text_is_read_too() -> None:
    found = parse_stat(stat(b"\xff\x00"))
    assert found is not None
    assert found.name == "\N{REPLACEMENT CHARACTER}\0"


@pytest.mark.parametrize(
    ("state", "threads", "zombie"),
    [
        (b"R", 1, False),
        (b"D", 1, False),
        (b"T", 1, False),
        (b"Z", 1, True),
        (b"Z", 0, True),
        (b"X", 0, True),
        (b"x", 0, True),
        (b"Z", 2, False),
    ],
    ids=[
        "runs",
        "waits",
        "stopped",
        "zombie",
        "zombie of none",
        "dead",
        "dying",
        "threads outlive the first",
    ],
)
def test_a_zombie_has_no_thread_left(state: bytes, threads: int, zombie: bool) -> None:
    found = parse_stat(stat(b"x", state, threads))
    assert found is not None
    assert found.zombie is zombie


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"42",
        b"42 (x)",
        b"42 (x) S 1 2",
        stat(b"x").replace(b"42 ", b"? "),
        stat(b"x").replace(b"987654", b"--5"),
        stat(b"x").replace(b"987654", b"9" * 5000),
        b"\0" * 400,
    ],
    ids=["empty", "pid", "name", "short", "no pid", "no number", "endless number", "zeros"],
)
def test_anything_else_is_no_process(data: bytes) -> None:
    assert parse_stat(data) is None


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        (b"A=1\0PRUN_UNIT=0123456789abcdef\0B=2\0", True),
        (b"PRUN_UNIT=0123456789abcdef", True),
        (b"PRUN_UNIT=0123456789abcdef0\0", False),
        (b"XPRUN_UNIT=0123456789abcdef\0", False),
        (b"A=PRUN_UNIT=0123456789abcdef\0", False),
        (b"PRUN_UNIT=fedcba9876543210\0", False),
        (b"", False),
    ],
    ids=["among others", "unended", "longer value", "longer name", "as a value", "another", "none"],
)
def test_a_token_is_carried_as_the_whole_value_of_its_name(environ: bytes, found: bool) -> None:
    assert carries(environ, "PRUN_UNIT", "0123456789abcdef") is found


@has_proc
def test_the_start_is_field_22_of_a_real_process() -> None:
    assert sight(os.getpid()).start == read("/proc/self/stat").decode().rpartition(") ")[2].split()[19]


@has_proc
def test_a_process_whose_first_thread_has_ended_still_lives() -> None:
    code = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    if not hasattr(ctypes.CDLL(None), "pthread_exit"):
        pytest.skip("needs pthread_exit")
    with stranger(code) as child:
        who = identify(child.pid)
        assert who is not None
        until(lambda: b") Z " in read(f"/proc/{child.pid}/stat"))
        assert life_of(who) is Life.ALIVE
    assert life_of(who) is Life.DEAD


@has_proc
def test_not_being_shown_by_proc_is_no_proof_of_death(monkeypatch: pytest.MonkeyPatch) -> None:
    def hides(pid: int) -> None:
        del pid

    with stranger(SLEEPS) as child:
        who = identify(child.pid)
        assert who is not None
        monkeypatch.setattr("prun.system.process._procfs.row", hides)
        assert sight(child.pid).presence is Presence.UNREADABLE
        assert life_of(who) is Life.UNKNOWN
    assert sight(child.pid).presence is Presence.ABSENT
    assert life_of(who) is Life.DEAD


@has_proc
def test_a_proc_of_another_pid_namespace_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prun.system.process._procfs.is_ours", lambda: False)
    assert sight(os.getpid()).presence is Presence.UNREADABLE
    assert sight(os.getpid()).start is None
