"""What every step of one unit's story needs at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.ending import Reaped, ReapReason
from prun.core.values import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prun.core.request import Request
    from prun.system.clock import Clock
    from prun.system.signals import Signals
    from prun.system.state_dir import StateDir


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One unit on its way: what was asked, where it is recorded, and the world it runs in.

    *env* is the dispatcher's own environment, *child_env* what its children get, *withheld* the names that
    they do not; *complain* takes lines for stderr. *asides* collects what went wrong beside the work, for
    the outcome's warnings.
    """

    request: Request
    prompt: str
    state: StateDir
    env: Mapping[str, str]
    child_env: dict[str, str]
    withheld: tuple[str, ...]
    clock: Clock
    signals: Signals
    complain: Callable[[str], None]
    asides: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Tell *text* on stderr and keep it for the outcome."""
        self.asides.append(text)
        self.complain(text)

    @property
    def stop_asked(self) -> bool:
        """Whether a signal or a cancel request came in."""
        return self.signals.received is not None or self.state.cancel.exists()

    def stopped(self) -> Reaped:
        """Return how a unit ends that is asked to stop before its worker runs."""
        signal = self.signals.received
        why = ReapReason.CANCELLED if signal is None else ReapReason.INTERRUPTED
        return Reaped(why, after_s=0.0, signal=signal)
