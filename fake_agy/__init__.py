"""A stand-in for the agy command line: a program of its own, steered by files, sharing no code with prun."""

from __future__ import annotations
