"""A forked child that waits to be told before it becomes the worker's program.

Forked by hand: ``subprocess`` can't hold a child between fork and exec, and a shell in between would
drop environment names that are no shell names.
"""

from __future__ import annotations

# ruff: noqa: E402, S101 - the platform is asserted first, for type checkers to follow
import sys

assert sys.platform != "win32"

import errno
import fcntl
import gc
import os
import signal
import warnings
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NoReturn

from prun.core.errors import LaunchError
from prun.core.identity import HoldKind
from prun.core.values import dataclass
from prun.system.process._contract import UNIT_VARIABLE, cannot_run
from prun.system.process._household import HOUSEHOLD

if TYPE_CHECKING:
    from prun.system.process._contract import Launch

_READY, _GO = b"r", b"g"
_SET_UP, _ENTER, _EXEC = b"s", b"d", b"x"
_OPEN_FILES = "/dev/fd" if sys.platform == "darwin" else "/proc/self/fd"
_NEVER_RAN = 127
_LOWEST_FD = 3
_REPORT_BYTES = 64
_MOST_FILES = 1 << 20  # Linux lets nobody have more, unless that was changed
_PYTHON_IGNORES = tuple(getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name))
_HINTS = {
    errno.EACCES: "is it executable?",
    errno.ENOEXEC: "it is neither a program of this system nor a script with a #! line",
    errno.E2BIG: "its arguments and environment are too long",
}


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything the child needs, made before the fork: it may do little more than make system calls."""

    argv: list[bytes]
    env: dict[bytes, bytes]
    cwd: bytes
    own_session: bool
    streams: tuple[int, int, int]
    go: int
    report: int
    to_default: tuple[int, ...]


@dataclass(slots=True)
class Forked:
    """A child of this process that waits to be told to run *program* in *cwd*."""

    pid: int
    program: str
    cwd: str
    _go: int
    _report: int

    def release(self) -> None:
        """Let the child run its program; raise ``LaunchError``, the child reaped, where that can't be."""
        try:
            told = os.write(self._go, _GO) == len(_GO)
        except BrokenPipeError:
            told = False
        os.close(self._go)
        report = _read_all(self._report)
        os.close(self._report)
        if told and not report:
            return
        HOUSEHOLD.reap(self.pid)
        raise _complaint(self.program, self.cwd, report)

    def abandon(self) -> None:
        """End and reap the child; its program never runs."""
        os.close(self._go)
        os.close(self._report)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        HOUSEHOLD.reap(self.pid)


def fork(launch: Launch) -> Forked:
    """Return a child in a session or group of its own, its streams in place; raise ``LaunchError``."""
    _see_children()
    argv, env, cwd = _encoded(launch)
    with ExitStack() as ours, ExitStack() as the_childs:
        streams = _streams(launch, the_childs)
        go, tell = _pipe(the_childs, ours)
        hear, report = _pipe(ours, the_childs)
        plan = _Plan(
            argv=argv,
            env=env,
            cwd=cwd,
            own_session=launch.session is HoldKind.SESSION,
            streams=streams,
            go=go,
            report=report,
            to_default=tuple(number for number in signal.valid_signals() if _is_pythons(number)),
        )
        pid = HOUSEHOLD.start(lambda: _fork(plan), launch.token, own_session=plan.own_session)
        the_childs.close()
        said = os.read(hear, _REPORT_BYTES)
        if said != _READY:
            HOUSEHOLD.reap(pid)
            raise _complaint(launch.argv[0], launch.cwd, said)
        ours.pop_all()
    return Forked(pid, launch.argv[0], launch.cwd, tell, hear)


