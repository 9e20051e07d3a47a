"""The life of one running worker: look at it, decide, and end it when that is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prun.core.ending import Ending, Exited, Reaped, ReapReason, Signalled, Unknown
from prun.core.evidence import is_success
from prun.core.supervision import Limits, Look, Progress, Reap, Wait, outdone, supervise
from prun.core.values import dataclass, replace
from prun.flow.witness import News, Testimony, Witness
from prun.system.marks import Mark, mark_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prun.system.clock import Clock
    from prun.system.process import Ended, TreeEnd, Worker
    from prun.system.signals import Signals
    from prun.system.state_dir import StateDir

LOOK_S = 0.2
TERM_GRACE_S = 5.0
LAST_READ_S = 2.0
OWN_READ_S = 60.0


@dataclass(frozen=True, slots=True)
class Watched:
    """How a run ended, what the worker's output says, and what became of its tree.

    *result* is what stood at the result path before anything of the tree was ended.
    """

    ending: Ending
    testimony: Testimony
    tree: TreeEnd
    result: Mark


def _own_end(ended: Ended) -> Ending:
    if ended.code is not None:
        return Exited(ended.code)
    return Signalled(ended.signal) if ended.signal is not None else Unknown()


class Supervisor:
    """One worker from its start to the proved end of its tree; *named* is told its conversation id, once."""

    def __init__(
        self,
        worker: Worker,
        state: StateDir,
        result: Path,
        *,
        clock: Clock,
        signals: Signals,
        named: Callable[[str], None],
    ) -> None:
        self._worker = worker
        self._state = state
        self._result = result
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
            if ended is not None and (signal is None or self._done_well(ended)):
                return self._after_own_end(ended, end_leftovers=end_leftovers)
            if ended is not None:
                # Who ends a dispatcher often ends its worker too: that was no end of the worker's own.
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

    def _done_well(self, ended: Ended) -> bool:
        self._witness.read_on()
        said = self._witness.testimony().transcript
        return ended.code == 0 and said.result_stands and is_success(said.status)

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
        at_exit, result = self._witness.sizes(), mark_of(self._result)
        tree = self._worker.end(TERM_GRACE_S, self._clock) if end_leftovers else self._worker.leave()
        # Where leftovers were asked to end, what they printed then is no evidence.
        upto = at_exit if tree.leftovers else self._witness.sizes()
        until_s = self._clock.monotonic() + OWN_READ_S
        testimony = self._witness.close(
            upto, lambda: self._signals.received is not None or self._clock.monotonic() >= until_s
        )
        self._tell(testimony)
        return Watched(_own_end(ended), testimony, tree, result)

    def _reap(self, why: ReapReason, after_s: float, signal: int | None) -> Watched:
        # What agy prints, or writes, after prun's first signal is no evidence.
        before, result = self._witness.sizes(), mark_of(self._result)
        tree = self._worker.end(TERM_GRACE_S, self._clock)
        until_s = self._clock.monotonic() + LAST_READ_S
        testimony = self._witness.close(before, lambda: self._clock.monotonic() >= until_s)
        self._tell(testimony)
        ending = Reaped(outdone(why, result_stands=testimony.transcript.result_stands), after_s)
        if ending.why is ReapReason.INTERRUPTED:
            ending = replace(ending, signal=signal)
        if tree.ended is not None:
            ending = replace(ending, code=tree.ended.code, died_of=tree.ended.signal)
        return Watched(ending, testimony, tree, result)
