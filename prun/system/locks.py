"""A lock between processes that ends with its holder, however that ends."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from prun.core.errors import PrunError
from prun.core.plain import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prun.system.clock import Clock


_PAUSE_S = 0.05


class LockTimeoutError(PrunError):
    """Somebody else held the lock for all of the time that could be waited."""


class NoLockError(PrunError):
    """The file system can't lock, or refuses to."""


@contextmanager
def locked(path: Path, wait_s: float, clock: Clock) -> Iterator[None]:
    """Hold the lock on the file *path*; ``LockTimeoutError`` after *wait_s*, or else ``NoLockError``.

    A lock file that only stands for a lock is never fallen back to: it would outlive a killed holder.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0, mode=0o600, thread_local=False, fallback_to_soft=False)
    shown = visible(str(path))
    deadline_s = clock.monotonic() + wait_s
    while True:
        try:
            lock.acquire()
        except Timeout as error:
            if clock.monotonic() >= deadline_s:
                raise LockTimeoutError(
                    f"another prun held {shown} for {wait_s:g} s; try again later"
                ) from error
        except (OSError, NotImplementedError) as error:
            raise NoLockError(
                f"cannot lock {shown}: {error}; keep prun's directories on a local disk"
            ) from error
        else:
            break
        clock.sleep(_PAUSE_S)  # the caller's clock, so that the wait can be cut short
    try:
        yield
    finally:
        lock.release()
