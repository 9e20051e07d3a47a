"""The loop behind both doors that watch: look, decide, and wait no longer than there is reason to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from prun.core.watching import pause_s, suspended
from prun.system.unit_look import moment

if TYPE_CHECKING:
    from prun.core.moment import Moment
    from prun.system.clock import WatchClock

WHOLE_S = 1.0
_WHOLE_SHARE = 0.05

T_co = TypeVar("T_co", covariant=True)


class Looks(Protocol[T_co]):
    """What is looked at again and again, until a look finds what ends that."""

    @property
    def unfinished(self) -> int:
        """How many are still to be looked at."""

    def take(self, now: Moment, *, whole: bool) -> T_co | None:
        """Look at everything where *whole*, else only for what may have ended; return what ends the loop."""

    def resume(self, now: Moment) -> None:
        """Learn that nobody looked for a while."""


def look_until(looks: Looks[T_co], clock: WatchClock, poll_s: float, timeout_s: float) -> T_co | None:
    """Return what ended the looking, ``None`` where that was the time: a whole look is the last thing then.

    A whole look comes every second, or rarer where that would take more than a twentieth of a processor, and
    at least every *poll_s*; between two of them as many quick ones as ``pause_s`` allows.
    """
    before = moment(clock)
    end_s = before.monotonic_s + timeout_s
    whole_at_s, usual_s = before.monotonic_s, 0.0
    while True:
        now = moment(clock)
        # Where looking itself takes long, only what is long beside that is a standstill.
        usual_s = max(poll_s, usual_s)
        if suspended(before, now, usual_s):
            looks.resume(now)
            usual_s *= 2
        else:
            usual_s = now.monotonic_s - before.monotonic_s
        last = now.monotonic_s >= end_s
        whole = last or now.monotonic_s >= whole_at_s
        spent_s = clock.cpu()
        found = looks.take(now, whole=whole)
        if found is not None or last:
            return found
        cost_s = clock.cpu() - spent_s
        if whole:
            whole_at_s = now.monotonic_s + min(poll_s, max(WHOLE_S, cost_s / _WHOLE_SHARE))
        pause = pause_s(looks.unfinished, cost_s, poll_s)
        clock.sleep(max(0.0, min(pause, whole_at_s - now.monotonic_s, end_s - now.monotonic_s)))
        before = now
