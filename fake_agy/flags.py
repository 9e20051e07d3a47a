"""Agy's command line, parsed as Go's flag package does: ``-x``, ``--x``, ``=``, strict."""

from __future__ import annotations

from typing import Any, NamedTuple

from fake_agy.durations import parse_duration

FLAG_EXIT = 2
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


class Options(NamedTuple):
    """The command line as given; ``None`` where a flag was not given, *words* what follows the flags."""

    prompt: str | None = None
    interactive: str | None = None
    model: str | None = None
    effort: str | None = None
    mode: str | None = None
    print_timeout_s: float | None = None
    output_format: str = "text"
    input_format: str = "text"
    json_schema: str | None = None
    skip_permissions: bool = False
    sandbox: bool = False
    add_dirs: tuple[str, ...] = ()
    conversation: str | None = None
    continue_last: bool = False
    project: str | None = None
    new_project: bool = False
    agent: str | None = None
    log_file: str | None = None
    disable_slash_commands: bool = False
    gemini_dir: str | None = None
    version: bool = False
    help: bool = False
    words: tuple[str, ...] = ()


class FlagError(Exception):
    """A command line that agy refuses; *text* goes to stderr, *usage* says whether the usage follows."""

    def __init__(self, text: str, *, usage: bool = True) -> None:
        """Keep *text* and whether agy prints its usage after it."""
        super().__init__(text)
        self.text = text
        self.usage = usage


class _Flag(NamedTuple):
    field: str
    kind: str
    help: str


_CHOICES = {"output_format": ("text", "json", "stream-json"), "input_format": ("text", "stream-json")}
_PROMPT = _Flag("prompt", "string", "run a single prompt without the interface and print the response")
_INTERACTIVE = _Flag("interactive", "string", "run an initial prompt and go on interactively")
_CONTINUE = _Flag("continue_last", "bool", "continue the latest conversation of this directory")
FLAGS: dict[str, _Flag] = {
    "add-dir": _Flag("add_dirs", "list", "add a directory to the workspace (repeatable)"),
    "agent": _Flag("agent", "string", "agent to run"),
    "c": _CONTINUE,
    "continue": _CONTINUE,
    "conversation": _Flag("conversation", "string", "resume a conversation by its id"),
    "dangerously-skip-permissions": _Flag("skip_permissions", "bool", "auto-approve all tool permissions"),
    "disable-slash-commands": _Flag("disable_slash_commands", "bool", "do not expand slash commands"),
    "effort": _Flag("effort", "string", "reasoning effort of the model"),
    "gemini_dir": _Flag("gemini_dir", "string", ""),
    "h": _Flag("help", "bool", ""),
    "help": _Flag("help", "bool", "print this help"),
    "i": _INTERACTIVE,
    "input-format": _Flag("input_format", "choice", "format of stdin: text or stream-json"),
    "json-schema": _Flag("json_schema", "string", "JSON schema of the answer"),
    "log-file": _Flag("log_file", "string", "write the log to this file"),
    "mode": _Flag("mode", "string", "execution mode: default, accept-edits or plan"),
    "model": _Flag("model", "string", "model for this session"),
    "new-project": _Flag("new_project", "bool", "start a new project"),
    "output-format": _Flag("output_format", "choice", "format of stdout: text, json or stream-json"),
    "p": _PROMPT,
    "print": _PROMPT,
    "print-timeout": _Flag("print_timeout_s", "duration", "limit of a print mode turn"),
    "project": _Flag("project", "string", "project id"),
    "prompt": _PROMPT,
    "prompt-interactive": _INTERACTIVE,
    "sandbox": _Flag("sandbox", "bool", "run terminal commands in a sandbox"),
    "version": _Flag("version", "bool", "print the version"),
}


def parse_flags(argv: list[str]) -> Options:
    """Return what *argv* asks for; FlagError carries agy's own words for what it refuses."""
    given: dict[str, Any] = {}
    rest = list(argv)
    while rest:
        word = rest[0]
        if len(word) < 2 or word[0] != "-":  # noqa: PLR2004
            break
        rest.pop(0)
        if word == "--":
            break
        name, flag, value = _split(word)
        if flag.kind == "bool":
            given[flag.field] = _boolean(name, value)
            continue
        if value is None:
            if not rest or (flag is _PROMPT and _is_flag(rest[0])):
                raise FlagError(f"flag needs an argument: -{name}")
            value = rest.pop(0)
        _take(given, name, flag, value)
    return Options(**given, words=tuple(rest))


def usage(program: str = "agy") -> str:
    """Return the usage text: one flag a line, in Go's layout."""
    lines = [f"Usage of {program}:"]
    for name, flag in FLAGS.items():
        if flag.help:
            kind = "" if flag.kind == "bool" else f" {'duration' if flag.kind == 'duration' else 'string'}"
            lines += [f"  -{name}{kind}", f"    \t{flag.help}"]
    return "\n".join(lines) + "\n"


def _split(word: str) -> tuple[str, _Flag, str | None]:
    name = word[2:] if word.startswith("--") else word[1:]
    if not name or name[0] in "-=":
        raise FlagError(f"bad flag syntax: {word}")
    name, equals, value = name.partition("=")
    flag = FLAGS.get(name)
    if flag is None:
        raise FlagError(f"flags provided but not defined: -{name}")
    return name, flag, value if equals else None


def _boolean(name: str, value: str | None) -> bool:
    if value is None or value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise FlagError(f'invalid boolean value "{value}" for -{name}: parse error')


def _is_flag(word: str) -> bool:
    """Return whether *word* looks like a flag; a lone dash is an ordinary value."""
    return len(word) > 1 and word[0] == "-"


def _take(given: dict[str, Any], name: str, flag: _Flag, value: str) -> None:
    if flag.kind == "list":
        given[flag.field] = (*given.get(flag.field, ()), value)
    elif flag.kind == "duration":
        seconds = parse_duration(value)
        if seconds is None:
            raise FlagError(f'invalid value "{value}" for flag -{name}: parse error')
        given[flag.field] = seconds
    elif flag.kind == "choice" and value not in _CHOICES[flag.field]:
        raise FlagError(f'invalid --{name} "{value}" (valid: {", ".join(_CHOICES[flag.field])})', usage=False)
    else:
        given[flag.field] = value
