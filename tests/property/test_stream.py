"""Any bytes are a stream, wherever they are cut, and what was said last and stands is what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core import events, fields, json_strings, objects, skim
from prun.core.blank import is_blank_text
from prun.core.events import SHAPE, Init, Other, Result, Step, Unrecognised, parse_line, read_delta
from prun.core.framing import Framer, Line, Overlong
from prun.core.json_strings import head, tail, whole
from prun.core.objects import STARTS, objects_on
from prun.core.plain import utf8
from prun.core.salvage import Salvage
from prun.core.skim import Broken, Found, Keep, Shape
from prun.core.transcript import Reader, Transcript, after_result, read, response_after
from tests.support.known_bad import assert_caught

ID = "3f9a6c52-7d10-4e6b-9a41-0c5be1d2f001"
LIMIT_BYTES = 12
PIECE_BYTES = 20

odd_text = st.text(
    st.one_of(st.characters(), st.sampled_from('\ud83d\ude00\u2028\x85\r\x0b\x00\ufeff"\\{}[]:,\n é😀')),
    max_size=12,
)
odd_numbers = st.one_of(st.integers(-(10**30), 10**30), st.floats(), st.sampled_from([10**400, 2**53, -0.0]))
wanted = [name for shape in (SHAPE, *SHAPE.values()) if isinstance(shape, Mapping) for name in shape]
names = st.one_of(st.sampled_from([*wanted, "name", "message", "x"]), odd_text)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), odd_numbers, odd_text),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=8,
)
payloads = st.dictionaries(
    names, st.one_of(values, st.sampled_from(["SUCCESS", "DONE", "tool", ID])), max_size=6
)


@st.composite
def objects_in_json(draw: st.DrawFn) -> bytes:
    name = draw(st.sampled_from(["init", "step_update", "result", "later"]))
    event = {"event": draw(st.one_of(st.just(name), values)), name: draw(st.one_of(payloads, values))}
    event |= draw(st.dictionaries(names, values, max_size=2))
    return json.dumps(event, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


NOISE = [
    b"",
    b"\r",
    b"\xef\xbb\xbf",
    b"\x1b]0;{t}\x07",
    b"\x1b[?2004h\r",
    b"log: {x} ",
    b"\xff\x00{",
    b'{"',
    b"}]",
]


class Long(bytes):
    """Bytes that are not printed whole where a case is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self[:60].hex()} and so on, {len(self)} bytes>"


EXTREMES = [
    (b'{"event":"result","result":{"x":', b"[", 90_000, b""),
    (b'{"event":"result","result":{"num_turns":', b"9", 5000, b"}}"),
    (b"", b"{", 90_000, b""),
    (b'{"event":"result","result":{"response":"', b"\xff\\ud800", 1, b'"}}'),
]
stream_lines = st.one_of(
    objects_in_json(),
    st.lists(st.one_of(objects_in_json(), st.sampled_from(NOISE)), max_size=4).map(b"".join),
    st.binary(max_size=40),
    st.sampled_from(EXTREMES).map(lambda it: Long(it[0] + it[1] * it[2] + it[3])),
)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    data = b"\n".join(draw(st.lists(stream_lines, max_size=5)))
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data + b"\n"


@st.composite
def chunked(draw: st.DrawFn, data: st.SearchStrategy[bytes]) -> list[bytes]:
    whole_data = draw(data)
    if len(whole_data) < 300 and draw(st.booleans()):
        return [whole_data[at : at + 1] for at in range(len(whole_data))]
    cuts = sorted(draw(st.lists(st.integers(0, len(whole_data)), max_size=6)))
    return [whole_data[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole_data)], strict=True)]


def bytes_of(results: Sequence[dict[str, Any]], *, ascii_only: bool = True) -> bytes:
    events_told = [{"event": "result", "result": one} for one in results]
    return b"".join(json.dumps(event, ensure_ascii=ascii_only).encode() + b"\n" for event in events_told)


