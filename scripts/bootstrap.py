"""Makes or mends the checkout's own virtual environment, then runs the demo or the tests in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

FLOOR = (3, 11)
TESTED = ("3.11", "3.12", "3.13", "3.14")
REQUIRED_IN_CI = TESTED[:3]
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = "prun-bootstrap.json"
TOX = "tox>=4.51,<5"
USAGE = """usage: bootstrap.py demo [--real]    run a few units at once and print what became of each
       bootstrap.py test [TOX ARG...]  run the tests on every Python found here"""
# What would send pip, or the Python it runs under, to another place than the environment.
MISLEADING = {"PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"}
EXIT_USAGE = 2
EXIT_FAILED = 70


class BootstrapError(Exception):
    """The environment could not be made; the text is one line that names the thing and the next step."""


def too_old(version: tuple[int, ...], executable: str) -> str | None:
    """Return what to say to a Python that prun does not run on, ``None`` for one that it does."""
    if version[:2] >= FLOOR:
        return None
    have = ".".join(map(str, version[:3]))
    want = ".".join(map(str, FLOOR))
    return f"prun needs Python {want} or newer, and {executable} is {have}; run this script with a newer one"


def say(line: str) -> None:
    """Write one line of progress to stderr."""
    print(f"bootstrap: {line}", file=sys.stderr, flush=True)


def child_env(env: dict[str, str]) -> dict[str, str]:
    """Return *env* without what would make an installation land outside the virtual environment."""
    return {name: value for name, value in env.items() if name not in MISLEADING}


def python_of(venv: Path) -> Path:
    """Return where the interpreter of *venv* is on this system."""
    return venv / "Scripts" / "python.exe" if sys.platform == "win32" else venv / "bin" / "python"


def read_stamp(venv: Path) -> dict[str, str]:
    """Return what an earlier run noted in *venv*; empty where there is no note that can be read."""
    try:
        found = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def usable(venv: Path) -> bool:
    """Return whether *venv* was made for its place, runs, is new enough and can install."""
    made_for = read_stamp(venv).get("venv")
    if venv.is_symlink() or (made_for is not None and made_for != str(venv)):
        return False
    probe = f"import pip, sys; print(sys.prefix); raise SystemExit(sys.version_info < {FLOOR})"
    try:
        done = subprocess.run(
            [str(python_of(venv)), "-I", "-c", probe],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=child_env(dict(os.environ)),
            timeout=60,
            check=True,
        )
        return venv.samefile(os.fsdecode(done.stdout).strip())
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


def remove(path: Path) -> None:
    """Remove whatever is at *path*, a link itself and not what it points at."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.exists() or path.is_symlink():
        path.unlink()


def run_quietly(command: list[str], problem: str) -> None:
    """Run *command*; what it printed is shown only where it fails, which raises *problem*."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=str(ROOT),
        env=child_env(dict(os.environ)),
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout.decode("utf-8", "replace"))
        raise BootstrapError(problem)


def ensure_venv(venv: Path) -> Path:
    """Return the interpreter of a virtual environment at *venv*, made anew unless the one there is usable."""
    if not usable(venv):
        say(f"making {venv}")
        try:
            remove(venv)
        except OSError as error:
            raise BootstrapError(f"can't remove the unusable {venv}: {error.strerror}; remove it") from error
        # Not sys.executable: that may be the one that was just removed.
        python = getattr(sys, "_base_executable", None) or sys.executable
        run_quietly(
            [python, "-I", "-m", "venv", str(venv)],
            f"can't make {venv}; where Debian or Ubuntu keeps venv apart, run `apt-get install python3-venv`",
        )
    return python_of(venv)


def ensure_installed(venv: Path, name: str, arguments: list[str], depends_on: str) -> None:
    """Install by pip's *arguments*, unless an earlier run noted that it did so for the same *depends_on*."""
    notes = read_stamp(venv)
    if notes.get(name) == depends_on:
        return
    say(f"installing {name}")
    pip = [str(python_of(venv)), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    run_quietly([*pip, *arguments], f"can't install {name}; what pip said of it stands above")
    notes.update({"venv": str(venv), name: depends_on})
    (venv / STAMP).write_text(json.dumps(notes, sort_keys=True) + "\n", encoding="utf-8")


def search_path(env: dict[str, str]) -> str:
    """Return PATH with the interpreters that pyenv keeps out of it."""
    pyenv = Path(env.get("PYENV_ROOT") or Path(env.get("HOME", ""), ".pyenv"))
    kept = [str(path) for want in TESTED for path in sorted(pyenv.glob(f"versions/{want}*/bin"))]
    return os.pathsep.join([env.get("PATH", os.defpath), *kept])


def tox_arguments(asked: list[str], env: dict[str, str], path: str) -> list[str]:
    """Return what to give tox: what the caller *asked* for, and in CI everything, none of it skipped."""
    if asked or env.get("CI", "").lower() not in {"1", "true", "yes"}:
        return ["run", *asked]
    here = [want for want in TESTED if want in REQUIRED_IN_CI or shutil.which(f"python{want}", path=path)]
    pythons = ["py" + want.replace(".", "") for want in here]
    return ["run", "--skip-missing-interpreters", "false", "-e", ",".join(["lint", "type", *pythons])]


def demo(arguments: list[str]) -> int:
    """Return the exit status of the demo, run by the environment's Python with prun installed."""
    python = ensure_venv(VENV)
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    ensure_installed(VENV, "prun", ["--editable", str(ROOT)], project)
    script = str(ROOT / "scripts" / "demo.py")
    return subprocess.call([str(python), "-P", script, *arguments], env=child_env(dict(os.environ)))


def test(arguments: list[str]) -> int:
    """Return the exit status of tox over the Pythons found here."""
    python = ensure_venv(VENV)
    ensure_installed(VENV, "tox", [TOX], TOX)
    env = child_env(dict(os.environ))
    env["PATH"] = search_path(env)
    command = [str(python), "-P", "-m", "tox", *tox_arguments(arguments, env, env["PATH"])]
    return subprocess.call(command, cwd=str(ROOT), env=env)


def main(argv: list[str]) -> int:
    """Return the exit status of the verb that *argv* names."""
    problem = too_old(tuple(sys.version_info[:3]), sys.executable)
    if problem is not None:
        say(problem)
        return EXIT_USAGE
    verbs = {"demo": demo, "test": test}
    if argv and argv[0] in verbs:
        try:
            return verbs[argv[0]](argv[1:])
        except BootstrapError as error:
            say(str(error))
            return EXIT_FAILED
        except KeyboardInterrupt:
            return 130
    asked_for_help = argv[:1] in (["-h"], ["--help"])
    print(USAGE, file=sys.stdout if asked_for_help else sys.stderr)
    return 0 if asked_for_help else EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
