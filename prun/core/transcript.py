"""What a worker's event stream says, folded into one value."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Any, assert_never

from prun.core.denials import Denial, merged
from prun.core.events import Event, Init, Other, Result, Step, Unrecognised, parse_line
from prun.core.framing import Framer, Line, Overlong
from prun.core.steps import LastStep, RefusedTool, Steps
from prun.core.values import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterable

PIECE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Transcript:
    """Everything a judge needs of a stream; ``None`` where no event told it.

    *status* is agy's raw JSON value and means something only where *has_status*; *response* is never
    blank and not stripped; *salvaged* is the last 256 KiB of answer text from the deltas;
    *denied_actions* holds agy's objects (string values only) or strings. *result_stands* while no step
    follows the last result with a status. *torn* tells that the stream ends inside an object.
    """

    conversation_id: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    cwd: str | None = None
    result_seen: bool = False
    result_stands: bool = False
    has_status: bool = False
    status: Any = None
    error: str | None = None
    response: str | None = None
    num_turns: int | None = None
    duration_s: float | None = None
    usage: dict[str, int] | None = None
    denied_actions: tuple[Denial, ...] = ()
    refused_tools: tuple[RefusedTool, ...] = ()
    tool_calls: int = 0
    last_step: LastStep | None = None
    salvaged: str = ""
    unrecognised: int = 0
    torn: bool = False


def after_init(told: Transcript, init: Init) -> Transcript:
    """Return *told* with what *init* adds; what an earlier one said stays."""
    return replace(
        told,
        conversation_id=told.conversation_id or init.conversation_id,
        model=told.model or init.model,
        permission_mode=told.permission_mode or init.permission_mode,
        cwd=told.cwd or init.cwd,
    )


def after_result(told: Transcript, result: Result) -> Transcript:
    """Return *told* after *result*, the response apart: what it carries replaces what an earlier one carried.

    Figures are assigned, never summed: agy's are cumulative.
    """
    return replace(
        told,
        result_seen=True,
        has_status=told.has_status or result.has_status,
        status=result.status if result.has_status else told.status,
        error=told.error if result.error is None else result.error,
        num_turns=told.num_turns if result.num_turns is None else result.num_turns,
        duration_s=told.duration_s if result.duration_s is None else result.duration_s,
        usage=told.usage if result.usage is None else result.usage,
        denied_actions=merged(told.denied_actions, result.denied_actions),
    )


def response_after(earlier: bytes, result: Result) -> bytes:
    """Return the response that stands after *result*: blank beside a status means there is none."""
    if result.response_utf8 is None:
        return earlier
    return result.response_utf8 if result.response_utf8 or result.has_status else earlier


class Reader:
    """Folds a stream into a transcript as its bytes arrive, in bounded memory and alike for any chunking."""

    __slots__ = ("_framer", "_latest", "_response", "_stands", "_steps", "_told", "_unrecognised")

    def __init__(self) -> None:
        self._framer = Framer()
        self._told = Transcript()
        self._response = b""
        self._stands = False
        self._steps = Steps()
        self._unrecognised = 0
        self._latest: Transcript | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes in."""
        for start in range(0, len(chunk), PIECE_BYTES):
            self._take_lines(self._framer.feed(chunk[start : start + PIECE_BYTES]))

    def finish(self) -> None:
        """Take in a last line that no line feed ended; nothing is fed after that."""
        self._take_lines(self._framer.finish())

    def transcript(self) -> Transcript:
        """Return what the lines read so far say."""
        if self._latest is None:
            self._latest = replace(
                self._told,
                result_stands=self._stands,
                response=in_pieces(self._response) or None,
                refused_tools=self._steps.refused,
                tool_calls=self._steps.tool_calls,
                last_step=self._steps.last,
                salvaged=self._steps.salvaged,
                unrecognised=self._unrecognised,
            )
        return self._latest

    def _take_lines(self, lines: list[Line | Overlong]) -> None:
        for line in lines:
            self._latest = None
            found = events_of(line)
            for event in found:
                self._take(event)
            if not line.terminated:
                self._told = replace(self._told, torn=ends_torn(found))

    def _take(self, event: Event) -> None:
        match event:
            case Step():
                self._steps.take(event)
                self._stands = False
            case Init():
                self._told = after_init(self._told, event)
            case Result():
                self._told = after_result(self._told, event)
                self._response = response_after(self._response, event)
                self._steps.end_turn()
                self._stands = self._stands or event.has_status
            case Unrecognised():
                self._unrecognised += 1
            case Other():
                pass
            case _:
                assert_never(event)


def events_of(line: Line | Overlong) -> tuple[Event, ...]:
    """Return the events on a *line*."""
    match line:
        case Line(data):
            return parse_line(data)
        case Overlong(size_bytes):
            return (Unrecognised(size_bytes, began=True),)
        case _:
            assert_never(line)


def ends_torn(found: tuple[Event, ...]) -> bool:
    """Return whether a line of events that no line feed ended breaks off inside an object."""
    return bool(found) and isinstance(found[-1], Unrecognised) and found[-1].began


def in_pieces(utf8: bytes) -> str:
    """Return the text of *utf8*; where it is not ASCII, a decoder given all at once takes far more room."""
    if utf8.isascii():
        return utf8.decode("ascii")
    decode = getincrementaldecoder("utf-8")().decode
    return "".join([decode(utf8[at : at + PIECE_BYTES]) for at in range(0, len(utf8), PIECE_BYTES)])


def read(chunks: Iterable[bytes]) -> Transcript:
    """Return what a whole stream says."""
    reader = Reader()
    for chunk in chunks:
        reader.feed(chunk)
    reader.finish()
    return reader.transcript()
