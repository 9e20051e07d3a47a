"""The witness: what every call was given, appended to the home's ``calls.jsonl`` as it happens."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fake_agy.platforms import append, session_ids, stream_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fake_agy.home import Home

_STDIN_KEPT_BYTES = 262_144
BREACH_EXIT = 97


class BreachError(Exception):
    """A broken rule in a home that enforces them; the process ends with 97."""


class Witness:
    """One call's records: its start, each turn, spawn and breach, and its end."""

    def __init__(
        self, home: Home | None, argv: list[str], environ: Mapping[str, str], secrets: list[str]
    ) -> None:
        """Write the start record; *secrets* names what looks like one. Without a home nothing is written."""
        self._home = home
        self._call = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._stdin = hashlib.sha256()
        self._stdin_bytes = 0
        self._stdin_head = b""
        self.breaches: list[str] = []
        if home is None:
            return
        self._add(
            "start",
            argv=argv,
            cwd=_cwd(),
            env_names=sorted(environ),
            secrets=secrets,
            stdin=stream_kind(0),
            stdout=stream_kind(1),
            stderr=stream_kind(2),
            **session_ids(),
        )

    def note(self, what: str, **fields: Any) -> None:
        """Write a record of kind *what*."""
        if self._home is not None:
            self._add(what, **fields)

    def breach(self, rule: str, detail: str) -> None:
        """Record that *rule* was broken; raise BreachError in a home that enforces the rules."""
        self.breaches.append(rule)
        if self._home is None:
            return
        self._add("breach", rule=rule, detail=detail)
        if self._home.enforce.exists():
            raise BreachError(f"{rule}: {detail}")

    def read(self, data: bytes) -> None:
        """Take note of bytes that came by stdin."""
        self._stdin.update(data)
        self._stdin_bytes += len(data)
        room = _STDIN_KEPT_BYTES - len(self._stdin_head)
        self._stdin_head += data[: max(room, 0)]

    def end(self, code: int) -> None:
        """Write the end record."""
        if self._home is None:
            return
        self._add(
            "end",
            exit=code,
            stdin_bytes=self._stdin_bytes,
            stdin_sha256=self._stdin.hexdigest(),
            stdin_head=self._stdin_head.decode("utf-8", "replace"),
            breaches=self.breaches,
        )

    def _add(self, what: str, **fields: Any) -> None:
        if self._home is None:
            return
        record = {
            "at": what,
            "call": self._call,
            "pid": os.getpid(),
            "time": datetime.now(UTC).isoformat(),
            **fields,
        }
        append(self._home.calls, json.dumps(record, ensure_ascii=True).encode() + b"\n")


def _cwd() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - may fail, and pathlib says no more
    except OSError:
        return None
