"""``prun dispatch``: one unit through one worker, from a command line to an exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prun.core.arguments import read_arguments
from prun.core.command_line import Help
from prun.core.errors import PrunError, UsageError
from prun.core.exit_codes import ExitCode
from prun.core.plain import visible
from prun.core.settings import read_settings, refuse_nesting
from prun.flow.beginning import begin
from prun.flow.intake import take_in
from prun.flow.telling import tell
from prun.flow.unit import run_unit
from prun.system.clock import SystemClock
from prun.system.environment import current_directory, environment
from prun.system.signals import Signals
from prun.system.terminal import complain, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prun.core.request import Arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status of the dispatch that *argv* (default: the process's own) asks for."""
    try:
        asked = read_arguments(sys.argv[1:] if argv is None else argv)
        if isinstance(asked, Help):
            say(asked.text.rstrip())
            return int(ExitCode.OK)
        return _dispatch(asked, environment())
    except UsageError as error:
        complain(f"prun dispatch: {visible(str(error))}")
        return int(ExitCode.USAGE)
    except PrunError as error:
        complain(f"prun dispatch: {visible(str(error))}")
        return int(ExitCode.FAILED)


def _dispatch(asked: Arguments, env: Mapping[str, str]) -> int:
    refuse_nesting(env)
    settings, clock = read_settings(env), SystemClock()
    with Signals() as signals:
        intake = take_in(asked, settings, env, current_directory(), clock)
        begun = begin(intake, settings.keep_env, env, clock=clock, signals=signals, complain=complain)
        state = begun.dispatch.state
        say(f"STATE-DIR {state.root}")
        try:
            outcome = run_unit(begun.dispatch, begun.owner, begun.leases)
        except OSError as error:
            complain(
                f"prun dispatch: the outcome can't be written in {visible(str(state.root))}: {error}; "
                "its tail holds the work"
            )
            return int(ExitCode.FAILED)
        signals.exit_at_once(outcome.exit_code)
        tell(outcome, state, complain)
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main())
