"""What agy said of itself, kept for ten minutes so that dispatchers that start together ask it once."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from prun.core.codec import Field, dump, load, read_fields, text, whole
from prun.core.timestamps import parse_rfc3339, rfc3339
from prun.core.values import asdict, dataclass
from prun.system.agy import home_of
from prun.system.files import replace
from prun.system.probes import Facts, ProbeFailed
from prun.system.reading import Contents, read_bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from prun.system.clock import Clock

KEPT = timedelta(minutes=10)
_SCHEMA = 1
_RECORD_LIMIT_BYTES = 1024 * 1024
_RECORD = {
    "schema": Field(whole),
    "asked_at": Field(text),
    "path": Field(text),
    "size_bytes": Field(whole),
    "mtime_ns": Field(whole),
    "home": Field(text),
    "version": Field(text),
    "models": Field(text),
    "printed": Field(text),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What facts are true of: one state of one program file, asked in one home directory."""

    path: str
    size_bytes: int
    mtime_ns: int
    home: str


def subject_of(agy: str, env: Mapping[str, str]) -> Subject:
    """Return what the facts of the program *agy* depend on; raises ``OSError`` where it is gone."""
    found = Path(agy).stat()
    return Subject(agy, found.st_size, found.st_mtime_ns, home_of(env))


def facts_of(
    subject: Subject,
    ask: Callable[[], Facts | ProbeFailed],
    cache_dir: Path,
    *,
    good: Callable[[Facts], bool],
    force: bool,
    wait_s: float,
    clock: Clock,
) -> Facts | ProbeFailed:
    """Return the kept facts about *subject* or else what *ask* answers; *good* facts are kept, no others.

    Whoever asks holds a lock, and the others wait for the answer, *wait_s* at most. *force* takes no
    answer that was asked for before this call. What can't be kept or locked is asked for all the same.
    """
    from prun.system.locks import LockTimeoutError, NoLockError, locked

    began = clock.utc()
    path = cache_dir / f"facts-{_key(subject)}.json"
    kept = None if force else _kept(path, subject, began, began - KEPT)
    if kept is not None:
        return Facts(kept.version, kept.models, kept.printed, kept=True)
    try:
        with locked(path.with_suffix(".lock"), wait_s, clock):
            now = clock.utc()
            kept = _kept(path, subject, now, began if force else now - KEPT)
            # Kept while this call waited: as new as an answer of its own.
            return kept if kept is not None else _asked(path, subject, ask, good, clock)
    except LockTimeoutError:
        return ProbeFailed(f"another prun has been asking agy for {wait_s:g} s without an answer", True, "")  # noqa: FBT003
    except NoLockError:
        return _asked(path, subject, ask, good, clock)


def _asked(
    path: Path,
    subject: Subject,
    ask: Callable[[], Facts | ProbeFailed],
    good: Callable[[Facts], bool],
    clock: Clock,
) -> Facts | ProbeFailed:
    asked_at = rfc3339(clock.utc())
    answer = ask()
    if isinstance(answer, Facts) and good(answer):
        said = {"version": answer.version, "models": answer.models, "printed": answer.printed}
        record = {"schema": _SCHEMA, "asked_at": asked_at, **asdict(subject), **said}
        with suppress(OSError):
            replace(path, dump(record), clock, durable=False)
    return answer


def _key(subject: Subject) -> str:
    return hashlib.sha256(dump(asdict(subject))).hexdigest()[:32]


def _kept(path: Path, subject: Subject, now: datetime, oldest: datetime) -> Facts | None:
    """Return the facts in the file *path* where they are of *subject*, asked for from *oldest* to *now*."""
    found = read_bounded(path, _RECORD_LIMIT_BYTES)
    record = load(found.data) if isinstance(found, Contents) else None
    values = None if record is None else read_fields(record, _RECORD)
    if values is None or values["schema"] != _SCHEMA:
        return None
    if any(values[name] != value for name, value in asdict(subject).items()):
        return None
    asked_at = parse_rfc3339(values["asked_at"])
    # A moment is written down in whole milliseconds, cut off.
    if asked_at is None or not oldest - timedelta(milliseconds=1) < asked_at <= now:
        return None
    return Facts(values["version"], values["models"], values["printed"])
