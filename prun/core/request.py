"""One unit as asked for, fully resolved: what ``request.json`` says."""

from __future__ import annotations

from enum import StrEnum

from prun.core.values import dataclass


class Mode(StrEnum):
    """What the worker may do without asking."""

    ACCEPT_EDITS = "accept-edits"
    PLAN = "plan"


class Preflight(StrEnum):
    """How far agy's version and model list are checked before a launch."""

    AUTO = "auto"
    FORCE = "force"
    OFF = "off"


class SessionKind(StrEnum):
    """How a POSIX worker is set apart from its dispatcher."""

    SESSION = "session"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The command line of a dispatch, checked for form; paths are as the caller wrote them."""

    prompt_file: str
    result_file: str
    unit: str
    mode: Mode | None
    add_dirs: tuple[str, ...]
    continue_from: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment of a dispatch, checked for form; paths are as the caller wrote them."""

    agy: str
    model: str | None
    effort: str | None
    timeout_s: int
    preflight: Preflight
    preflight_timeout_s: int
    scratch: str | None
    sandbox: bool
    keep_env: frozenset[str]
    state_root: str | None
    reap_idle_s: int
    reap_grace_s: int
    reap_leftovers: bool
    min_result_bytes: int
    session: SessionKind


@dataclass(frozen=True, slots=True)
class Request:
    """Everything a later judge needs of one dispatch; all paths absolute, ``None`` where not asked for.

    *work_dir_made* tells that the dispatcher made the working directory and may hand it to a follow-up.
    *started_monotonic_s* belongs to the boot *boot*.
    """

    unit: str
    attempt: int
    batch: str | None
    prompt_file: str
    result_file: str
    mode: str
    work_dir: str
    work_dir_made: bool
    add_dirs: tuple[str, ...]
    continued_id: str | None
    agy: str
    model_asked: str | None
    effort_asked: str | None
    timeout_s: int
    reap_idle_s: int
    reap_grace_s: int
    reap_leftovers: bool
    min_result_bytes: int
    preflight: str
    preflight_timeout_s: int
    sandbox: bool
    session: str
    worker_token: str
    started_at: str
    started_monotonic_s: float
    boot: str | None
    versions: dict[str, str]
    schema: int = 1
