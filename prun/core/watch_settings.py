"""The command lines and the environment of the two doors that watch."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from prun.core.command_line import SHOWN_CHARACTERS, Help, HelpAsked, Once, Parser, path_argument
from prun.core.errors import UsageError
from prun.core.plain import one_line
from prun.core.settings import read_state_root
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class Until(StrEnum):
    """What ends a watch before its time is up."""

    EVENT = "event"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """The environment of a monitor, all in seconds."""

    stall_s: float
    tool_stall_s: float
    poll_s: float
    timeout_s: float
    stable_s: float


@dataclass(frozen=True, slots=True)
class MonitorArguments:
    """The command line of a monitor; paths are as the caller wrote them."""

    state_dirs: tuple[str, ...]
    batch: str | None
    excepted: tuple[str, ...]
    fresh: bool
    until: Until
    follow: bool
    json: bool


@dataclass(frozen=True, slots=True)
class GatherSettings:
    """The environment of a gather; times in seconds, *state_root* as the caller wrote it."""

    poll_s: float
    timeout_s: float
    stable_s: float
    state_root: str | None


@dataclass(frozen=True, slots=True)
class GatherArguments:
    """The command line of a gather; paths are as the caller wrote them."""

    paths: tuple[str, ...]
    batch: str | None
    strict: bool
    json: bool


def read_monitor_settings(env: Mapping[str, str]) -> MonitorSettings:
    """Return the settings that *env* makes; a variable that can't be used raises ``UsageError`` naming it."""
    stall_s = read_seconds(env, "PRUN_STALL_THRESHOLD", 600)
    return MonitorSettings(
        stall_s=stall_s,
        tool_stall_s=read_seconds(env, "PRUN_TOOL_STALL_THRESHOLD", stall_s),
        poll_s=read_seconds(env, "PRUN_MONITOR_POLL", 15, above_0=True),
        timeout_s=read_seconds(env, "PRUN_MONITOR_TIMEOUT", 3600),
        stable_s=read_seconds(env, "PRUN_MONITOR_STABLE_WINDOW", 10),
    )


def read_gather_settings(env: Mapping[str, str]) -> GatherSettings:
    """Return the settings that *env* makes; a variable that can't be used raises ``UsageError`` naming it."""
    return GatherSettings(
        poll_s=read_seconds(env, "PRUN_GATHER_POLL", 5, above_0=True),
        timeout_s=read_seconds(env, "AGENT_CONFIG_GATHER_TIMEOUT", 3600),
        stable_s=read_seconds(env, "PRUN_GATHER_STABLE_WINDOW", 10),
        state_root=read_state_root(env),
    )


def read_seconds(env: Mapping[str, str], name: str, default: float, *, above_0: bool = False) -> float:
    """Return the seconds that *name* holds, *default* where unset: plain digits, perhaps with a point."""
    value = env.get(name)
    if value is None:
        return default
    if _NUMBER.fullmatch(value) is None or (above_0 and float(value) == 0):
        least = "above 0" if above_0 else "from 0"
        raise UsageError(
            f"{name} is '{one_line(value, SHOWN_CHARACTERS)}': give seconds {least} in plain digits, "
            f"as 15 or 0.5, or unset it for {default:g}"
        )
    return float(value)


def read_monitor_arguments(argv: Sequence[str]) -> MonitorArguments | Help:
    """Return what *argv* asks for, checked for form; what can't be read raises ``UsageError``."""
    parser = Parser(
        "prun monitor",
        "Watch units until one is worth acting on, and say how each of them stands. Exit status: 0 all done, "
        "3 one failed or stalled, 2 out of time or a wrong call.",
    )
    add = parser.add_argument
    add("state_dirs", nargs="*", metavar="STATE_DIR", help="the state directory of a unit")
    _add_batch(parser)
    add("--except", action="append", dest="excepted", metavar="UNIT", help="take no event from this unit")
    add("--fresh", action="store_true", help="count no silence from before now as a stall")
    add(
        "--until",
        action=Once,
        choices=[until.value for until in Until],
        help="event (the default): end at the first event; all: end when every unit has",
    )
    add("--follow", action="store_true", help="print a UNIT line whenever a status changes")
    _add_json(parser)
    try:
        found = parser.read_mixed(argv, "state_dirs")
    except HelpAsked as asked:
        return Help(str(asked))
    if not found.state_dirs and found.batch is None:
        raise UsageError("nothing to watch: name state directories or a --batch; see prun monitor --help")
    return MonitorArguments(
        state_dirs=tuple(path_argument("a state directory", path) for path in found.state_dirs),
        batch=None if found.batch is None else path_argument("--batch", found.batch),
        excepted=tuple(path_argument("--except", unit) for unit in found.excepted or ()),
        fresh=found.fresh,
        until=Until(found.until or Until.EVENT),
        follow=found.follow,
        json=found.json,
    )


def read_gather_arguments(argv: Sequence[str]) -> GatherArguments | Help:
    """Return what *argv* asks for, checked for form; what can't be read raises ``UsageError``."""
    parser = Parser(
        "prun gather",
        "Wait until every result has landed, and say so of each as it does. Exit status: 0 all landed, "
        "2 out of time or a wrong call; with --strict 3 where a run failed.",
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="RESULT_FILE|STATE_DIR", help="a result, or the unit that makes it")
    _add_batch(parser)
    add("--strict", action="store_true", help="exit 3 where a result is a FALLBACK or its run failed")
    _add_json(parser)
    try:
        found = parser.read_mixed(argv, "paths")
    except HelpAsked as asked:
        return Help(str(asked))
    if not found.paths and found.batch is None:
        raise UsageError("nothing to gather: name results or a --batch; see prun gather --help")
    return GatherArguments(
        paths=tuple(path_argument("a result file", path) for path in found.paths),
        batch=None if found.batch is None else path_argument("--batch", found.batch),
        strict=found.strict,
        json=found.json,
    )


def _add_batch(parser: Parser) -> None:
    parser.add_argument(
        "--batch",
        action=Once,
        metavar="BATCH",
        help="the units of a batch, as they appear: its directory, or its name under .prun",
    )


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_help_option()