@contextmanager
def altered(owner: Any, **changes: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in changes.items():
            patch.setattr(owner, name, value)
        yield


# Reading is total.


def check_total(data: bytes) -> None:
    try:
        found = parse_line(data)
    except Exception as error:
        raise AssertionError(repr(error)) from error
    assert all(isinstance(event, Init | Step | Result | Other | Unrecognised) for event in found)


def without_guard(line: bytes, _shape: Mapping[str, Shape]) -> Any:
    return objects._walk(line.decode("utf-8", "replace"), "{", objects._read)


def strictly_decoded(line: bytes, _shape: Mapping[str, Shape]) -> Any:
    return objects._walk(
        line.decode(), "{", lambda text, start: Found(*json.JSONDecoder().raw_decode(text, start))
    )


@given(stream_lines)
def test_any_line_is_read(data: bytes) -> None:
    check_total(data)


@given(streams())
def test_any_stream_is_read(data: bytes) -> None:
    assert isinstance(read([data]), Transcript)


@pytest.mark.parametrize(
    "change",
    [
        {"objects_on": without_guard},
        {"objects_on": strictly_decoded},
        {"count": lambda value: value if value is None or value >= 0 else None},
        {"status": lambda value: value.strip()},
    ],
    ids=["no recursion guard", "strict decoding", "numbers trusted", "status trusted"],
)
def test_a_reader_that_trusts_its_input_is_caught(change: dict[str, Any]) -> None:
    with altered(events, **change):
        assert_caught(check_total, stream_lines)


# Lines end at line feeds alone; cuts don't matter.


class EndsAtAnyLineBreak(Framer):
    def feed(self, chunk: bytes) -> list[Line | Overlong]:
        return super().feed(re.sub(rb"[\r\x0b\x0c\x1c\x85]|\xe2\x80\xa8|\xc2\x85", b"\n", chunk))


class DecodesEachChunk(Framer):
    def feed(self, chunk: bytes) -> list[Line | Overlong]:
        return super().feed(chunk.decode("utf-8", "replace").encode())


class StripsEachChunk(Framer):
    def feed(self, chunk: bytes) -> list[Line | Overlong]:
        return super().feed(chunk.lstrip(b" \xef\xbb\xbf"))


class ForgetsTheRest(Framer):
    def feed(self, chunk: bytes) -> list[Line | Overlong]:
        self._held.seek(0)
        self._held.truncate()
        return super().feed(chunk)


class MeasuresByChunk(Framer):
    def _hold(self, part: bytes) -> None:
        if len(part) > self._limit_bytes:
            self._dropped_bytes += len(part)
        else:
            self._held.write(part)


framed_bytes = st.lists(st.sampled_from([*"ab \r\x0b\x85\u2028é", "\n"]), max_size=40).map(
    lambda it: "".join(it).encode()
)


def framed(framer: type[Framer], chunks: Sequence[bytes]) -> list[Line | Overlong]:
    one = framer(LIMIT_BYTES)
    return [line for chunk in chunks for line in one.feed(chunk)] + one.finish()


def check_lines(framer: type[Framer], chunks: Sequence[bytes]) -> None:
    *ended, last = b"".join(chunks).split(b"\n")
    parts = [(part, True) for part in ended] + ([(last, False)] if last else [])
    assert framed(framer, chunks) == [
        Line(part, ends) if len(part) <= LIMIT_BYTES else Overlong(len(part), ends) for part, ends in parts
    ]


@given(chunked(framed_bytes))
def test_lines_are_what_stands_between_line_feeds(chunks: list[bytes]) -> None:
    check_lines(Framer, chunks)


@pytest.mark.parametrize(
    "framer", [EndsAtAnyLineBreak, DecodesEachChunk, StripsEachChunk, ForgetsTheRest, MeasuresByChunk]
)
def test_a_framer_that_cuts_elsewhere_is_caught(framer: type[Framer]) -> None:
    assert_caught(lambda chunks: check_lines(framer, chunks), chunked(framed_bytes))


def check_chunking(framer: type[Framer], chunks: Sequence[bytes]) -> None:
    def told(pieces: Sequence[bytes]) -> Transcript:
        reader = Reader()
        reader._framer = framer()
        for piece in pieces:
            reader.feed(piece)
            reader.transcript()
        reader.finish()
        return reader.transcript()

    assert told(chunks) == told([b"".join(chunks)])


@given(chunked(streams()))
def test_a_transcript_does_not_depend_on_how_its_bytes_were_cut(chunks: list[bytes]) -> None:
    check_chunking(Framer, chunks)


answers = st.text("é€😀", min_size=1).map(
    lambda text: bytes_of([{"status": "SUCCESS", "response": text}], ascii_only=False)
)


@pytest.mark.parametrize("framer", [DecodesEachChunk, ForgetsTheRest])
def test_a_reader_that_depends_on_the_cuts_is_caught(framer: type[Framer]) -> None:
    assert_caught(lambda chunks: check_chunking(framer, chunks), chunked(answers))


# What is kept is text.


def texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                yield from texts_in(key)
                yield from texts_in(inner)
        case list() | tuple():
            for inner in value:
                yield from texts_in(inner)
        case _ if hasattr(value, "__dataclass_fields__"):
            for name in value.__dataclass_fields__:
                yield from (
                    texts_in(getattr(value, name))
                    if name != "status" or isinstance(value.status, str)
                    else ()
                )


def check_text(data: bytes) -> None:
    for text in texts_in(read([data])):
        assert re.search("[\ud800-\udfff]", text) is None


surrogates = objects_in_json().map(
    lambda data: data.replace(b'"x"', b'"\\ud800"').replace(b'"SUCCESS"', b'"\\udfff"')
)


@given(st.one_of(streams(), surrogates))
def test_all_that_is_kept_can_be_written_as_utf8(data: bytes) -> None:
    check_text(data)


def test_kept_surrogates_are_caught() -> None:
    with altered(fields, clipped=lambda text, characters: text[:characters]):
        assert_caught(check_text, surrogates)


# What was said last and stands.

Folded = tuple[Any, str | None, int | None]
Fold = Callable[[Sequence[dict[str, Any]]], Folded]

result_fields = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["SUCCESS", "ERROR", "", None, {"code": 1}]),
        "response": st.sampled_from(["first", "second", "third", "", " \n", "\ufeff", None]),
        "num_turns": st.integers(0, 3),
    },
)


