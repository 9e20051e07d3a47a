"""What the steps of a stream amount to: tool calls, refusals, the answer's text, the last step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.denials import KEPT, is_refusal
from prun.core.plain import one_line
from prun.core.salvage import Salvage
from prun.core.values import dataclass

if TYPE_CHECKING:
    from prun.core.events import Step

_MESSAGE_CHARACTERS = 300
_ANSWER = "agent_response"
_TOOL = "tool"
_TOOLS = frozenset({_TOOL, "subagent", "finish"})
_FAILED = "ERROR"
_ENDED = frozenset({"DONE", _FAILED})


@dataclass(frozen=True, slots=True)
class LastStep:
    """The step told of last; *tool_open* while it is a tool call that has not ended."""

    index: int | None
    step_type: str
    state: str
    tool_name: str | None
    tool_open: bool


@dataclass(frozen=True, slots=True)
class RefusedTool:
    """A tool step that agy refused for want of permission, in agy's words (one line)."""

    tool: str
    message: str


class Steps:
    """Takes in steps one by one and keeps what they amount to, in bounded memory."""

    __slots__ = ("_in_turn", "_refused", "_salvage", "_step", "_top_tool", "tool_calls")

    def __init__(self) -> None:
        self._salvage = Salvage()
        self._step: Step | None = None
        self._in_turn = False
        self._top_tool = -1
        self._refused: dict[int | None, RefusedTool] = {}
        self.tool_calls = 0

    @property
    def refused(self) -> tuple[RefusedTool, ...]:
        """The tool steps that agy refused, each once."""
        return tuple(self._refused.values())

    @property
    def last(self) -> LastStep | None:
        """The step told of last; a tool call is not open any more when its turn has ended."""
        step = self._step
        if step is None:
            return None
        tool_open = self._in_turn and step.step_type in _TOOLS and step.state not in _ENDED
        return LastStep(step.index, step.step_type, step.state, step.tool_name, tool_open)

    @property
    def salvaged(self) -> str:
        """The end of the answer's text."""
        return self._salvage.text()

    def take(self, step: Step) -> None:
        """Take in the next *step*."""
        self._step = step
        self._in_turn = True
        if step.step_type == _ANSWER:
            if step.text:
                self._salvage.add(step.index, step.text)
            return
        if step.step_type == _TOOL:
            self._count(step)
        if step.state == _FAILED and step.error is not None and is_refusal(step.error):
            self._refuse(step.index, step.tool_name or step.step_type, step.error)

    def end_turn(self) -> None:
        """Take in that a result came: no call goes on after it."""
        self._in_turn = False

    def _count(self, step: Step) -> None:
        # The same call comes again under its index; without one, only its end counts.
        if step.index is None:
            self.tool_calls += step.state in _ENDED
        elif step.index > self._top_tool:
            self._top_tool = step.index
            self.tool_calls += 1

    def _refuse(self, index: int | None, tool: str, message: str) -> None:
        if len(self._refused) < KEPT:
            self._refused[index] = RefusedTool(tool, one_line(message, _MESSAGE_CHARACTERS))
