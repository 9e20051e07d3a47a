"""A command line's parser that raises instead of printing, and never asks the terminal anything."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

from prun.core.blank import is_blank_text
from prun.core.errors import UsageError
from prun.core.plain import one_line
from prun.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN_CHARACTERS = 80

_MESSAGE_CHARACTERS = 400
_HELP_COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Help:
    """The caller asked for help: this text is all there is to do."""

    text: str


class HelpAsked(Exception):  # noqa: N818 - no error: it carries the text out of argparse
    """Somebody asked for help; the exception's text is the answer."""


class _HelpAction(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise HelpAsked(parser.format_help())


class Once(argparse.Action):
    """Refuses an option that is given twice."""

    def __call__(
        self, _parser: object, namespace: argparse.Namespace, value: Any, _option: object = None
    ) -> None:
        """Take *value* for the option."""
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "given twice; give it once")
        setattr(namespace, self.dest, value)


class Parser(argparse.ArgumentParser):
    """Reads the options of the door *prog*; ``UsageError`` for what it can't read, ``HelpAsked`` for help."""

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            # A fixed width: argparse would ask the terminal.
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=_HELP_COLUMNS),
            allow_abbrev=False,
            add_help=False,
        )
        # Python 3.14 would colour the help by what the environment says.
        self.color = False

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise UsageError(f"{one_line(message, _MESSAGE_CHARACTERS)}; see {self.prog} --help")

    def read_mixed(self, argv: Sequence[str], places: str) -> argparse.Namespace:
        """Return what *argv* says; its *places* may stand between options, and all after ``--`` is one."""
        words = list(argv)
        end = words.index("--") if "--" in words else len(words)
        found = self.parse_intermixed_args(words[:end])
        setattr(found, places, [*getattr(found, places), *words[end + 1 :]])
        return found

    def add_help_option(self) -> None:
        """Add the option that asks for help; last, so that it stands last."""
        self.add_argument("-h", "--help", action=_HelpAction, nargs=0, help="show this and exit")


def path_argument(name: str, value: str) -> str:
    """Return *value* where it can be a path, else raise ``UsageError`` naming the argument *name*."""
    if is_blank_text(value):
        raise UsageError(f"{name} is blank: give a path")
    if "\0" in value:
        raise UsageError(f"{name} '{one_line(value, SHOWN_CHARACTERS)}' holds a NUL: give another path")
    return value
