"""Stories that look, decide and act: they join ``core`` and ``system``."""

from __future__ import annotations
