"""The fake as a real program for tests: a home, an installed ``agy``, and what one call of it gave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from fake_agy.install import install
from fake_agy.setup import init

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fake_agy.home import Home

DEADLINE_S = 60
STREAM = ("--input-format", "stream-json", "--output-format", "stream-json")
_KEPT = ("PATH", "SYSTEMROOT", "COMSPEC", "WINDIR", "WINEPREFIX", "COVERAGE_PROCESS_CONFIG", "COVERAGE_FILE")


class Answer(NamedTuple):
    """What one call gave."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of stdout that are events, in order."""
        lines = self.stdout.decode("utf-8", "replace").split("\n")
        return [json.loads(line) for line in lines if line.startswith('{"event"')]

    @property
    def results(self) -> list[dict[str, Any]]:
        """The payloads of the result events."""
        return [event["result"] for event in self.events if event["event"] == "result"]

    @property
    def result(self) -> dict[str, Any]:
        """The payload of the last result event."""
        return self.results[-1]

    @property
    def init(self) -> dict[str, Any]:
        """The first event."""
        first = self.events[0]
        assert first["event"] == "init"
        return first

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The payloads of the step updates."""
        return [event["step_update"] for event in self.events if event["event"] == "step_update"]


class Fake:
    """An account below *root* and the ``agy`` that uses it."""

    def __init__(
        self,
        root: Path,
        profile: str = "1.3.5",
        scenario: str = "ok",
        *,
        account: str = "",
        script: str | None = None,
    ) -> None:
        self.root = root
        self.home: Home = init(root / "account", profile, scenario)
        if account:
            text = self.home.account.read_text(encoding="utf-8")
            self.home.account.write_text(text + "\n" + account, encoding="utf-8")
        if script is not None:
            self.home.script.write_text(script, encoding="utf-8")
        self.agy = install(root / "bin", self.home.root)
        self.env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        (root / "cwd").mkdir(exist_ok=True)

    def start(
        self, *argv: str, env: Mapping[str, str] | None = None, **popen: Any
    ) -> subprocess.Popen[bytes]:
        """Start a call; the caller waits for it."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        return subprocess.Popen(
            [str(self.agy), *argv], cwd=self.root / "cwd", env={**self.env, **(env or {})}, **options
        )

    def run(self, *argv: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> Answer:
        """Return what a call gave, with *stdin* through a pipe or else the null device."""
        pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        process = self.start(*argv, env=env, stdin=pipe)
        stdout, stderr = process.communicate(stdin, timeout=DEADLINE_S)
        return Answer(process.returncode, stdout, stderr.decode("utf-8", "replace").replace("\r\n", "\n"))

    def ask(self, *prompts: str, options: tuple[str, ...] = ()) -> Answer:
        """Return what a stream of *prompts* gave, with stdin a file as a dispatcher has it."""
        place = self.root / f"in-{os.urandom(4).hex()}"
        place.write_bytes(b"".join(user_line(prompt) for prompt in prompts))
        with place.open("rb") as stdin:
            process = self.start(*STREAM, *options, stdin=stdin)
            stdout, stderr = process.communicate(timeout=DEADLINE_S)
        return Answer(process.returncode, stdout, stderr.decode("utf-8", "replace"))

    def calls(self, what: str | None = None) -> list[dict[str, Any]]:
        """Return the witness's records, all or those of one kind."""
        lines = self.home.calls.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        return [record for record in records if what in {None, record["at"]}]


def group_of(pid: int) -> int | None:
    """Return the process group of *pid*, ``None`` where there are no such groups."""
    if sys.platform != "win32":
        return os.getpgid(pid)
    else:  # noqa: RET505 - mypy takes it for unreachable otherwise
        return None


def user_line(prompt: str) -> bytes:
    """Return the stdin line of one user message."""
    event = {"event": "user", "message": {"content": prompt}}
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
