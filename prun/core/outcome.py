"""The verdict on a unit as a value: what ``outcome.json`` says."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from prun.core.values import dataclass, field


class Verdict(StrEnum):
    """What the dispatcher concludes of a unit."""

    COMPLETED = "completed"
    FAILED = "failed"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"


class Kind(StrEnum):
    """Why, in the order of precedence: the first that fits is the kind."""

    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    STALLED = "stalled"
    TIMEOUT = "timeout"
    PREFLIGHT = "preflight"
    LAUNCH = "launch"
    QUOTA = "quota"
    AUTH = "auth"
    CAPACITY = "capacity"
    NETWORK = "network"
    RESUME_MISMATCH = "resume-mismatch"
    DENIED = "denied"
    CRASHED = "crashed"
    ERROR = "error"
    SILENT = "silent"
    SHORT = "short"
    PUBLISH = "publish"
    OK = "ok"


class Author(StrEnum):
    """Who wrote the document at the result path."""

    WORKER = "worker"
    RESPONSE = "response"
    FALLBACK = "fallback"
    NONE = "none"


class TreeState(StrEnum):
    """What is known of the worker's process tree at the end."""

    GONE = "gone"
    LEFTOVERS = "leftovers"
    NOT_PROVED = "not-proved"


@dataclass(frozen=True, slots=True)
class QuotaStop:
    """A quota stop: the group that stopped, when it resets (RFC 3339, UTC) and agy's words."""

    group: str | None
    resets_at: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything ``outcome.json`` holds; *kind* stays a string so that a newer writer's kind is kept."""

    unit: str
    attempt: int
    verdict: str
    kind: str
    reason: str
    exit_code: int
    result_path: str
    result_author: str
    model: str
    tree: str
    started_at: str
    ended_at: str
    duration_s: float
    worker_exit: int | None = None
    worker_signal: int | None = None
    status: str | None = None
    response_path: str | None = None
    conversation_id: str | None = None
    model_asked: str | None = None
    usage: dict[str, Any] | None = None
    num_turns: int | None = None
    denied_actions: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()
    quota: QuotaStop | None = None
    leftovers: tuple[str, ...] = ()
    adopted: bool = False
    schema: int = field(default=1)