def read_fold(results: Sequence[dict[str, Any]]) -> Folded:
    told = read([bytes_of(results)])
    return told.status, told.response, told.num_turns


def folding(
    after: Callable[[Transcript, Result], Transcript] = after_result,
    response_of: Callable[[bytes, Result], bytes] = response_after,
) -> Fold:
    def fold(results: Sequence[dict[str, Any]]) -> Folded:
        told, response = Transcript(), b""
        for line in bytes_of(results).splitlines():
            (one,) = parse_line(line)
            assert isinstance(one, Result)
            told, response = after(told, one), response_of(response, one)
        return told.status, response.decode() or None, told.num_turns

    return fold


def says(result: dict[str, Any]) -> bool:
    return not is_blank_text(result.get("response") or "")


def check_last(fold: Fold, results: Sequence[dict[str, Any]]) -> None:
    status, response, turns = fold(results)
    assert status == next((one["status"] for one in reversed(results) if "status" in one), None)
    assert turns == next((one["num_turns"] for one in reversed(results) if "num_turns" in one), None)
    last = max((at for at, one in enumerate(results) if says(one)), default=None)
    later = [] if last is None else results[last + 1 :]
    withdrawn = any("status" in one and "response" in one for one in later)
    assert response == (None if last is None or withdrawn else results[last]["response"])


@given(st.lists(result_fields, max_size=5))
def test_the_last_that_stands_is_told(results: list[dict[str, Any]]) -> None:
    check_last(read_fold, results)
    check_last(folding(), results)


def status_erased(told: Transcript, result: Result) -> Transcript:
    return replace(after_result(told, result), status=result.status)


def first_status_kept(told: Transcript, result: Result) -> Transcript:
    return (
        after_result(told, result)
        if not told.has_status
        else replace(after_result(told, result), status=told.status)
    )


def turns_summed(told: Transcript, result: Result) -> Transcript:
    return replace(
        after_result(told, result), num_turns=(told.num_turns or 0) + (result.num_turns or 0) or None
    )


BAD_FOLDS: dict[str, Fold] = {
    "a later result without a status erases it": folding(after=status_erased),
    "the first status is kept": folding(after=first_status_kept),
    "turns are summed": folding(after=turns_summed),
    "any later response replaces": folding(response_of=lambda _earlier, result: result.response_utf8 or b""),
    "the first response is kept": folding(
        response_of=lambda earlier, result: earlier or result.response_utf8 or b""
    ),
    "a blank one beside a status withdraws nothing": folding(
        response_of=lambda earlier, result: result.response_utf8 or earlier
    ),
    "a missing one beside a status withdraws": folding(
        response_of=lambda earlier, result: (
            b"" if result.has_status and not result.response_utf8 else response_after(earlier, result)
        )
    ),
}


@pytest.mark.parametrize("fold", BAD_FOLDS.values(), ids=BAD_FOLDS)
def test_a_fold_that_tells_another_is_caught(fold: Fold) -> None:
    assert_caught(lambda results: check_last(fold, results), st.lists(result_fields, max_size=5))