def _see_children() -> None:
    """Undo an inherited "ignore" of SIGCHLD: with it the kernel reaps children and drops how they ended."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        except ValueError:
            raise LaunchError("cannot start a program: SIGCHLD is ignored in this process") from None


def _is_pythons(number: int) -> bool:
    return number in _PYTHON_IGNORES or callable(signal.getsignal(number))


def _encoded(launch: Launch) -> tuple[list[bytes], dict[bytes, bytes], bytes]:
    """Return argv, environment and directory as the system takes them; refuse what it could not."""
    program = launch.argv[0]
    if not os.path.isabs(program):
        raise cannot_run(program, "the program's path must be absolute")
    env = launch.env | {UNIT_VARIABLE: launch.token}
    wrong = [name for name in env if not name or "=" in name]
    if wrong:
        raise cannot_run(program, f"{wrong[0]!r} can't be the name of an environment variable")
    texts = [*launch.argv, *env, *env.values(), launch.cwd]
    if any("\0" in text for text in texts):
        raise cannot_run(program, "a NUL in its arguments, environment or directory")
    try:
        return (
            [os.fsencode(text) for text in launch.argv],
            {os.fsencode(name): os.fsencode(value) for name, value in env.items()},
            os.fsencode(launch.cwd),
        )
    except UnicodeEncodeError as error:
        raise cannot_run(program, f"{error.object!r} can't be passed to a program") from None


def _streams(launch: Launch, stack: ExitStack) -> tuple[int, int, int]:
    append = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    ways = ((launch.stdin, os.O_RDONLY), (launch.stdout, append), (launch.stderr, append))
    fds = []
    for path, flags in ways:
        try:
            fd = os.open(path, flags | os.O_NOCTTY, 0o600)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise cannot_run(launch.argv[0], f"{path} can't be opened: {reason}") from None
        fds.append(_kept(fd, stack))
    return fds[0], fds[1], fds[2]


def _kept(fd: int, stack: ExitStack) -> int:
    """Return *fd*, closed with *stack*, moved above the standard streams, which may be closed here."""
    if fd < _LOWEST_FD:
        low, fd = fd, fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _LOWEST_FD)
        os.close(low)
    stack.callback(os.close, fd)
    return fd


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    read, write = os.pipe()
    return _kept(read, reader), _kept(write, writer)


def _fork(plan: _Plan) -> int:
    """Return the pid of a child that runs *plan*; only one thread at a time may be here.

    Every signal is blocked across the fork, so that no handler of this process runs in the child. Python's
    warning about threads does not apply: the child takes no lock, and runs another program or ends.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = os.fork()
            if pid == 0:
                _become(plan)
        except OSError as error:
            raise LaunchError(f"cannot start a process: {error.strerror}") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return pid


def _become(plan: _Plan) -> NoReturn:
    """In the child: get ready, wait for the word, run the program; end without it."""
    stage = _SET_UP
    try:
        gc.disable()
        _set_up(plan)
        stage = _ENTER
        os.chdir(plan.cwd)
        os.write(plan.report, _READY)
        if os.read(plan.go, 1) == _GO:
            stage = _EXEC
            os.execve(plan.argv[0], plan.argv, plan.env)
    except OSError as error:
        os.write(plan.report, b"%s%d" % (stage, error.errno or 0))
    finally:
        os._exit(_NEVER_RAN)


def _set_up(plan: _Plan) -> None:
    if plan.own_session:
        os.setsid()
    else:
        os.setpgid(0, 0)
    for target, source in enumerate(plan.streams):
        os.dup2(source, target)
    _close_all_but((plan.go, plan.report))
    for number in plan.to_default:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _close_all_but(kept: tuple[int, int]) -> None:
    """Close every other descriptor; a copy of another held child's pipe would keep that one waiting."""
    try:
        fds = [int(name) for name in os.listdir(_OPEN_FILES)]
    except OSError:
        low, high = sorted(kept)
        for start, end in ((_LOWEST_FD, low), (low + 1, high), (high + 1, _MOST_FILES)):
            os.closerange(start, end)
        return
    for fd in fds:
        if fd >= _LOWEST_FD and fd not in kept:
            with suppress(OSError):
                os.close(fd)


def _read_all(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, _REPORT_BYTES):
        parts.append(part)
    return b"".join(parts)


def _complaint(program: str, cwd: str, report: bytes) -> LaunchError:
    """Return why *program* did not run, from what the child reported last."""
    report = report.removeprefix(_READY)
    number = int(report[1:]) if report[1:].isdigit() else 0
    if not number:
        return cannot_run(program, "its process was ended before it could start")
    reason = os.strerror(number)
    if report.startswith(_ENTER):
        return cannot_run(program, f"its directory {cwd} can't be entered: {reason}")
    if report.startswith(_SET_UP):
        return cannot_run(program, f"its process can't be made ready: {reason}")
    hint = _HINTS.get(number)
    if number == errno.ENOENT and os.path.exists(program):
        hint = "the interpreter its first line names is missing"
    return cannot_run(program, f"{reason} ({hint})" if hint else reason)
