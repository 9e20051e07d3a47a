"""One process of agy: what every turn of it shares."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from fake_agy import counts, texts
from fake_agy.clock import Clock, Dice
from fake_agy.conversations import Conversation, latest, stored
from fake_agy.emit import Emitter
from fake_agy.platforms import write_text
from fake_agy.script import DEFAULT_SCENARIO, Scenario, Script, find_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fake_agy.account import Account
    from fake_agy.flags import Options
    from fake_agy.glog import Log
    from fake_agy.home import Home
    from fake_agy.models import Model
    from fake_agy.waiting import Waiter
    from fake_agy.witness import Witness

_TOOLS = (
    "run_command",
    "view_file",
    "write_to_file",
    "replace_file_content",
    "search_web",
    "read_url_content",
    "call_mcp_tool",
    "invoke_subagent",
    "manage_task",
    "ask_permission",
    "finish",
)
_LEGACY_TOOLS = ("list_dir", "find_by_name", "grep_search")


class Choice(NamedTuple):
    """A scenario chosen for the *nth* call with its prompt."""

    scenario: Scenario
    nth: int


class Place(NamedTuple):
    """How this process was started: environment, working directory, path of the installed ``agy``."""

    environ: Mapping[str, str]
    cwd: str
    launcher: str | None


class Session:
    """Everything a turn needs from outside itself."""

    def __init__(
        self,
        *,
        options: Options,
        account: Account,
        home: Home | None,
        script: Script,
        place: Place,
        log: Log,
        waiter: Waiter,
        witness: Witness,
    ) -> None:
        """Hold the parts; nothing is read or written."""
        self.options, self.account, self.home, self.script = options, account, home, script
        self.place, self.log, self.waiter, self.witness = place, log, waiter, witness
        self.profile = account.profile
        self.clock = Clock(home.clock if home is not None and account.file_clock else None)
        self.emitter = Emitter(options.output_format)
        self.model: Model | None = None
        self.conversation = Conversation("")

    def choose(self, prompt: str | None) -> Choice | None:
        """Return the scenario for *prompt*; ``None`` only where the prompt is needed and not known yet."""
        decided = counts.choose(self.home, self.script.rules, prompt)
        if decided is None:
            return None
        name = DEFAULT_SCENARIO if decided.rule is None else self.script.rules[decided.rule].scenario
        return Choice(find_scenario(name, self.home, self.script), decided.nth)

    def open_conversation(self, dice: Dice) -> None:
        """Resume the conversation that was asked for, or start a new one with an id of *dice*."""
        asked = self.options.conversation
        if asked is None and self.options.continue_last:
            asked = latest(self.home, self.place.cwd)
        found = None if asked is None else stored(self.home, asked)
        if asked is not None and found is None:
            self.stderr(texts.UNKNOWN_CONVERSATION.format(id=asked))
        if found is None:
            found = Conversation(dice.uuid("conversation") if self.account.file_clock else _random_uuid())
            self.log.line(f"Created conversation {found.id}", where="conversation.go:88")
        else:
            self.log.line(f"Print mode: resuming conversation {found.id}", where="printmode.go:140")
        self.conversation = found
        if not found.hold(self.home):
            self.emitter.raw(texts.BANNER.encode() + b"\n")
            self.witness.breach("conversation-shared", found.id)

    def show_init(self) -> None:
        """Print the first event."""
        profile, options = self.profile, self.options
        tools = _TOOLS + (_LEGACY_TOOLS if profile.legacy_tools else ())
        mode = "always-proceed" if options.skip_permissions else self.account.permission_mode
        payload: dict[str, Any] = {"cwd": self.place.cwd, "tools": list(tools), "permission_mode": mode}
        if self.model is not None and (profile.init_always_names_model or options.model is not None):
            payload["model"] = self.model.base
        self.emitter.init(self.conversation.id, payload)

    def stderr(self, text: str, *, newline: bool = True) -> None:
        """Write *text* to stderr at once."""
        write_text(2, text + ("\n" if newline else ""))

    def complain(self, text: str) -> None:
        """Write an error line with the marker of this version."""
        self.stderr(f"{self.profile.error_prefix} {text}")


def place_of(environ: Mapping[str, str], launcher: str | None) -> Place:
    """Return where this process runs; a working directory that is gone reads as the root."""
    try:
        cwd = os.getcwd()  # noqa: PTH109 - a string is what init shows
    except OSError:
        cwd = os.path.abspath(os.sep)  # noqa: PTH100 - as above
    return Place(environ, cwd, launcher)


def _random_uuid() -> str:
    return Dice(os.urandom(16).hex()).uuid("conversation")


PYTHON = sys.executable
