"""Stops code before each of its state-changing calls in turn: to kill it there, or to let that call fail."""

from __future__ import annotations

import os
import signal
import stat
import sys
import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Hook: TypeAlias = Callable[[int, str, tuple[Any, ...]], None]

CALLS = (
    "chmod",
    "fsync",
    "ftruncate",
    "link",
    "mkdir",
    "open",
    "posix_fallocate",
    "rename",
    "replace",
    "rmdir",
    "unlink",
    "write",
)

flushes_directories = pytest.mark.skipif(
    not hasattr(os, "O_DIRECTORY"), reason="directories can't be flushed here"
)
can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be killed at a call")


@contextmanager
def hooked(hook: Hook) -> Iterator[None]:
    """Call *hook* with number, name and arguments before each state-changing call of the ``os`` module."""
    taken = 0

    def wrapped(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal taken
            taken += 1
            hook(taken, name, arguments)
            return original(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            if hasattr(os, name):
                patch.setattr(os, name, wrapped(name, getattr(os, name)))
        yield


def calls_of(act: Callable[[], object]) -> list[str]:
    """Run *act* and return the names of its state-changing calls in order; flushes tell what was flushed."""
    calls: list[str] = []

    def note(step: int, name: str, arguments: tuple[Any, ...]) -> None:
        del step
        if name == "fsync":
            name = "flush directory" if stat.S_ISDIR(os.fstat(arguments[0]).st_mode) else "flush file"
        if name != "open" or arguments[1] & os.O_CREAT:
            calls.append(name)

    with hooked(note):
        act()
    return calls


if sys.platform == "win32":

    def killed_at(step: int, act: Callable[[], object], *, torn: bool = False) -> bool:
        """Say that nobody can be killed at a call here."""
        raise NotImplementedError

else:

    def killed_at(step: int, act: Callable[[], object], *, torn: bool = False) -> bool:
        """Run *act* in a child that is killed before its *step*-th call and return whether it came so far.

        *torn* kills in the middle of that call if it is a write. A child that fails by itself fails the test.
        """
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # another test's thread
            child = os.fork()
        if child == 0:
            try:
                with hooked(partial(_kill, step, torn)):
                    act()
            except BaseException:  # noqa: BLE001 - the child must not run the rest of the test
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        ended = os.waitstatus_to_exitcode(status)
        assert ended in {0, -signal.SIGKILL}
        return ended != 0

    def _kill(step: int, torn: bool, at: int, name: str, arguments: tuple[Any, ...]) -> None:
        if at != step:
            return
        if torn and name == "write":
            descriptor, data = arguments
            os.pwrite(descriptor, bytes(data[: len(data) // 2]), os.lseek(descriptor, 0, os.SEEK_CUR))
        os.kill(os.getpid(), signal.SIGKILL)


def fails_at(step: int, act: Callable[[], object], number: int) -> str | None:
    """Run *act* with the error *number* for its *step*-th call; return that call's name if it came so far."""
    failed: str | None = None

    def fail(at: int, name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal failed
        del arguments
        if at == step:
            failed = name
            raise OSError(number, f"{name} fails")

    with hooked(fail):
        try:
            act()
        except OSError as error:
            if error.errno != number:
                raise
    return failed


def interrupted_at(
    step: int, act: Callable[[], object], deed: Callable[[], object]
) -> tuple[str | None, bool]:
    """Run *act* with *deed*, another program's, done before its *step*-th call.

    Return that call's name if it came so far, and whether *act* then found its name taken.
    """
    call: str | None = None

    def interrupt(at: int, name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal call
        del arguments
        if at == step and call is None:
            call = name
            deed()

    with hooked(interrupt):
        try:
            act()
        except FileExistsError:
            return call, True
    return call, False
