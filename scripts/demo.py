"""Runs the demo: the program of ``prun demo``, which `python3 scripts/bootstrap.py demo` calls."""

from __future__ import annotations

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    try:
        from prun.demo import main
    except ImportError as error:
        hint = f'"{sys.executable}" -m pip install "{CHECKOUT}"'
        print(f"prun demo: can't import {error.name}; install prun with: {hint}", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