# The reader for huge lines says what the standard one says.


def pruned(value: Any, shape: Shape) -> Any:
    if isinstance(value, dict):
        if not isinstance(shape, Mapping):
            return value
        return {name: pruned(inner, shape[name]) for name, inner in value.items() if name in shape}
    if isinstance(value, list):
        return [[] if isinstance(item, list) else item for item in value[: skim.ITEMS]]
    if isinstance(value, str) and shape is Keep.WHOLE:
        return b"" if is_blank_text(value) else utf8(value)
    return value


def check_skim(data: bytes) -> None:
    value = json.loads(data.decode("utf-8", "replace"), parse_constant=skim.no_number)
    assert skim.skim(b"}" + data + b"{", 1, SHAPE) == Found(pruned(value, SHAPE), 1 + len(data))


@given(objects_in_json())
def test_skimming_tells_the_wanted_part_of_what_parsing_tells(data: bytes) -> None:
    check_skim(data)


def takes_a_run_whole(data: bytes, at: int, depth: int) -> int:
    for token in skim._TOKEN.finditer(data, at):
        if token[0][:1] != b'"':
            depth += len(token[0]) if token[0][:1] in b"[{" else -len(token[0])
        if depth <= 0:
            return token.end()
    raise ValueError


BAD_SKIMS: dict[str, dict[str, Any]] = {
    "brackets in strings count": {"_TOKEN": re.compile(rb"[\[{]++|[\]}]++")},
    "escaped quotes end strings": {"_STRING": re.compile(rb'"[^"]*+"')},
    "keys are not unescaped": {
        "_key": lambda data, start, end: data[start + 1 : end - 1].decode("utf-8", "replace")
    },
    "a run of closing brackets is taken whole": {"_closing": takes_a_run_whole},
    "only a space is a gap": {"_GAP": re.compile(rb" ?")},
}
spaced = objects_in_json().map(
    lambda data: data.replace(b'"event"', b'"e\\u0076ent"').replace(b'": ', b'":\t ')
)


@given(spaced)
def test_spelling_makes_no_difference_to_skimming(data: bytes) -> None:
    check_skim(data)


@pytest.mark.parametrize("change", BAD_SKIMS.values(), ids=BAD_SKIMS)
def test_a_skimmer_that_loses_its_way_is_caught(change: dict[str, Any]) -> None:
    with altered(skim, **change):
        assert_caught(check_skim, spaced)


# A string in pieces is the string.

dense_text = st.lists(st.sampled_from([*'\\"u\n€é😀\ud83d', "ud83d", "\\ude00", "x" * 7]), max_size=40).map(
    "".join
)
raw_strings = st.builds(
    lambda text, ascii_only: json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")[1:-1],
    dense_text,
    st.booleans(),
)


def check_pieces(raw: bytes) -> None:
    text = json.loads('"' + raw.decode("utf-8", "replace") + '"')
    data = b'\\"' + raw
    try:
        found = [utf8(head(data, 2, len(data))), utf8(tail(data, 2, len(data))), whole(data, 2, len(data))]
    except ValueError as error:
        raise AssertionError(repr(error)) from error
    expected = utf8(text)
    assert found == [expected, expected, b"" if is_blank_text(text) else expected]


@given(raw_strings)
def test_a_string_is_the_same_in_pieces(raw: bytes) -> None:
    with altered(json_strings, PIECE_BYTES=PIECE_BYTES):
        check_pieces(raw)


BAD_CUTS: dict[str, dict[str, Any]] = {
    "anywhere": {"_cut": lambda _data, _start, at: at},
    "between surrogates": {"_HIGH": re.compile(rb"(?!)")},
    "before a low surrogate": {"_LOW": re.compile(rb"(?!)")},
    "inside characters": {"_CONTINUATIONS": range(0)},
    "without counting backslashes": {"_escape": lambda _data, _start, backslash: backslash},
}


@pytest.mark.parametrize("change", BAD_CUTS.values(), ids=BAD_CUTS)
def test_a_cut_inside_a_character_is_caught(change: dict[str, Any]) -> None:
    with altered(json_strings, PIECE_BYTES=PIECE_BYTES, **change):
        assert_caught(check_pieces, raw_strings)


# The short way tells what the general way tells.

Short = Callable[[bytes], Step | None]


