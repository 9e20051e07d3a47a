"""Decisions as functions of values: nothing here reads a clock, a file, or the environment."""

from __future__ import annotations
