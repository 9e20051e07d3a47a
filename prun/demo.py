"""``prun demo``: a few units at once, watched, collected and accounted for; no account needed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prun.core.errors import PrunError
from prun.core.exit_codes import ExitCode
from prun.core.plain import visible
from prun.flow.demonstrating import Stage, perform, rehearse
from prun.system.agy import find_agy
from prun.system.children import make_scratch
from prun.system.clock import SystemClock
from prun.system.environment import current_directory, environment
from prun.system.terminal import complain, say

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = """usage: prun demo [--real]

Without --real the embedded stand-in for agy does the work; with it three harmless units run on the agy on
your PATH, in plan mode. Exit status: 0 each unit ended as promised, 1 one did not."""


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status of the demo that *argv* (default: the process's own) asks for."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["-h"], ["--help"]):
        say(USAGE)
        return int(ExitCode.OK)
    if words not in ([], ["--real"]):
        complain(USAGE)
        return int(ExitCode.USAGE)
    env, play = environment(), perform if words else rehearse
    try:
        if words:
            find_agy(env.get("ANTIGRAVITY_BIN") or "agy", env, current_directory())
        return play(Stage(make_scratch("prun-demo-"), SystemClock(), say), env)
    except (PrunError, OSError) as error:
        complain(f"prun demo: {visible(str(error))}")
        return int(ExitCode.FAILED)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
