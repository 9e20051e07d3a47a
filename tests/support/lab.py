"""A small world for real dispatches: an account of the fake's, an agy to start, directories of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEADLINE_S = 60
CLOCK_SLACK_S = 60
KEPT = (
    "PATH",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "WINDIR",
    "WINEPREFIX",
    "PYTHONPATH",
    "COVERAGE_PROCESS_START",
    "COVERAGE_PROCESS_CONFIG",
    "COVERAGE_FILE",
)


@dataclass(frozen=True, slots=True)
class Run:
    """A dispatch that has ended, and what it left."""

    code: int
    stdout: bytes
    stderr: str
    result: Path

    @property
    def state(self) -> Path:
        """The state directory that stdout names."""
        first = self.stdout.decode("utf-8").splitlines()[0]
        assert first.startswith("STATE-DIR "), first
        return Path(first.removeprefix("STATE-DIR "))

    @property
    def outcome(self) -> dict[str, Any]:
        """The outcome on disk."""
        outcome: dict[str, Any] = json.loads((self.state / "outcome.json").read_text(encoding="utf-8"))
        return outcome

    @property
    def request(self) -> dict[str, Any]:
        """The request on disk."""
        request: dict[str, Any] = json.loads((self.state / "request.json").read_text(encoding="utf-8"))
        return request

    def text(self, name: str) -> str:
        """One file of the state directory."""
        return (self.state / name).read_bytes().decode("utf-8")

    @property
    def document(self) -> str:
        """What stands at the result path."""
        return self.result.read_bytes().decode("utf-8")


@dataclass
class Lab:
    """Directories, an account and an agy below *root*; everything runs with these and nothing else."""

    root: Path
    agy: Path | None = None
    extra: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    heard: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began = time.time()
        for name in ("home", "tmp", "caller"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        self.account = self.root / "account"

    @property
    def caller(self) -> Path:
        """The directory that dispatches are called from."""
        return self.root / "caller"

    def fake(
        self, scenario: str = "ok", profile: str = "1.3.5", script: str | None = None, account: str = ""
    ) -> Lab:
        """Set up an account that plays *scenario* (or *script*, TOML) and an agy that uses it."""
        from fake_agy.install import install
        from fake_agy.setup import init

        made = init(self.account, profile, scenario)
        if script is not None:
            made.script.write_text(script, encoding="utf-8")
        if account:
            with made.account.open("a", encoding="utf-8") as file:
                file.write("\n" + account)
        made.enforce.touch()
        self.agy = install(self.root / "bin", self.account)
        return self

    def plays(
        self,
        *steps: dict[str, Any],
        before: Sequence[dict[str, Any]] = (),
        profile: str = "1.3.5",
        account: str = "",
        preflight: str = "off",
    ) -> Lab:
        """Set up an account that plays *steps* and an agy that uses it; *preflight* is off as a rule."""
        return self.plays_by_prompt(
            {"": steps}, before=before, profile=profile, account=account, preflight=preflight
        )

    def plays_by_prompt(
        self,
        turns: Mapping[str, Sequence[dict[str, Any]]],
        *,
        before: Sequence[dict[str, Any]] = (),
        profile: str = "1.3.5",
        account: str = "",
        preflight: str = "off",
    ) -> Lab:
        """Do as ``plays`` does, with the steps of the first key that the prompt contains."""
        self.fake(profile=profile, account=account)
        (self.account / "script.toml").unlink()
        script = {
            "rule": [
                {"scenario": f"scene-{number}", "contains": words}
                for number, words in enumerate(turns, start=1)
            ],
            "scenario": {
                f"scene-{number}": {"steps": list(steps), "before": list(before)}
                for number, steps in enumerate(turns.values(), start=1)
            },
        }
        (self.account / "script.json").write_text(json.dumps(script), encoding="utf-8")
        self.extra["ANTIGRAVITY_PREFLIGHT"] = preflight
        return self

    def state_dir(self, unit: str = "u1") -> Path:
        """Return the state directory of the dispatch of *unit* as soon as it is there."""
        from tests.support.processes import until

        found: list[Path] = []

        def look() -> list[Path]:
            found[:] = (self.root / "state").glob(f"prun-task-????????-{unit}-*")
            return found

        until(look)
        assert len(found) == 1, found
        return found[0]

    def tail(self, unit: str = "u1") -> str:
        """Return what the worker of *unit* has printed so far."""
        path = self.state_dir(unit) / "tail"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def witnessed(self, what: str) -> list[dict[str, Any]]:
        """Return the records of one kind that the fake has made, in order."""
        return [record for record in self.calls() if record["at"] == what]

    def program(self, body: str, name: str = "agy") -> Lab:
        """Put a Python program in place of agy; it sees ``sys`` and ``os`` imported."""
        from fake_agy.install import posix_program, windows_program

        windows = sys.platform == "win32"
        path = self.root / "bin" / (f"{name}.exe" if windows else name)
        path.parent.mkdir(exist_ok=True)
        make = windows_program if windows else posix_program
        path.write_bytes(make(sys.executable, f"import os, sys\n{body}"))
        path.chmod(0o755)
        self.agy = path
        return self

    def env(self, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """Return the whole environment of a dispatch; ``None`` in *more* takes a variable away."""
        env = {name: os.environ[name] for name in KEPT if name in os.environ}
        env |= {
            "HOME": str(self.root / "home"),
            "USERPROFILE": str(self.root / "home"),
            "LOCALAPPDATA": str(self.root / "home" / "local"),
            "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(self.root / "home" / "local"),
            "XDG_STATE_HOME": str(self.root / "home" / "xdg-state"),
            "XDG_CACHE_HOME": str(self.root / "home" / "xdg-cache"),
            "TMPDIR": str(self.root / "tmp"),
            "TEMP": str(self.root / "tmp"),
            "TMP": str(self.root / "tmp"),
            "PRUN_STATE_ROOT": str(self.root / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.extra,
        }
        if self.agy is not None:
            env["ANTIGRAVITY_BIN"] = str(self.agy)
        for name, value in (more or {}).items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def argv(self, unit: str, prompt: str | bytes, options: Sequence[str]) -> list[str]:
        """Return the command line of a dispatch; the prompt is written into a file first."""
        file = self.caller / f"{unit}.md"
        file.write_bytes(prompt if isinstance(prompt, bytes) else prompt.encode("utf-8"))
        return [
            *(sys.executable, "-P", "-m", "prun.dispatch"),
            *("--prompt-file", str(file), "--result-file", str(self.result_of(unit)), "--unit-id", unit),
            *options,
        ]

    def result_of(self, unit: str) -> Path:
        """Where the result of *unit* goes."""
        return self.root / "results" / f"{unit}.md"

    def start(
        self,
        unit: str = "u1",
        *options: str,
        prompt: str | bytes = "Do the work.",
        env: Mapping[str, str | None] | None = None,
        **popen: Any,
    ) -> subprocess.Popen[bytes]:
        """Start a dispatch and return its process; it is ended with the test."""
        return self.command(self.argv(unit, prompt, options), env=env, **popen)

    def command(
        self, words: Sequence[str], *, env: Mapping[str, str | None] | None = None, **popen: Any
    ) -> subprocess.Popen[bytes]:
        """Start any command from the caller's directory and return its process; it is ended with the test."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(words, **{"cwd": self.caller, "env": self.env(env), **streams, **popen})
        self.started.append(process)
        return process

    def dispatch_with(self, patch: str, unit: str = "u1") -> Run:
        """Run a dispatch to its end after *patch*, Python code that may change what it likes in prun."""
        code = f"import os, sys\n{patch}\nfrom prun.dispatch import main\nsys.exit(main())"
        words = [sys.executable, "-P", "-c", code, *self.argv(unit, "Do the work.", [])[4:]]
        return self.finish(self.command(words), unit)

    def finish(self, process: subprocess.Popen[bytes], unit: str = "u1") -> Run:
        """Wait for a dispatch and return what it left."""
        stdout, stderr = process.communicate(timeout=DEADLINE_S)
        stdout = self.heard.pop(process.pid, b"") + (stdout or b"")
        told = (stderr or b"").decode("utf-8", "replace")
        return Run(process.returncode, stdout, told, self.result_of(unit))

    def dispatch(
        self,
        unit: str = "u1",
        *options: str,
        prompt: str | bytes = "Do the work.",
        env: Mapping[str, str | None] | None = None,
        **popen: Any,
    ) -> Run:
        """Run a dispatch to its end."""
        return self.finish(self.start(unit, *options, prompt=prompt, env=env, **popen), unit)

    def state_of(self, process: subprocess.Popen[bytes]) -> Path:
        """Return the state directory that a dispatch names on stdout, waiting for it."""
        assert process.stdout is not None
        line = process.stdout.readline()
        self.heard[process.pid] = self.heard.get(process.pid, b"") + line
        assert line.startswith(b"STATE-DIR "), (line, process.poll())
        return Path(line.decode("utf-8").removeprefix("STATE-DIR ").rstrip("\r\n"))

    def states(self) -> list[Path]:
        """Return what is where state directories are made, in the order of their names."""
        root = self.root / "state"
        return sorted(root.iterdir()) if root.is_dir() else []

    def workers(self) -> list[dict[str, Any]]:
        """Return the starts of the fake's calls that were workers."""
        return [call for call in self.calls() if call["at"] == "start" and "--input-format" in call["argv"]]

    def probes(self) -> list[str]:
        """Return the questions that the fake was asked by probes, in order."""
        starts = [call["argv"] for call in self.calls() if call["at"] == "start"]
        return [argv[0] for argv in starts if argv in (["--version"], ["models"])]

    def calls(self) -> list[dict[str, Any]]:
        """Return what the fake was given, call by call, starts and ends."""
        path = self.account / "calls.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def strays(self) -> list[str]:
        """Return the processes that still run and belong to this lab."""
        import psutil

        mine = str(self.root)
        found = []
        for process in psutil.process_iter():
            try:
                if process.create_time() < self.began - CLOCK_SLACK_S:  # quicker than to look at all of it
                    continue
                if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                words = [*process.cmdline(), *process.environ().values()]
            except (psutil.Error, OSError):
                continue
            if any(mine in word for word in words):
                found.append(f"{process.pid}: {process.cmdline()}")
        return found

    def close(self) -> None:
        """End the dispatches that a test left, and fail where anything else still runs."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        strays = self.strays()
        for stray in strays:
            import psutil

            with suppress(psutil.NoSuchProcess):
                psutil.Process(int(stray.split(":")[0])).kill()
        assert not strays, strays
