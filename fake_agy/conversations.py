"""Stored conversations: what a resumed turn goes on from, and who has one open."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from fake_agy.emit import ZERO_USAGE
from fake_agy.platforms import lock, replace

if TYPE_CHECKING:
    from fake_agy.home import Home

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")


class Conversation:
    """One conversation: its id and what its turns have added up to."""

    def __init__(self, conversation_id: str) -> None:
        """Start an empty one."""
        self.id = conversation_id
        self.turns = 0
        self.next_step = 0
        self.duration_s = 0.0
        self.usage = dict(ZERO_USAGE)
        self._descriptor: int | None = None

    def add_usage(self, usage: dict[str, int]) -> None:
        """Add what one turn used; the figures of a conversation only grow."""
        for key, value in usage.items():
            self.usage[key] += value

    def hold(self, home: Home | None) -> bool:
        """Return whether this process now has the conversation open alone; it holds it until it ends."""
        if home is None:
            return True
        home.conversations.mkdir(exist_ok=True)
        descriptor = os.open(home.conversation_lock(self.id), os.O_RDWR | os.O_CREAT, 0o600)
        self._descriptor = descriptor  # kept open: the lock ends with the process
        return lock(descriptor, wait=False)

    def save(self, home: Home | None) -> None:
        """Store it, whole."""
        if home is None:
            return
        body = {
            "id": self.id,
            "turns": self.turns,
            "next_step": self.next_step,
            "duration_s": self.duration_s,
            "usage": self.usage,
        }
        replace(home.conversation(self.id), json.dumps(body).encode())


def latest(home: Home | None, cwd: str) -> str | None:
    """Return the id of the conversation that was last open in *cwd*, the last writer's."""
    if home is None:
        return None
    try:
        found = json.loads(home.last_conversations.read_bytes())[cwd]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def remember(home: Home | None, cwd: str, conversation_id: str) -> None:
    """Make *conversation_id* the latest of *cwd*; as in agy, of two processes the last one wins."""
    if home is None:
        return
    try:
        known = json.loads(home.last_conversations.read_bytes())
    except (OSError, ValueError):
        known = {}
    replace(home.last_conversations, json.dumps({**known, cwd: conversation_id}).encode())


def stored(home: Home | None, conversation_id: str) -> Conversation | None:
    """Return the stored conversation of that id, ``None`` where there is none or it can't be read."""
    if home is None or not _ID.fullmatch(conversation_id):
        return None
    try:
        body = json.loads(home.conversation(conversation_id).read_bytes())
        found = Conversation(conversation_id)
        found.turns, found.next_step = int(body["turns"]), int(body["next_step"])
        found.duration_s = float(body["duration_s"])
        found.usage = {key: int(body["usage"][key]) for key in ZERO_USAGE}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found
