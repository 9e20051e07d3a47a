"""What the small texts of a state directory say, whoever wrote them."""

from __future__ import annotations

import pytest

from prun.core.state_texts import read_epoch, read_pid, read_pointer

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "pid"),
    [
        (b"1234\n", 1234),
        (b"1234", 1234),
        (b"1234\r\n", 1234),
        (b"\n 1234 \n\n", 1234),
        (MARK + b"1234", 1234),
        ("\ufeff1234\r\n".encode("utf-16-le"), 1234),
        ("\ufeff1234\r\n".encode("utf-16-be"), 1234),
        (b"4294967295", 4294967295),
        (b"", None),
        (b" \r\n", None),
        (b"0", None),
        (b"00", None),
        (b"007", None),
        (b"-1", None),
        (b"+5", None),
        (b"12 34", None),
        (b"12\n34", None),
        (b"abc", None),
        (b"1e3", None),
        (b"1_000", None),
        (b"0x10", None),
        (b"12.0", None),
        (b"99999999999", None),
        (b"9" * 20, None),
        (b"9" * 5000, None),
        ("\u0663".encode(), None),
        ("\uff11\uff12".encode(), None),
        ("1234".encode("utf-16-le"), None),
        (b"\xff\xfe", None),
        (b"\x00\xff12", None),
        (MARK + MARK + b"12", None),
    ],
    ids=repr,
)
def test_a_pid_is_ascii_digits_and_nothing_else(data: bytes, pid: int | None) -> None:
    assert read_pid(data) == pid


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        (b"1764400000\n", 1764400000.0),
        (b"1764400000.25\r\n", 1764400000.25),
        (MARK + b" 1764400000 ", 1764400000.0),
        (b"999999999999", 999999999999.0),
        (b"1000000000", 1e9),
        (b"999999999", None),
        (b"0", None),
        (b"17644", None),
        (b"-1764400000", None),
        (b"1764400000s", None),
        (b"1.7e9", None),
        (b"inf", None),
        (b"nan", None),
        (b"9" * 5000, None),
        (b"", None),
        (b"\xff\xfe\x00", None),
        ("\u0661".encode() * 10, None),
    ],
    ids=repr,
)
def test_a_timestamp_is_a_time_of_this_century_or_nothing(data: bytes, seconds: float | None) -> None:
    assert read_epoch(data) == seconds


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"/x/u1.md\n", "/x/u1.md"),
        (b"/x/u1.md", "/x/u1.md"),
        (b"/x/u1.md\r\n", "/x/u1.md"),
        (b"/x/u1.md\n\n", "/x/u1.md\n"),
        (b"/x/u1.md \n", "/x/u1.md "),
        (b"/x/one\n/y/two\n", "/x/one\n/y/two"),
        (b"\n/x/u1.md\n", "\n/x/u1.md"),
        ("/x/\u00fc n1.md\n".encode(), "/x/\u00fc n1.md"),
        (b"/x/caf\xe9\n", "/x/caf\udce9"),
        (MARK + b"/x/u1.md\r\n", "/x/u1.md"),
        ("\ufeffC:\\x\\u1.md\r\n".encode("utf-16-le"), "C:\\x\\u1.md"),
        (b"out/u1.md\n", "out/u1.md"),
        (b"/x/\x00\n", "/x/\x00"),
        (b"", None),
        (b"\n", None),
        (b" \t\r\n", None),
        (MARK + b"\n", None),
        (b"\xff\xfe", None),
    ],
    ids=repr,
)
def test_a_pointer_is_a_path_less_one_line_end(data: bytes, path: str | None) -> None:
    assert read_pointer(data) == path
