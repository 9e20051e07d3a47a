"""``python -m fake_agy`` and ``fake-agy``: the fake's own commands, else agy's command line."""

from __future__ import annotations

import sys

_OWN = frozenset({"init", "install", "scenarios"})


def main(argv: list[str] | None = None) -> int:
    """Return the exit code: ``init``, ``install`` and ``scenarios`` are the fake's, all else is agy's."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in _OWN:
        from fake_agy.setup import run

        return run(words)
    from fake_agy.agy import main as agy

    return agy(words)


if __name__ == "__main__":
    sys.exit(main())
