"""What this machine can do, found out by trying; tests ask for these and never for a system's name."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _works(deed: Callable[[Path], object]) -> bool:
    with tempfile.TemporaryDirectory() as name:
        try:
            deed(Path(name))
        except (OSError, NotImplementedError, ValueError):
            return False
    return True


def _link(place: Path) -> None:
    (place / "link").symlink_to(place / "file")
    dangles = os.path.lexists(place / "link") and not (place / "link").exists()
    (place / "file").write_bytes(b"x")
    if not dangles or (place / "link").read_bytes() != b"x":
        raise OSError


def make_fifo(path: Path) -> None:
    """Make a FIFO at *path*."""
    make: Callable[[Path], None] | None = getattr(os, "mkfifo", None)
    if make is None:
        raise NotImplementedError
    make(path)


def _pipe(place: Path) -> None:
    make_fifo(place / "fifo")


def make_socket(name: str) -> socket.socket:
    """Return a socket bound to the short *name* in the file system."""
    family: int | None = getattr(socket, "AF_UNIX", None)
    if family is None:
        raise NotImplementedError
    made = socket.socket(family)
    made.bind(name)
    return made


def _bind(place: Path) -> None:
    make_socket(str(place / "socket")).close()


def _odd_name(place: Path) -> None:
    Path(os.fsdecode(os.fsencode(place) + b"/caf\xe9")).touch()


def _denied(place: Path) -> None:
    place.chmod(0o500)
    try:
        (place / "file").touch()
    except PermissionError:
        return
    finally:
        place.chmod(0o700)
    raise OSError


def _modes(place: Path) -> None:
    path = place / "file"
    path.touch()
    path.chmod(0o640)
    if path.stat().st_mode & 0o777 != 0o640:
        raise OSError


def _long_names_refused(place: Path) -> None:
    try:
        (place / ("n" * 256)).touch()
    except OSError:
        (place / ("n" * 255)).touch()
        return
    raise OSError


def _names_counted_in_bytes(place: Path) -> None:
    try:
        (place / ("\u00e9" * 128)).lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return
    raise OSError


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)


@contextmanager
def small_disk(place: Path, size_kib: int) -> Iterator[Path]:
    """Give *place* as a disk of its own of *size_kib*."""
    _run("mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "tmpfs", str(place))
    try:
        yield place
    finally:
        _run("umount", str(place))


@contextmanager
def read_only_disk(place: Path) -> Iterator[Path]:
    """Give *place* as a disk that nobody can write to, whatever their rights."""
    _run("mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(place))
    try:
        yield place
    finally:
        _run("umount", str(place))


def _read_only_disk(place: Path) -> None:
    try:
        with read_only_disk(place):
            pass
    except subprocess.CalledProcessError as error:
        raise OSError from error


def _small_disk(place: Path) -> None:
    try:
        with small_disk(place, 64):
            (place / "file").write_bytes(bytes(1000))
    except subprocess.CalledProcessError as error:
        raise OSError from error


def _needs(deed: Callable[[Path], object], what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not _works(deed), reason=f"this machine or user has no {what}")


needs_symlinks = _needs(_link, "symbolic links")
needs_fifos = _needs(_pipe, "FIFOs")
needs_sockets = _needs(_bind, "sockets in the file system")
needs_odd_names = _needs(_odd_name, "names that are not UTF-8")
needs_denial = _needs(_denied, "directories closed to it")
needs_modes = _needs(_modes, "permission bits")
needs_name_limit = _needs(_long_names_refused, "limit of 255 for a name")
needs_byte_limit = _needs(_names_counted_in_bytes, "limit of 255 bytes for a name, told as such")
needs_small_disk = _needs(_small_disk, "right to mount a small disk")
needs_read_only_disk = _needs(_read_only_disk, "right to mount a disk that is read-only")
