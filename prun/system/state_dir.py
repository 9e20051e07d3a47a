"""The state directory of one unit: the only place that spells the name of a file in it."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import TYPE_CHECKING

from prun.core.plain import utf8
from prun.core.values import dataclass
from prun.system.files import replace

if TYPE_CHECKING:
    from pathlib import Path

    from prun.system.clock import Clock

PREFIX = "prun-task-"
_OWN_ONLY = 0o700


def name_state_dir(state_root: Path, cwd: str, unit: str, pid: int, token: str) -> StateDir:
    """Return the state directory of *unit*, not made yet, for the caller in *cwd*; *token*: 16 random hex."""
    caller = hashlib.sha256(os.fsencode(cwd)).hexdigest()[:8]
    return StateDir(state_root / f"{PREFIX}{caller}-{unit}-{pid}-{token}")


def text_line(value: str) -> bytes:
    """Return *value* as a file holds it: UTF-8 and a newline; undecodable bytes of a path stay themselves."""
    try:
        return value.encode("utf-8", "surrogateescape") + b"\n"
    except UnicodeEncodeError:
        return utf8(value) + b"\n"


def make_private_dir(path: Path) -> None:
    """Make the directory *path*, new, for its owner only, whatever the umask is."""
    path.mkdir(mode=_OWN_ONLY)
    if sys.platform != "win32":
        path.chmod(_OWN_ONLY)


@dataclass(frozen=True, slots=True)
class StateDir:
    """Where everything known of one unit is; *root* is the directory itself, absolute."""

    root: Path

    @property
    def timestamp(self) -> Path:
        """When the dispatch began, epoch seconds."""
        return self.root / "timestamp"

    @property
    def pre_mtime(self) -> Path:
        """Always ``0``: the result path was fresh."""
        return self.root / "pre-mtime"

    @property
    def result_file(self) -> Path:
        """The absolute result path."""
        return self.root / "result-file"

    @property
    def dispatch_pid(self) -> Path:
        """The dispatcher's pid."""
        return self.root / "dispatch-pid"

    @property
    def python_interpreter(self) -> Path:
        """The dispatcher's interpreter."""
        return self.root / "python-interpreter"

    @property
    def request(self) -> Path:
        """Everything resolved that a later judge needs."""
        return self.root / "request.json"

    def owner(self, number: int) -> Path:
        """Return the record of the *number*-th owner, from 1; the highest that exists is the owner."""
        return self.root / f"owner.{number}.json"

    @property
    def prompt_relay(self) -> Path:
        """The exact text that the worker gets."""
        return self.root / "prompt-relay"

    @property
    def model(self) -> Path:
        """The model that runs, not the one asked for."""
        return self.root / "model"

    @property
    def quota_note(self) -> Path:
        """One line for each step of routing."""
        return self.root / "quota-note"

    @property
    def preflight_tail(self) -> Path:
        """What the probes printed."""
        return self.root / "preflight-tail"

    @property
    def env_withheld(self) -> Path:
        """The names of the variables withheld from the worker."""
        return self.root / "env-withheld"

    @property
    def worker_pid(self) -> Path:
        """The worker's pid, as yet without proof of who that is."""
        return self.root / "worker-pid-unverified"

    @property
    def worker(self) -> Path:
        """The worker's identity and how its tree is held."""
        return self.root / "worker.json"

    @property
    def tail(self) -> Path:
        """The worker's stdout, byte for byte."""
        return self.root / "tail"

    @property
    def stderr(self) -> Path:
        """The worker's stderr."""
        return self.root / "tail.stderr-tmp"

    @property
    def log(self) -> Path:
        """The log that agy writes itself."""
        return self.root / "agy.log"

    @property
    def conversation_id(self) -> Path:
        """The conversation's id, from the ``init`` event."""
        return self.root / "conversation-id"

    @property
    def work(self) -> Path:
        """The scratch directory that the worker runs in, where none was named."""
        return self.root / "work"

    @property
    def prompt_event(self) -> Path:
        """The worker's stdin."""
        return self.root / "prompt-event.jsonl"

    @property
    def prompt_dir(self) -> Path:
        """The directory of its own of a prompt too large for an event."""
        return self.root / "prompt"

    @property
    def prompt_document(self) -> Path:
        """A prompt too large for an event."""
        return self.prompt_dir / "prompt.md"

    @property
    def cancel(self) -> Path:
        """A request to end this unit."""
        return self.root / "cancel"

    @property
    def response(self) -> Path:
        """A final response that could not be published."""
        return self.root / "response"

    @property
    def outcome_slot(self) -> Path:
        """Room kept for the outcome."""
        return self.root / "outcome.slot"

    def foreign_outcome(self, number: int) -> Path:
        """Return where the *number*-th foreign outcome goes, from 1."""
        return self.root / f"outcome.foreign.{number}"

    @property
    def publication(self) -> Path:
        """What prun itself published at the result path."""
        return self.root / "publish.json"

    @property
    def outcome(self) -> Path:
        """The verdict: written last, once, on every path."""
        return self.root / "outcome.json"

    def write_text(self, path: Path, value: str, clock: Clock) -> None:
        """Put *value* and a newline at *path*, one of this directory's, whole.

        Not flushed to the disk: after a power loss these say nothing that the records do not say as well.
        """
        replace(path, text_line(value), clock, durable=False)

    def make_work_dir(self) -> Path:
        """Return the scratch directory, which only the caller's user can enter, made now."""
        make_private_dir(self.work)
        return self.work
