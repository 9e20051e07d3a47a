"""The steps a script is made of: a closed union of values, read from tables.

They are named tuples, not dataclasses: those would cost every fake worker half its start-up time again.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias


class Say(NamedTuple):
    """Answer text in *pieces*; *split_bytes* cuts lines inside a character, *open* never gets DONE."""

    text: str = ""
    pieces: int = 2
    split_bytes: bool = False
    open: bool = False


class Tool(NamedTuple):
    """One tool call: ACTIVE, then DONE with *output* or ERROR with *error*; *fast* shows the end only."""

    name: str = "run_command"
    parameters: dict[str, Any] = {}  # noqa: RUF012 - never changed
    output: str = ""
    output_bytes: int = 0
    error: str = ""
    fast: bool = False
    open: bool = False


class Subagent(NamedTuple):
    """One subagent, started and done."""

    type_name: str = "general"
    role: str = "helper"


class Sleep(NamedTuple):
    """Time passes."""

    seconds: float = 0.0


class WaitFor(NamedTuple):
    """Nothing happens until *path* exists; *seconds* bounds it."""

    path: str = ""
    seconds: float = 60.0


class Raw(NamedTuple):
    """Bytes on stdout as they are: *text* in UTF-8, *hex* for what is not text, *repeat* times."""

    text: str = ""
    hex: str = ""
    repeat: int = 1
    newline: bool = True


class Stderr(NamedTuple):
    """A line on stderr."""

    text: str = ""
    newline: bool = True


class Log(NamedTuple):
    """A line in agy's own log."""

    text: str = ""
    level: str = "I"
    where: str = "run.go:371"


class Write(NamedTuple):
    """A file in *chunks*, the last once the file *between* exists; *copy* takes another's bytes."""

    path: str = "{result_file}"
    text: str = ""
    chunks: int = 1
    between: str = ""
    copy: str = ""


class Run(NamedTuple):
    """A real command in the working directory; its end is awaited."""

    command: tuple[str, ...] = ()
    seconds: float = 60.0


class Spawn(NamedTuple):
    """A grandchild that lives on: *group* is same, setsid or double-fork, *holds_stdout* keeps ours open."""

    group: str = "same"
    holds_stdout: bool = False
    seconds: float = 600.0
    ignore_signals: bool = False


class IgnoreSignals(NamedTuple):
    """From here on a request to end is not heard."""


class Quota(NamedTuple):
    """The stop of an empty quota; *retry_s* bounds a version that retries inside itself."""

    reset_s: float = 2047.0
    keep_response: bool = False
    retry_s: float = -1.0


class Deny(NamedTuple):
    """A tool call refused for want of permission, as the version shows it."""

    action: str = "command"
    display_name: str = "RunCommand"
    tool: str = "run_command"
    target: str = "touch notes.txt"
    keep_response: bool = False


class Error(NamedTuple):
    """A failure of a known *kind* (see failures.py), or *text* with *exit*; it ends the turn."""

    kind: str = ""
    text: str = ""
    exit: int = -1


class Result(NamedTuple):
    """A result event; *omit* names keys to leave out, *fields* keys to set to anything at all."""

    status: str = "SUCCESS"
    response: str = "{response}"
    error: str = ""
    omit: tuple[str, ...] = ()
    fields: dict[str, Any] = {}  # noqa: RUF012 - never changed


class Exit(NamedTuple):
    """The process ends now with *code*."""

    code: int = 0


class Signal(NamedTuple):
    """The process dies of signal *number* now."""

    number: int = 9


class Hang(NamedTuple):
    """Nothing happens any more, the print timeout included; *seconds* bounds it all the same."""

    seconds: float = 3600.0


class Linger(NamedTuple):
    """The result is given, and the process stays."""

    seconds: float = 600.0


class Flood(NamedTuple):
    """*size* bytes of output in one line (or lines of *width*), on stdout, stderr or in the log."""

    size: int = 1_000_000
    width: int = 0
    to: str = "stdout"


class Truncate(NamedTuple):
    """The result line, cut after *keep* of its bytes (a fraction), and the end of the process."""

    keep: float = 0.5
    code: int = 0


Step: TypeAlias = (
    Say
    | Tool
    | Subagent
    | Sleep
    | WaitFor
    | Raw
    | Stderr
    | Log
    | Write
    | Run
    | Spawn
    | IgnoreSignals
    | Quota
    | Deny
    | Error
    | Result
    | Exit
    | Signal
    | Hang
    | Linger
    | Flood
    | Truncate
)

STEPS: dict[str, type[Step]] = {
    "say": Say,
    "tool": Tool,
    "subagent": Subagent,
    "sleep": Sleep,
    "wait_for": WaitFor,
    "raw": Raw,
    "stderr": Stderr,
    "log": Log,
    "write": Write,
    "run": Run,
    "spawn": Spawn,
    "ignore_signals": IgnoreSignals,
    "quota": Quota,
    "deny": Deny,
    "error": Error,
    "result": Result,
    "exit": Exit,
    "signal": Signal,
    "hang": Hang,
    "linger": Linger,
    "flood": Flood,
    "truncate": Truncate,
}


def read_step(table: object) -> Step:
    """Return the step that *table* (``{do = "say", …}``) describes; ValueError says what is wrong with it."""
    if not isinstance(table, dict) or not isinstance(table.get("do"), str):
        raise ValueError('a step is a table with do = "…"')
    kind = STEPS.get(table["do"])
    if kind is None:
        raise ValueError(f"unknown step {table['do']!r}; known are {', '.join(STEPS)}")
    given = {key: _checked(kind, table["do"], key, value) for key, value in table.items() if key != "do"}
    return kind(**given)


def _checked(kind: type[Step], name: str, key: str, value: Any) -> Any:
    if key not in kind._fields:
        raise ValueError(f"step {name!r} has no {key!r}; it takes {', '.join(kind._fields) or 'nothing'}")
    default = kind._field_defaults[key]
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise ValueError(f"step {name!r}: {key!r} must be a list of strings")
    if type(default) is float and type(value) is int:
        return float(value)
    if type(value) is not type(default):
        raise ValueError(f"step {name!r}: {key!r} must be a {type(default).__name__}")
    return value
