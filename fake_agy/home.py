"""The account's home directory: where it is, and the name of every file in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME_VARIABLE = "FAKE_AGY_HOME"


class SetupError(Exception):
    """The fake itself is set up wrongly (a home, account or script it can't use); one line, exit 96."""


SETUP_EXIT = 96


class Home:
    """The files of one account."""

    def __init__(self, root: Path) -> None:
        """Name the files under *root*; nothing is touched."""
        self.root = root
        self.account = root / "account.toml"
        self.script = root / "script.toml"
        self.script_json = root / "script.json"
        self.scenarios = root / "scenarios"
        self.conversations = root / "conversations"
        self.last_conversations = root / "last_conversations.json"
        self.calls = root / "calls.jsonl"
        self.clock = root / "clock"
        self.enforce = root / "enforce"
        self.signed_out = root / "signed-out"
        self.counts = root / "counts.json"
        self.quota = root / "quota.json"
        self.lock = root / "lock"
        self.log = root / "cli.log"
        self.log_dir = root / "log"

    def conversation(self, conversation_id: str) -> Path:
        """Return the file of one conversation."""
        return self.conversations / f"{conversation_id}.json"

    def conversation_lock(self, conversation_id: str) -> Path:
        """Return the file that a process holds locked while it has the conversation open."""
        return self.conversations / f"{conversation_id}.lock"


def find_home(environ: Mapping[str, str], pinned: str | None = None) -> Home | None:
    """Return the account's home: *pinned*, ``FAKE_AGY_HOME``, else ``.fake-agy`` at home if it exists.

    ``None`` means that there is none and the defaults hold. SetupError: a named one that is not a directory.
    """
    named = pinned or environ.get(HOME_VARIABLE)
    if named:
        root = Path(named)
        if not root.is_dir():
            raise SetupError(f"home {root} is not a directory; 'fake-agy init {root}' makes one")
        return Home(root.absolute())
    try:
        root = Path.home() / ".fake-agy"
    except RuntimeError:
        return None
    return Home(root) if root.is_dir() else None
