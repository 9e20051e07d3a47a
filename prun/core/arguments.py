"""The command line of a dispatch, read into arguments."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, NoReturn

from prun.core.blank import is_blank_text
from prun.core.errors import UsageError
from prun.core.plain import one_line
from prun.core.request import Arguments, Mode, Settings
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

UNIT_ID_CHARACTERS = 64

_UNIT_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{UNIT_ID_CHARACTERS}}}")
_DEVICE = re.compile(r"con|prn|aux|nul|com[1-9]|lpt[1-9]", re.IGNORECASE)
_SHOWN_CHARACTERS = 80
_MESSAGE_CHARACTERS = 400
_HELP_COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Help:
    """The caller asked for help: this text is all there is to do."""

    text: str


class _HelpAsked(Exception):  # noqa: N818 - no error: it carries the text out of argparse
    pass


class _HelpAction(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise _HelpAsked(parser.format_help())


class _Once(argparse.Action):
    def __call__(
        self, _parser: object, namespace: argparse.Namespace, value: Any, _option: object = None
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "given twice; give it once")
        setattr(namespace, self.dest, value)


class _Parser(argparse.ArgumentParser):
    def __init__(self) -> None:
        super().__init__(
            prog="prun dispatch",
            description="Run one prompt through one agy worker and account for what becomes of it.",
            # A fixed width: argparse would ask the terminal.
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=_HELP_COLUMNS),
            allow_abbrev=False,
            add_help=False,
        )
        # Python 3.14 would colour the help by what the environment says.
        self.color = False

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{one_line(message, _MESSAGE_CHARACTERS)}; see prun dispatch --help")


def read_arguments(argv: Sequence[str]) -> Arguments | Help:
    """Return what *argv* asks for, checked for form; what can't be read raises ``UsageError``."""
    try:
        found = _parser().parse_args(list(argv))
    except _HelpAsked as asked:
        return Help(str(asked))
    return Arguments(
        prompt_file=_path("--prompt-file", found.prompt_file),
        result_file=_path("--result-file", found.result_file),
        unit=valid_unit_id(found.unit_id),
        mode=found.mode,
        add_dirs=tuple(_path("--add-dir", path) for path in found.add_dir or ()),
        continue_from=_optional_path("--continue-from", found.continue_from),
    )


def valid_unit_id(text: str) -> str:
    """Return *text* where it can name a unit on every system, else raise ``UsageError``."""
    refused = f"the unit id '{one_line(text, _SHOWN_CHARACTERS)}' can't be used: "
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


def _path(option: str, value: str) -> str:
    if is_blank_text(value):
        raise UsageError(f"{option} is blank: give a path")
    if "\0" in value:
        raise UsageError(f"{option} '{one_line(value, _SHOWN_CHARACTERS)}' holds a NUL: give another path")
    return value


def _optional_path(option: str, value: str | None) -> str | None:
    return None if value is None else _path(option, value)


def _mode(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError:
        shown = one_line(text, _SHOWN_CHARACTERS)
        raise argparse.ArgumentTypeError(f"'{shown}' is no mode; give plan or accept-edits") from None


def _parser() -> argparse.ArgumentParser:
    parser = _Parser()
    add = parser.add_argument
    add("--prompt-file", required=True, action=_Once, metavar="P", help="the prompt, in UTF-8")
    add(
        "--result-file", required=True, action=_Once, metavar="R", help="the result; nothing may be there yet"
    )
    add(
        "--unit-id",
        required=True,
        action=_Once,
        metavar="ID",
        help="the unit's name: letters, digits, - and _",
    )
    add(
        "--mode",
        action=_Once,
        type=_mode,
        metavar="plan|accept-edits",
        help="what the worker may do; to be named with --add-dir or PRUN_SCRATCH_CWD, else accept-edits",
    )
    add("--add-dir", action="append", metavar="DIR", help="a further directory for the worker; repeatable")
    add("--continue-from", action=_Once, metavar="STATE_DIR", help="resume that unit's conversation")
    add("-h", "--help", action=_HelpAction, nargs=0, help="show this and exit")
    return parser
