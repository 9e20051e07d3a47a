"""``python -m prun``: the same as the ``prun`` command."""

from __future__ import annotations

import sys

from prun.cli import main

if __name__ == "__main__":
    sys.exit(main())
