"""The fake's own commands: ``init`` an account, ``install`` an ``agy``, list the ``scenarios``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fake_agy.home import SETUP_EXIT, Home, SetupError
from fake_agy.profiles import DEFAULT_VERSION, PROFILES
from fake_agy.script import DEFAULT_SCENARIO, Script, find_scenario, shipped_scenarios

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOCK_START = "1767225600"


def run(argv: Sequence[str]) -> int:
    """Return the exit code of one of the fake's own commands."""
    options = _parser().parse_args(argv)
    try:
        if options.command == "init":
            init(Path(options.home), options.profile, options.scenario, options.seed)
            print(options.home)
        elif options.command == "install":
            from fake_agy.install import install

            print(install(Path(options.directory), None if options.home is None else Path(options.home)))
        else:
            for name in shipped_scenarios():
                about = find_scenario(name, None, Script()).about if options.long else ""
                print(f"{name:<24} {about}" if about else name)
    except (SetupError, OSError) as error:
        print(f"fake-agy: {error}", file=sys.stderr)
        return SETUP_EXIT
    return 0


def init(
    root: Path, profile: str = DEFAULT_VERSION, scenario: str = DEFAULT_SCENARIO, seed: int | None = None
) -> Home:
    """Return a new home at *root*: account, script, conversations; with *seed* its clock is a file.

    An existing home keeps its conversations and calls; its account and script are written anew.
    """
    if profile not in PROFILES:
        raise SetupError(f"profile {profile!r} is not one of {', '.join(PROFILES)}")
    find_scenario(scenario, None, Script())
    root.mkdir(parents=True, exist_ok=True)
    home = Home(root.absolute())
    home.conversations.mkdir(exist_ok=True)
    account = f'profile = "{profile}"\n'
    if seed is not None:
        account += f'clock = "file"\nseed = {seed}\n'
    home.account.write_text(account + _ACCOUNT_HELP, encoding="utf-8")
    home.script.write_text(f'default = "{scenario}"\n' + _SCRIPT_HELP, encoding="utf-8")
    if seed is not None:
        home.clock.write_text(_CLOCK_START + "\n", encoding="utf-8")
    home.calls.touch()
    return home


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fake-agy",
        description="A stand-in for agy. Without one of these commands it takes agy's own command line.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("init", help="make an account's home")
    make.add_argument("home", metavar="HOME")
    make.add_argument("--profile", default=DEFAULT_VERSION, help=f"one of {', '.join(PROFILES)}")
    make.add_argument(
        "--scenario", default=DEFAULT_SCENARIO, help="what every turn does; 'scenarios' lists them"
    )
    make.add_argument("--seed", type=int, help="reproducible numbers: the account's clock becomes a file")
    put = commands.add_parser("install", help="put an executable agy into a directory")
    put.add_argument("directory", metavar="DIR")
    put.add_argument(
        "--home", metavar="HOME", help="the account that this agy uses, whatever the environment says"
    )
    show = commands.add_parser("scenarios", help="list the shipped scenarios")
    show.add_argument("--long", action="store_true", help="say what each does")
    return parser


_ACCOUNT_HELP = """
# signed_in = false
# plan = "Google AI Pro"                 # "free" has weekly buckets only
# permission_mode = "request-review"     # request-review, always-proceed, strict, proceed-in-sandbox
# models = ["gemini-3.8-flash-high"]     # all that is known and listed; absent: the version's
# allowed_env = ["SSH_AUTH_SOCK"]        # names that are no breach although they look like secrets
# [bucket.gemini-5h]                     # also gemini-weekly, 3p-5h, 3p-weekly; whole numbers
# capacity = 1000
# cost = 1                               # what one turn takes
# window_s = 18000
# [ceiling]                              # the individual quota, which /usage does not show
# capacity = 20
# window_s = 3600
"""
_SCRIPT_HELP = """
# [[rule]]                               # tried in order before the default
# contains = "unit-7"                    # or matches = "regular expression", nth = 2; several must all hold
# limit = 1                              # how often it may be used
# scenario = "quota"
# [scenario.mine]                        # a scenario of your own; also scenarios/NAME.toml beside this file
# steps = [ { do = "say", text = "Hello." } ]
# result_path = '(?m)^Result path: (.+)$'   # how the result file is found in a prompt
"""
