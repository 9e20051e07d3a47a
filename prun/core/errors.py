"""The exceptions that mean prun itself could not do something, by whose fault it was."""

from __future__ import annotations


class PrunError(Exception):
    """Base of all errors that prun raises on purpose; the text is one line that names thing and next step."""


class UsageError(PrunError):
    """The caller asked for something that can't be done as asked; nothing was started."""


class MissingProgramError(PrunError):
    """The agy program was not found."""


class LaunchError(PrunError):
    """The worker's program could not be started."""


class PublishError(PrunError):
    """A document could not be put in its place."""
