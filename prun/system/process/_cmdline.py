"""Arguments and environment in the form Windows takes them: one string each."""

from __future__ import annotations

import re

from prun.core.errors import LaunchError
from prun.system.process._contract import cannot_run

CMD_LONGEST = 8191
_QUOTE_NEEDED = re.compile(r'[ \t\n\v"]')
_CMD_READS = re.compile(r'["%!^&|<>\x00-\x1f]')


def is_batch(program: str) -> bool:
    """Return whether Windows hands *program* to cmd.exe; it ignores blanks and dots at the end of a name."""
    return program.rstrip(" .").lower().endswith((".cmd", ".bat"))


def quoted(argument: str, *, always: bool = False) -> str:
    """Return *argument* as C programs read it back: backslashes double before a quote, quotes are escaped."""
    if argument and not always and not _QUOTE_NEEDED.search(argument):
        return argument
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', argument)
    return '"' + re.sub(r"(\\+)\Z", r"\1\1", escaped) + '"'


def command_line(argv: tuple[str, ...], cmd: str) -> tuple[str, str]:
    """Return the program to start for *argv* and its command line; batch files are run by *cmd*, cmd.exe.

    Raises ``LaunchError`` for an argument of a batch file that cmd.exe would read as something else: it
    expands ``%`` and ``!`` inside quotes too, and a batch file may hand arguments on unquoted.
    """
    if any("\0" in argument for argument in argv):
        raise cannot_run(argv[0], "a NUL in its arguments")
    if not is_batch(argv[0]):
        return argv[0], " ".join(map(quoted, argv))
    for argument in argv:
        found = _CMD_READS.search(argument)
        if found:
            odd = f"cmd.exe would reinterpret {found[0]!r} in {argument!r}"
            raise cannot_run(argv[0], f"{odd}; name the .exe it starts instead")
    inner = " ".join(quoted(argument, always=True) for argument in argv)
    line = f'{quoted(cmd)} /d /s /v:off /c "{inner}"'
    if len(line) > CMD_LONGEST:
        raise cannot_run(argv[0], "its command line is too long for cmd.exe")
    return cmd, line


def environment_block(env: dict[str, str]) -> str:
    """Return *env* as CreateProcess takes it; of names that differ only in case the last one stays."""
    settings: dict[str, str] = {}
    for name, value in env.items():
        if not name or "=" in name[1:] or "\0" in name or "\0" in value:
            raise LaunchError(f"cannot pass the environment variable {name!r} to a program")
        settings[name.upper()] = f"{name}={value}\0"
    return ("".join(setting for _, setting in sorted(settings.items())) or "\0") + "\0"
