"""What macOS's kernel answers is read at the right offsets; the answers are built here, byte by byte."""

from __future__ import annotations

import struct

import pytest

from prun.system.process import Ended
from prun.system.process._kin import Process, carries
from prun.system.process._kinfo import KINFO_BYTES, parse_arguments, parse_kinfo, parse_wait_status

RUNS, ZOMBIE = 2, 5


def kinfo(pid: int = 42, state: int = RUNS, name: bytes = b"agy", micros: int = 7) -> bytes:
    data = bytearray(b"\xaa" * KINFO_BYTES)
    struct.pack_into("<qi", data, 0, 1_760_000_000, micros)
    data[36] = state
    struct.pack_into("<i", data, 40, pid)
    data[243:260] = name.ljust(17, b"\0")
    struct.pack_into("<ii", data, 560, 41, 40)
    return bytes(data)


def arguments(
    argv: list[bytes], environ: list[bytes], path: bytes = b"/usr/bin/agy", padding: int = 5
) -> bytes:
    strings = b"".join(part + b"\0" for part in (*argv, *environ))
    return struct.pack("<i", len(argv)) + path + b"\0" * padding + strings + b"\0apple=stack\0"


def test_a_process_is_read_at_its_offsets() -> None:
    assert list(parse_kinfo(kinfo(), lambda pid: pid + 1)) == [
        Process(pid=42, start="1760000000.000007", parent=41, group=40, session=43, name="agy", zombie=False)
    ]


def test_several_processes_are_read_and_a_torn_last_one_is_not() -> None:
    data = kinfo(1) + kinfo(2, state=ZOMBIE) + kinfo(3)[:-1]
    assert [(one.pid, one.zombie) for one in parse_kinfo(data, lambda _: 0)] == [(1, False), (2, True)]


def test_a_name_may_fill_its_field_and_be_no_text() -> None:
    assert next(parse_kinfo(kinfo(name=b"\xff" * 17), lambda _: 0)).name == "\N{REPLACEMENT CHARACTER}" * 17


def test_starts_of_one_second_differ() -> None:
    one, other = parse_kinfo(kinfo(micros=70) + kinfo(micros=700_000), lambda _: 0)
    assert (one.start, other.start) == ("1760000000.000070", "1760000000.700000")


def test_no_answer_is_no_process() -> None:
    assert list(parse_kinfo(b"", lambda _: 0)) == []


@pytest.mark.parametrize("argv", [[b"agy"], [b"agy", b"PRUN_UNIT=1"], [b"agy", b"", b"x"]], ids=range(3))
def test_the_environment_begins_after_the_arguments(argv: list[bytes]) -> None:
    data = arguments(argv, [b"A=1", b"PRUN_UNIT=abc"])
    assert parse_arguments(data).split(b"\0")[:2] == [b"A=1", b"PRUN_UNIT=abc"]
    assert carries(parse_arguments(data), "PRUN_UNIT", "abc")
    assert not carries(parse_arguments(data), "PRUN_UNIT", "1")


@pytest.mark.parametrize(
    "data",
    [b"", b"\1\0", struct.pack("<i", 3), struct.pack("<i", -5) + b"/x\0", arguments([b"agy"], [])],
    ids=["none", "torn", "no strings", "negative", "hidden"],
)
def test_an_answer_without_an_environment_carries_nothing(data: bytes) -> None:
    assert not carries(parse_arguments(data), "PRUN_UNIT", "abc")


@pytest.mark.parametrize(
    ("status", "ended"),
    [
        (0, Ended(code=0)),
        (3 << 8, Ended(code=3)),
        (255 << 8, Ended(code=255)),
        (9, Ended(signal=9)),
        (0x80 | 11, Ended(signal=11)),
    ],
    ids=["success", "code", "largest code", "signal", "signal with core"],
)
def test_a_wait_status_is_a_code_or_a_signal(status: int, ended: Ended) -> None:
    assert parse_wait_status(status) == ended
