"""``prun VERB``: picks a door and nothing else."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TextIO

VERBS = {
    "dispatch": "run one unit through one worker",
    "monitor": "watch units until one is worth acting on",
    "gather": "wait for results and tell each as it lands",
    "demo": "run a few units at once against the embedded stand-in for agy",
}


def _usage() -> str:
    width = max(map(len, VERBS))
    rows = "\n".join(f"  {verb:<{width}}  {what}" for verb, what in VERBS.items())
    return f"usage: prun VERB ...\n\n{rows}\n\n`prun VERB --help` tells more of one verb."


def main(argv: list[str] | None = None) -> int:
    """Return the exit status of the verb that *argv* (default: the process's own) names."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in VERBS:
        door = import_module(f"prun.{words[0]}")
        return int(door.main(words[1:]))
    if words and words[0] in {"-h", "--help", "help"}:
        _tell(_usage(), sys.stdout)
        return 0
    if words and words[0] in {"-V", "--version"}:
        from prun import __version__

        _tell(__version__, sys.stdout)
        return 0
    problem = f"no such verb: {words[0]!a}" if words else "no verb given"
    _tell(f"prun: {problem}; `prun --help` lists them", sys.stderr)
    return 2


def _tell(text: str, stream: TextIO | None) -> None:
    if stream is None:  # closed by the caller; print would take it for stdout
        return
    try:
        print(text, file=stream, flush=True)
    except OSError:
        # Nobody reads. What the stream still holds would fail once more at Python's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
