"""The life of one running worker: look at it, decide, and end it when that is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.ending import Ending, Exited, Reaped, ReapReason, Signalled, Unknown
from prun.core.supervision import Limits, Look, Progress, Reap, Wait, outdone, supervise
from prun.core.values import dataclass, replace
from prun.flow.witness import LAST_READ_S, News, Testimony, Witness

if TYPE_CHECKING:
    from collections.abc import Callable

    from prun.system.clock import Clock
    from prun.system.process import Ended, TreeEnd, Worker
    from prun.system.signals import Signals
    from prun.system.state_dir import StateDir

LOOK_S = 0.2
TERM_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Watched:
    """How a run ended, what the worker's output says, and what became of its tree."""

    ending: Ending
    testimony: Testimony
    tree: TreeEnd


def _own_end(ended: Ended) -> Ending:
    if ended.code is not None:
        return Exited(ended.code)
    return Signalled(ended.signal) if ended.signal is not None else Unknown()


class Supervisor:
    """One worker from its start to the proved end of its tree; *named* is told its conversation id, once."""

    def __init__(
        self, worker: Worker, state: StateDir, clock: Clock, signals: Signals, named: Callable[[str], None]
    ) -> None:
        self._worker = worker
        self._state = state
        self._clock = clock
        self._signals = signals
        self._named = named
        self._witness = Witness(state, clock)
        self._started_s = clock.monotonic()
        self._name_told = False
        self._stops_seen = 0

    def watch(self, limits: Limits, *, end_leftovers: bool) -> Watched:
        """Return what came of the worker; whatever happens here, its tree is ended."""
        try:
            return self._watch(limits, end_leftovers=end_leftovers)
        except BaseException:
            self._worker.end(TERM_GRACE_S, self._clock)
            raise

    def _watch(self, limits: Limits, *, end_leftovers: bool) -> Watched:
        progress, behind = Progress(), False
        while True:
            ended, signal = self._worker.wait(0.0 if behind else LOOK_S), self._signals.received
            # Who ends a dispatcher often ends its worker too: then that was no end of the worker's own.
            if ended is not None and (signal is None or ended.code == 0):
                return self._after_own_end(ended, end_leftovers=end_leftovers)
            if ended is not None:
                return self._reap(ReapReason.INTERRUPTED, self._at_s(), signal)
            self._worker.collect()
            news = self._witness.read_on()
            look, behind = self._look(news, signal), news.more
            progress, decision = supervise(progress, look, limits)
            match decision:
                case Wait():
                    continue
                case Reap(why):
                    return self._reap(why, look.at_s, signal)

    def _at_s(self) -> float:
        return self._clock.monotonic() - self._started_s

    def _look(self, news: News, signal: int | None) -> Look:
        now = self._witness.testimony()
        self._tell(now)
        stops_before, self._stops_seen = self._stops_seen, now.log.quota_stops
        return Look(
            at_s=self._at_s(),
            grew=news.grew,
            spoke=news.spoke,
            result_stands=now.transcript.result_stands,
            quota_stop=now.log.quota_stops > stops_before,
            cancel_asked=self._state.cancel.exists(),
            signal=signal,
        )

    def _tell(self, now: Testimony) -> None:
        conversation_id = now.transcript.conversation_id
        if conversation_id is not None and not self._name_told:
            self._name_told = True
            self._named(conversation_id)

    def _after_own_end(self, ended: Ended, *, end_leftovers: bool) -> Watched:
        at_exit = self._witness.sizes()
        tree = self._worker.end(TERM_GRACE_S, self._clock) if end_leftovers else self._worker.leave()
        # Where leftovers were asked to end, what they printed then is no evidence.
        testimony = self._witness.close(at_exit if tree.leftovers else self._witness.sizes())
        self._tell(testimony)
        return Watched(_own_end(ended), testimony, tree)

    def _reap(self, why: ReapReason, after_s: float, signal: int | None) -> Watched:
        # What agy prints after prun's first signal is no evidence.
        before = self._witness.sizes()
        tree = self._worker.end(TERM_GRACE_S, self._clock)
        testimony = self._witness.close(before, LAST_READ_S)
        self._tell(testimony)
        ending = Reaped(outdone(why, result_stands=testimony.transcript.result_stands), after_s)
        if ending.why is ReapReason.INTERRUPTED:
            ending = replace(ending, signal=signal)
        if tree.ended is not None:
            ending = replace(ending, code=tree.ended.code, died_of=tree.ended.signal)
        return Watched(ending, testimony, tree)
