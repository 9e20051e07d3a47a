"""Agy's own command line: from argv to an exit code, as one version of the real program goes about it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from fake_agy import commands, texts
from fake_agy.account import Account, read_account
from fake_agy.ends import ProgramEndError, StoppedError, TurnInterruptedError
from fake_agy.flags import FLAG_EXIT, FlagError, Options, parse_flags, usage
from fake_agy.glog import Log, log_path
from fake_agy.home import SETUP_EXIT, SetupError, find_home
from fake_agy.platforms import plain_pipes, write_text
from fake_agy.rules import argv_breaches, secret_names
from fake_agy.runs import run_print, run_stream
from fake_agy.script import read_script
from fake_agy.session import Session, place_of
from fake_agy.waiting import Waiter
from fake_agy.witness import BREACH_EXIT, BreachError, Witness

if TYPE_CHECKING:
    from fake_agy.home import Home


class _Call(NamedTuple):
    words: list[str]
    home: Home | None
    account: Account
    witness: Witness
    launcher: str | None


def main(argv: list[str] | None = None, *, home: str | None = None, launcher: str | None = None) -> int:
    """Return the exit code of one call; *home* pins the account, *launcher* is the installed program."""
    plain_pipes()
    words = sys.argv[1:] if argv is None else argv
    try:
        where = find_home(os.environ, home)
        account = read_account(where)
    except SetupError as error:
        return _told(f"fake-agy: {error}", SETUP_EXIT)
    secrets = secret_names(os.environ, account.allowed_env)
    witness = Witness(where, words, os.environ, secrets)
    code = 1
    try:
        code = _guarded(_Call(words, where, account, witness, launcher), secrets)
    finally:
        witness.end(code)
    return code


def _guarded(call: _Call, secrets: list[str]) -> int:
    try:
        if secrets:
            call.witness.breach("secret-in-environment", " ".join(secrets))
        return _answered(call)
    except BreachError as error:
        return _told(f"fake-agy: breach: {error}", BREACH_EXIT)
    except SetupError as error:
        return _told(f"fake-agy: {error}", SETUP_EXIT)
    except ProgramEndError as end:
        return end.code
    except (StoppedError, TurnInterruptedError, BrokenPipeError):
        return 1
    except OSError as error:
        return _told(f"fake-agy: {error}", SETUP_EXIT)


def _answered(call: _Call) -> int:
    try:
        options = parse_flags(call.words)
    except FlagError as error:
        call.witness.breach("refused-flag", error.text)
        return _told(error.text + ("\n" + usage().rstrip("\n") if error.usage else ""), FLAG_EXIT)
    for rule, detail in argv_breaches(options):
        call.witness.breach(rule, detail)
    if options.help or options.version:
        commands.probe_stdin(call.witness)
        write_text(1, usage() if options.help else call.account.profile.version + "\n")
        return 0
    session = _session(call, options)
    if options.words and options.words[0] in commands.SUBCOMMANDS:
        return commands.subcommand(session, options.words[0], list(options.words[1:]))
    if options.words:
        session.complain(texts.POSITIONAL.format(word=options.words[0]))
        return FLAG_EXIT
    return run_stream(session) if options.input_format == "stream-json" else run_print(session)


def _session(call: _Call, options: Options) -> Session:
    waiter = Waiter()
    waiter.install()
    prefix = call.account.profile.log_prefix
    return Session(
        options=options,
        account=call.account,
        home=call.home,
        script=read_script(call.home),
        place=place_of(os.environ, call.launcher),
        log=Log(log_path(options.log_file, call.home), prefix=prefix),
        waiter=waiter,
        witness=call.witness,
    )


def _told(text: str, code: int) -> int:
    write_text(2, text + "\n")
    return code
