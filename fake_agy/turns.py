"""One turn: the steps it has shown, what they add up to, and the result that closes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fake_agy import texts
from fake_agy.clock import Dice, Stopwatch
from fake_agy.emit import ZERO_USAGE
from fake_agy.home import SetupError
from fake_agy.session import PYTHON

if TYPE_CHECKING:
    from fake_agy.failures import Failure
    from fake_agy.session import Choice, Session
    from fake_agy.steps import Deny, Result, Say, Subagent, Tool


class Turn:
    """One user message being answered."""

    def __init__(self, session: Session, prompt: str, choice: Choice) -> None:
        """Begin with nothing shown."""
        account = session.account
        self.session, self.prompt, self.choice = session, prompt, choice
        self.dice = Dice(account.seed, account.profile.version, choice.scenario.name, prompt, choice.nth)
        self.watch = Stopwatch(counted=account.file_clock)
        self.shown: list[str] = []
        self.denied: list[dict[str, str]] = []
        self.blank_response = False
        self.result_shown = False
        self.exit_code = 0
        self._last_s = 0.0

    @property
    def response(self) -> str:
        """The answer so far: every delta that was shown, unless a refusal blanked it."""
        return "" if self.blank_response else "".join(self.shown)

    def open(self) -> None:
        """Show the two steps that every turn begins with."""
        self.session.conversation.turns += 1
        self._step(self._index(), "DONE", "user_input")
        self._step(self._index(), "DONE", "unknown", duration_seconds=self._took("unknown", 1, 5))

    def say(self, step: Say) -> None:
        """Show answer text: deltas while ACTIVE, then DONE with a line end and the tokens used."""
        text, index = self.fill(step.text), self._index()
        size = max(1, -(-len(text) // max(step.pieces, 1)))
        for start in range(0, len(text), size):
            self.session.waiter.check()
            piece = text[start : start + size]
            self._step(index, "ACTIVE", "agent_response", split=step.split_bytes, text_delta=piece)
            self.shown.append(piece)
        if step.open:
            return
        self.shown.append("\n")
        usage = self._usage(index)
        took = self._took(f"say{index}", 500, 4000)
        self._step(index, "DONE", "agent_response", text_delta="\n", duration_seconds=took, usage=usage)

    def tool(self, step: Tool) -> None:
        """Show one tool call, ACTIVE and then DONE or ERROR."""
        index = self._index()
        filled = {
            key: self.fill(value) if isinstance(value, str) else value
            for key, value in step.parameters.items()
        }
        info: dict[str, Any] = {"name": step.name, "parameters": filled}
        if not step.fast:
            self._step(index, "ACTIVE", "tool", tool_name=step.name, tool_info=info)
        if step.open:
            return
        took = self._took(f"tool{index}", 20, 900)
        if step.error:
            info = {**info, "error": {"type": "TOOL_ERROR", "message": step.error}}
        else:
            output = self.fill(step.output) or "x" * step.output_bytes
            info = {**info, "output": output}
        state = "ERROR" if step.error else "DONE"
        self._step(index, state, "tool", tool_name=step.name, duration_seconds=took, tool_info=info)

    def subagent(self, step: Subagent) -> None:
        """Show one subagent, started and done."""
        index = self._index()
        child = self.dice.uuid(f"subagent{index}")
        agent = {
            "type_name": step.type_name,
            "role": step.role,
            "conversation_id": child,
            "log_uri": f"file:///brain/{child}/.system_generated/logs/transcript.jsonl",
            "workspace_uris": [],
        }
        info = {"subagents": [agent]}
        self._step(index, "ACTIVE", "subagent", tool_name="invoke_subagent", subagent_info=info)
        took = self._took(f"subagent{index}", 900, 3000)
        self._step(
            index, "DONE", "subagent", tool_name="invoke_subagent", subagent_info=info, duration_seconds=took
        )

    def deny(self, step: Deny) -> None:
        """Show a refused tool call as this version does; what is refused is named in the result."""
        profile, index = self.session.profile, self._index()
        info: dict[str, Any] = {"name": step.tool, "parameters": {"CommandLine": step.target}}
        if profile.denial == "ends-turn":
            self._step(index, "DONE", "tool", tool_name=step.tool, tool_info=info)
        else:
            self._step(index, "ACTIVE", "tool", tool_name=step.tool, tool_info=info)
            message = texts.DENIED_STEP.format(action=step.action, target=step.target)
            info = {**info, "error": {"type": "TOOL_ERROR", "message": message}}
            self._step(index, "ERROR", "tool", tool_name=step.tool, tool_info=info)
        self.denied.append({"action": step.action, "display_name": step.display_name})
        self.blank_response = not step.keep_response
        if self.blank_response:
            self.session.stderr(texts.DENIED.format(action=step.action))

    def finish(self) -> None:
        """Close the turn well: checkpoint, then a SUCCESS result with the answer."""
        self._checkpoint()
        self._show(self._payload("SUCCESS", self.response))

    def result(self, step: Result, keep: float = 1.0) -> None:
        """Show the result that a script spells out."""
        if step.status == "SUCCESS" and not self.result_shown:
            self._checkpoint()
        payload = self._payload(step.status, self.fill(step.response), self.fill(step.error))
        payload.update(step.fields)
        for key in step.omit:
            payload.pop(key, None)
        if step.status != "SUCCESS":
            self.exit_code = 1
            self.session.complain(step.error or step.status)
        self._show(payload, keep)

    def fail(self, failure: Failure, response: str) -> None:
        """Close the turn with a failure of the service, on stdout, on stderr and in the log."""
        session = self.session
        payload = self._payload("ERROR", response, failure.error)
        if not failure.keeps_usage:
            payload["usage"] = dict(ZERO_USAGE)
        self._show(payload)
        if failure.stderr:
            session.complain(failure.stderr)
        if failure.api is not None and session.profile.agy_error:
            short, status, code, kind = failure.api
            number = self.dice.number(1000, 9999, "error")
            error_id = f"{self.dice.uuid('error')}-{session.conversation.turns}-{number}"
            retryable = code != 2  # noqa: PLR2004
            session.stderr(
                texts.error_payload(short, status, code, kind, retryable=retryable, error_id=error_id)
            )
        if failure.log:
            session.log.line(failure.log, "E", "log.go:398")
        self.exit_code = failure.exit_code

    def cut(self, duration: str) -> None:
        """Close a turn that ran into the print timeout of *duration*, as this version does."""
        if self.session.profile.print_timeout == "error":
            self._show(self._payload("ERROR", "", texts.PRINT_TIMEOUT_ERROR))
            self.exit_code = 1
            return
        self._show(self._payload("SUCCESS", self.response))
        self.session.stderr(texts.PRINT_TIMEOUT_NOTICE.format(duration=duration))

    def interrupt(self) -> None:
        """Close a turn that was asked to end."""
        self._show(self._payload("ERROR", self.response, texts.INTERRUPTED))
        self.exit_code = 1

    def fill(self, text: str) -> str:
        """Return *text* with its placeholders replaced; SetupError where the prompt names no result file."""
        if "{" not in text:
            return text
        if "{result_file}" in text:
            text = text.replace("{result_file}", self._result_file())
        session = self.session
        values = {
            "response": self.response,
            "prompt": self.prompt,
            "cwd": session.place.cwd,
            "home": "" if session.home is None else str(session.home.root),
            "conversation_id": session.conversation.id,
            "agy": session.place.launcher or "",
            "python": PYTHON,
        }
        return re.sub(r"\{(" + "|".join(values) + r")\}", lambda found: values[found[1]], text)

    def _result_file(self) -> str:
        found = re.search(self.session.script.result_path, self.prompt)
        if found is None:
            raise SetupError(
                "the prompt names no result path; result_path in script.toml says how to find it "
                f"(now {self.session.script.result_path!r})"
            )
        path = next((group for group in found.groups() if group), "")
        return path.strip().strip("`\"'<>")

    def _payload(self, status: str, response: str, error: str = "") -> dict[str, Any]:
        conversation = self.session.conversation
        payload: dict[str, Any] = {"conversation_id": conversation.id, "status": status, "response": response}
        if error:
            payload["error"] = error
        payload["duration_seconds"] = round(conversation.duration_s + self.watch.elapsed_s(), 6)
        payload["num_turns"] = conversation.turns
        payload["usage"] = dict(conversation.usage)
        if self.denied and self.session.profile.denied_actions:
            payload["denied_actions"] = list(self.denied)
        return payload

    def _show(self, payload: dict[str, Any], keep: float = 1.0) -> None:
        self.result_shown = True
        self.session.emitter.result(payload, keep)

    def _checkpoint(self) -> None:
        self._step(self._index(), "DONE", "checkpoint", duration_seconds=self._took("checkpoint", 100, 700))

    def _index(self) -> int:
        conversation = self.session.conversation
        conversation.next_step += 1
        return conversation.next_step - 1

    def _step(self, index: int, state: str, kind: str, *, split: bool = False, **fields: Any) -> None:
        payload = {
            "conversation_id": self.session.conversation.id,
            "step_index": index,
            "state": state,
            "step_type": kind,
            **fields,
        }
        self.session.emitter.step(payload, (lambda: self.session.waiter.sleep(0.05)) if split else None)

    def _took(self, label: str, low_ms: int, high_ms: int) -> float:
        """Return how long a step took; under a file clock, how long it is said to have taken."""
        if self.watch.counted:
            self.watch.count(self.dice.number(low_ms, high_ms, f"took {label}") / 1000)
        elapsed_s = self.watch.elapsed_s()
        took_s, self._last_s = elapsed_s - self._last_s, elapsed_s
        return round(took_s, 6)

    def _usage(self, index: int) -> dict[str, int]:
        number = self.dice.number
        output = number(40, 600, f"output {index}")
        usage = {
            "input_tokens": number(12_000, 23_000, f"input {index}"),
            "output_tokens": output,
            "thinking_tokens": number(0, output, f"thinking {index}"),
            "cache_read_tokens": number(0, 8_000, f"cache {index}"),
        }
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
        self.session.conversation.add_usage(usage)
        return usage
