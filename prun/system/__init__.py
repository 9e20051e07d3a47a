"""Effects without policy: files, processes, clocks and locks, each behind a narrow function."""

from __future__ import annotations
