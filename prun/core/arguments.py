"""The command line of a dispatch, read into arguments."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from prun.core.command_line import SHOWN_CHARACTERS, Help, HelpAsked, Once, Parser, path_argument
from prun.core.errors import UsageError
from prun.core.plain import one_line
from prun.core.request import Arguments, Mode, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

UNIT_ID_CHARACTERS = 64

_UNIT_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{UNIT_ID_CHARACTERS}}}")
_DEVICE = re.compile(r"con|prn|aux|nul|com[1-9]|lpt[1-9]", re.IGNORECASE)


def read_arguments(argv: Sequence[str]) -> Arguments | Help:
    """Return what *argv* asks for, checked for form; what can't be read raises ``UsageError``."""
    try:
        found = _parser().parse_args(list(argv))
    except HelpAsked as asked:
        return Help(str(asked))
    return Arguments(
        prompt_file=path_argument("--prompt-file", found.prompt_file),
        result_file=path_argument("--result-file", found.result_file),
        unit=valid_unit_id(found.unit_id),
        mode=found.mode,
        add_dirs=tuple(path_argument("--add-dir", path) for path in found.add_dir or ()),
        continue_from=_optional_path("--continue-from", found.continue_from),
    )


def valid_unit_id(text: str) -> str:
    """Return *text* where it can name a unit on every system, else raise ``UsageError``."""
    refused = f"the unit id '{one_line(text, SHOWN_CHARACTERS)}' can't be used: "
    if _UNIT_ID.fullmatch(text) is None:
        raise UsageError(f"{refused}choose 1 to {UNIT_ID_CHARACTERS} ASCII letters, digits, - and _")
    if _DEVICE.fullmatch(text):
        raise UsageError(f"{refused}Windows keeps that name for a device; choose another")
    return text


def mode_of(arguments: Arguments, settings: Settings) -> Mode:
    """Return the mode; one left out raises ``UsageError`` where the worker gets more than its own scratch."""
    if arguments.mode is not None:
        return arguments.mode
    if settings.scratch is None and not arguments.add_dirs:
        return Mode.ACCEPT_EDITS
    cause = "--add-dir is given" if arguments.add_dirs else "PRUN_SCRATCH_CWD is set"
    raise UsageError(
        f"{cause} but no mode: name one, --mode plan to change nothing there or --mode accept-edits"
    )


def _optional_path(option: str, value: str | None) -> str | None:
    return None if value is None else path_argument(option, value)


def _mode(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError:
        shown = one_line(text, SHOWN_CHARACTERS)
        raise argparse.ArgumentTypeError(f"'{shown}' is no mode; give plan or accept-edits") from None


def _parser() -> Parser:
    parser = Parser(
        "prun dispatch", "Run one prompt through one agy worker and account for what becomes of it."
    )
    add = parser.add_argument
    add("--prompt-file", required=True, action=Once, metavar="P", help="the prompt, in UTF-8")
    add("--result-file", required=True, action=Once, metavar="R", help="the result; nothing may be there yet")
    add(
        "--unit-id",
        required=True,
        action=Once,
        metavar="ID",
        help="the unit's name: letters, digits, - and _",
    )
    add(
        "--mode",
        action=Once,
        type=_mode,
        metavar="plan|accept-edits",
        help="what the worker may do; to be named with --add-dir or PRUN_SCRATCH_CWD, else accept-edits",
    )
    add("--add-dir", action="append", metavar="DIR", help="a further directory for the worker; repeatable")
    add("--continue-from", action=Once, metavar="STATE_DIR", help="resume that unit's conversation")
    parser.add_help_option()
    return parser
