"""``prun gather``: waits until every result has landed, and says so of each as it does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prun.core.command_line import Help
from prun.core.errors import UsageError
from prun.core.exit_codes import ExitCode
from prun.core.lines import GatherJson, GatherText
from prun.core.plain import visible
from prun.core.watch_settings import read_gather_arguments, read_gather_settings
from prun.flow.collecting import gather
from prun.system.clock import SystemClock
from prun.system.environment import current_directory, environment
from prun.system.terminal import complain, say

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status of the collecting that *argv* (default: the process's own) asks for."""
    try:
        asked = read_gather_arguments(sys.argv[1:] if argv is None else argv)
        if isinstance(asked, Help):
            say(asked.text.rstrip())
            return int(ExitCode.OK)
        env = environment()
        settings, lines = read_gather_settings(env), GatherJson() if asked.json else GatherText()
        return gather(asked, settings, env, current_directory(), clock=SystemClock(), lines=lines, say=say)
    except UsageError as error:
        complain(f"prun gather: {visible(str(error))}")
        return int(ExitCode.USAGE)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