@st.composite
def deltas(draw: st.DrawFn) -> bytes:
    index = draw(st.sampled_from(["0", "7", "007", "-1", "1.5", "999999999", "1" * 30]))
    state = draw(st.sampled_from(["ACTIVE", "DONE", "", "active"]))
    kind = draw(st.sampled_from(["agent_response", "agent_response", "tool"]))
    text = draw(st.one_of(odd_text.map(json.dumps), st.sampled_from(['"', '"\\x"', '"\t"', "5", "null"])))
    more = draw(st.sampled_from(["", "", ',"text_delta":"other"', ',"state":"DONE"', ',"usage":{}']))
    end = draw(
        st.sampled_from(["}}", "}}", "}", '},"event":"x"}', '}}{"event":"result","result":{}}', "}} "])
    )
    return (
        f'{{"event":"step_update","step_update":{{"conversation_id":"{ID}","step_index":{index},"state":"{state}",'
        f'"step_type":"{kind}","text_delta":{text}{more}{end}'
    ).encode("utf-8", "surrogatepass")


def check_short(short: Short, data: bytes) -> None:
    found = short(data)
    with altered(events, read_delta=lambda _data: None):
        assert found is None or parse_line(data) == (found,)


@given(deltas())
def test_the_short_way_tells_the_same(data: bytes) -> None:
    check_short(read_delta, data)


def found_short(pattern: str, end: str) -> Short:
    def short(data: bytes) -> Step | None:
        line = data.decode("utf-8", "replace")
        found = re.fullmatch(pattern + r'"text_delta":"([^"\\]*)"' + end, line, re.DOTALL)
        return (
            None if found is None else Step(int(found[1]), "agent_response", found[2], found[3], None, None)
        )

    return short


PREFIX = r'\{"event":"step_update".*"step_index":(\d+),"state":"([A-Z]*)","step_type":"agent_response",'
BAD_SHORTCUTS = {
    "what follows is not looked at": found_short(PREFIX, ".*"),
    "any digits are a number": found_short(PREFIX, r"\}\}"),
}


@pytest.mark.parametrize("short", BAD_SHORTCUTS.values(), ids=BAD_SHORTCUTS)
def test_a_short_way_that_tells_another_is_caught(short: Short) -> None:
    assert_caught(lambda data: check_short(short, data), deltas())


# The work on a line is bounded.


def check_starts(line: str) -> None:
    tries = []

    def never(_text: str, start: int) -> Found | Broken:
        tries.append(start)
        return Broken(truncated=False)

    objects._walk(line, "{", never)
    assert len(tries) <= STARTS


braces = st.text("{x ", max_size=200)


@given(braces)
def test_no_more_than_sixteen_beginnings_are_tried(line: str) -> None:
    check_starts(line)


def test_trying_them_all_is_caught() -> None:
    with altered(objects, STARTS=10**6):
        assert_caught(check_starts, braces)


@given(st.lists(objects_in_json(), max_size=40))
def test_no_more_than_sixteen_objects_come_of_a_line(parts: list[bytes]) -> None:
    assert len(objects_on(b"".join(parts), SHAPE)) <= STARTS + 1


# The end of the answer is kept, and no more.


def check_salvage(salvage: Salvage, said: Sequence[str]) -> None:
    for delta in said:
        salvage.add(1, delta)
    text, everything = salvage.text(), "".join(said)
    kept = 0 if is_blank_text(text) else len(text.encode())
    assert kept <= LIMIT_BYTES
    assert everything.endswith(text)
    if len(everything.encode()) > LIMIT_BYTES and not is_blank_text(everything[-LIMIT_BYTES:]):
        assert kept > LIMIT_BYTES - 4 or is_blank_text(text)


class KeepsTheBeginning(Salvage):
    def add(self, step: int | None, delta: str) -> None:
        if len(self._text) < self._limit_bytes:
            super().add(step, delta)


class KeepsAll(Salvage):
    def text(self) -> str:
        return self._text.decode("utf-8", "replace")


class CutsCharacters(Salvage):
    def text(self) -> str:
        return self._text[-self._limit_bytes :].decode("utf-8", "replace")


said = st.lists(st.text("ab €é😀", max_size=9), max_size=9)


@given(said)
def test_the_end_of_an_answer_is_salvaged(deltas: list[str]) -> None:
    check_salvage(Salvage(LIMIT_BYTES), deltas)


@pytest.mark.parametrize("kind", [KeepsTheBeginning, KeepsAll, CutsCharacters])
def test_another_salvage_is_caught(kind: type[Salvage]) -> None:
    assert_caught(lambda deltas: check_salvage(kind(LIMIT_BYTES), deltas), said)
