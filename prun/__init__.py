"""prun fans a task out to headless agy workers and accounts for every result.

A *unit* is one prompt given to one *worker* process.
A *dispatcher* runs one unit and writes everything it learns into that unit's *state directory*.
Monitor, gather, reports and the ledger only read that directory, so any process may die or come late.
All judgement is in ``core``, which touches nothing; all touching is in ``system``, which judges nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"
