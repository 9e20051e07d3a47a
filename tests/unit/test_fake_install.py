"""The ``agy`` that the fake installs: what its file holds, on either kind of system."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fake_agy.install import LAUNCHER, MARK, install, posix_program, windows_program

BLANKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs programs that name their interpreter")


def test_a_plain_interpreter_is_named_in_the_first_line() -> None:
    assert posix_program("/usr/bin/python3", "pass\n") == b"#!/usr/bin/python3 -I\npass\n"


@BLANKS
@pytest.mark.parametrize("name", ["a b", "x" * 140, "d$(x)`y`\"z'\\q w"], ids=["blank", "long", "odd"])
def test_an_interpreter_with_an_odd_path_still_runs(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    interpreter = folder / "python"
    interpreter.symlink_to(Path(sys.executable).resolve())
    program = tmp_path / "program"
    program.write_bytes(
        posix_program(str(interpreter), "import sys\nprint(sys.argv[1:], sys.flags.isolated)\n")
    )
    program.chmod(0o755)
    seen = subprocess.run([str(program), "a b", "--x"], capture_output=True, check=True, text=True)
    assert seen.stdout == "['a b', '--x'] 1\n"


def test_the_windows_program_ends_with_the_command_line_it_starts() -> None:
    program = windows_program("C:\\a b\\python.exe", 'print("x y")\n')
    assert program.startswith(b"MZ")
    assert program.endswith(MARK)
    size = int.from_bytes(program[-12:-8], "little")
    line = program[-12 - size : -12].decode()
    assert line == '"C:\\a b\\python.exe" -I -c "print(\\"x y\\")\n"'
    assert program[: -12 - size] == LAUNCHER.read_bytes()


def test_the_windows_launcher_was_built_from_its_source() -> None:
    source = LAUNCHER.with_name("agy.c").read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(source).hexdigest().encode() in LAUNCHER.read_bytes()


def test_installing_again_replaces_the_program(tmp_path: Path) -> None:
    first = install(tmp_path / "new" / "bin")
    assert first.read_bytes() != install(tmp_path / "new" / "bin", tmp_path / "home").read_bytes()
    assert [path.name for path in first.parent.iterdir()] == [first.name]
