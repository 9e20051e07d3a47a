"""The statuses that a reader may see a unit in, as values."""

from __future__ import annotations

from typing import TypeAlias

from prun.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """The work is done and its result stands."""

    @property
    def word(self) -> str:
        """The status as it is printed."""
        return "done"

    @property
    def terminal(self) -> bool:
        """Whether waiting is over."""
        return True


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing more is to come that can be waited for; both texts are one printable line."""

    kind: str
    reason: str

    @property
    def word(self) -> str:
        """The status as it is printed."""
        return f"failed({self.kind})"

    @property
    def terminal(self) -> bool:
        """Whether waiting is over."""
        return True


@dataclass(frozen=True, slots=True)
class Finishing:
    """A result stands that is not final yet."""

    @property
    def word(self) -> str:
        """The status as it is printed."""
        return "finishing"

    @property
    def terminal(self) -> bool:
        """Whether waiting is over."""
        return False


@dataclass(frozen=True, slots=True)
class Stalled:
    """No progress for the threshold; *idle_s* counts from the last progress on disk."""

    idle_s: float

    @property
    def word(self) -> str:
        """The status as it is printed."""
        return f"stalled({int(self.idle_s)}s)"

    @property
    def terminal(self) -> bool:
        """Whether waiting is over."""
        return False


@dataclass(frozen=True, slots=True)
class Growing:
    """Output came within the threshold."""

    @property
    def word(self) -> str:
        """The status as it is printed."""
        return "growing"

    @property
    def terminal(self) -> bool:
        """Whether waiting is over."""
        return False


@dataclass(frozen=True, slots=True)
class Pending:
    """No output yet."""

    @property
    def word(self) -> str:
        """The status as it is printed."""
        return "pending"

    @property
    def terminal(self) -> bool:
        """Whether waiting is over."""
        return False


Status: TypeAlias = Done | Failed | Finishing | Stalled | Growing | Pending
