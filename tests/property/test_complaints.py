"""What stderr and log are found to say depends on their lines alone, never on how the bytes arrived."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.agy_log import LogFindings, LogReader
from prun.core.complaints import Complaints, StderrReader
from tests.support.known_bad import assert_caught
from tests.support.runs import (
    BUSY,
    CHECK_QUOTA,
    CREDITS,
    CUT,
    DENIAL,
    NETWORK,
    NOT_FOUND,
    QUOTA,
    QUOTA_429,
    REVOKED,
    payload,
)


class Reads(Protocol):
    def feed(self, chunk: bytes) -> None: ...
    def finish(self) -> None: ...
    @property
    def found(self) -> Complaints | LogFindings: ...


Make = Callable[[], Reads]

HEADERS = [
    "E0710 16:10:20.298253 10 log.go:398] ",
    "ERROR: logging before google.Init: I0710 16:10:01.5 1 a.go:1] ",
]
STATED = [QUOTA, QUOTA_429, BUSY, NETWORK, REVOKED, CREDITS, CHECK_QUOTA]
STDERR = [
    *(f"error: {text}" for text in STATED),
    payload(CHECK_QUOTA, "RESOURCE_EXHAUSTED", 429),
    CUT,
    DENIAL,
    NOT_FOUND,
]
LOG = [f"{header}{text}" for header in HEADERS for text in STATED]
lines = st.one_of(
    st.sampled_from([text.encode() for text in (*STDERR, *LOG)]),
    st.sampled_from([text.encode() for text in (*STDERR, *LOG)]).map(
        lambda line: b"\xef\xbb\xbf\x1b[1m" + line + b"\r"
    ),
    st.binary(max_size=20),
    st.integers(8_000, 9_000).map(lambda size: b"error: " + b"x" * size + QUOTA.encode()),
)
streams = st.lists(lines, max_size=6).map(b"\n".join)


class Arrival(NamedTuple):
    stream: bytes
    cuts: tuple[int, ...]

    def chunks(self) -> list[bytes]:
        edges = [0, *sorted(min(cut, len(self.stream)) for cut in self.cuts), len(self.stream)]
        return [self.stream[start:end] for start, end in pairwise(edges)]


arrivals = st.builds(Arrival, streams, st.lists(st.integers(0, 2_000), max_size=12).map(tuple))


def found_by(make: Make, chunks: list[bytes]) -> Complaints | LogFindings:
    reader = make()
    for chunk in chunks:
        reader.feed(chunk)
    reader.finish()
    return reader.found


def check_chunks_do_not_matter(make: Make, whole: Make, arrival: Arrival) -> None:
    assert found_by(make, arrival.chunks()) == found_by(whole, [arrival.stream])


class PerChunk:
    """A reader that takes every chunk for whole lines."""

    def __init__(self, make: Make) -> None:
        self._reader = make()

    def feed(self, chunk: bytes) -> None:
        self._reader.feed(chunk + b"\n")

    def finish(self) -> None:
        self._reader.finish()

    @property
    def found(self) -> Complaints | LogFindings:
        return self._reader.found


class Unfinished(PerChunk):
    """A reader that forgets a last line without a line feed."""

    def feed(self, chunk: bytes) -> None:
        self._reader.feed(chunk)

    def finish(self) -> None:
        pass


READERS: list[Make] = [StderrReader, LogReader]
BOTH = pytest.mark.parametrize("make", READERS, ids=["stderr", "log"])


@BOTH
@given(arrival=arrivals)
def test_chunks_do_not_matter(make: Make, arrival: Arrival) -> None:
    check_chunks_do_not_matter(make, make, arrival)


@BOTH
@pytest.mark.parametrize("bad", [PerChunk, Unfinished])
def test_a_reader_for_which_they_do_is_caught(make: Make, bad: type[PerChunk]) -> None:
    assert_caught(partial(check_chunks_do_not_matter, partial(bad, make), make), arrivals)


class Quotation(NamedTuple):
    """One of agy's lines, behind something that is not agy's."""

    before: str
    line: str


befores = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1, max_size=5)
quotations = st.builds(Quotation, st.one_of(befores, st.just(" ")), st.sampled_from([*STDERR, *LOG]))


def check_a_quoted_line_counts_for_nothing(make: Make, quotation: Quotation) -> None:
    text = f"{quotation.before}{quotation.line}\n".encode()
    assert found_by(make, [text]) == make().found


class Anywhere(PerChunk):
    """A reader that looks for a mark anywhere in a line."""

    def feed(self, chunk: bytes) -> None:
        mark = max(chunk.find(mark) for mark in (b"error: ", b"E0710", b"[agy]"))
        self._reader.feed(chunk[max(mark, 0) :])


@BOTH
@given(quotation=quotations)
def test_a_quoted_line_counts_for_nothing(make: Make, quotation: Quotation) -> None:
    check_a_quoted_line_counts_for_nothing(make, quotation)


@BOTH
def test_a_reader_that_looks_anywhere_in_a_line_is_caught(make: Make) -> None:
    assert_caught(partial(check_a_quoted_line_counts_for_nothing, partial(Anywhere, make)), quotations)
