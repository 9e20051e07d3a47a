"""``prun monitor``: watches units until one is worth acting on, and says how each of them stands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prun.core.command_line import Help
from prun.core.errors import UsageError
from prun.core.exit_codes import ExitCode
from prun.core.lines import MonitorJson, MonitorText
from prun.core.plain import visible
from prun.core.watch_settings import read_monitor_arguments, read_monitor_settings
from prun.core.watching import Event, exit_status
from prun.flow.watching import watch
from prun.system.clock import SystemClock
from prun.system.environment import current_directory, environment
from prun.system.terminal import complain, say

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status of the watch that *argv* (default: the process's own) asks for."""
    words = sys.argv[1:] if argv is None else argv
    lines = MonitorJson() if "--json" in words else MonitorText()
    try:
        asked = read_monitor_arguments(words)
        if isinstance(asked, Help):
            say(asked.text.rstrip())
            return int(ExitCode.OK)
        settings = read_monitor_settings(environment())
        event = watch(asked, settings, current_directory(), clock=SystemClock(), lines=lines, say=say)
        return exit_status(event)
    except UsageError as error:
        say(lines.event(Event.USAGE_ERROR))
        complain(f"prun monitor: {visible(str(error))}")
        return exit_status(Event.USAGE_ERROR)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
