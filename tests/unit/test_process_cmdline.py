"""Windows gets arguments as one string that reads back as given, and cmd.exe nothing to reinterpret."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prun.core.errors import LaunchError
from prun.system.process._cmdline import CMD_LONGEST, command_line, environment_block, is_batch, quoted
from tests.support.known_bad import assert_caught

if TYPE_CHECKING:
    from collections.abc import Callable

CMD = r"C:\Windows\system32\cmd.exe"
EXE = r"C:\Program Files\agy\agy.exe"
BATCH = r"C:\Program Files\agy\agy.cmd"


@pytest.mark.parametrize(
    ("program", "batch"),
    [
        ("agy.exe", False),
        ("agy", False),
        ("agy.cmd.exe", False),
        ("agy.cmd", True),
        ("AGY.CMD", True),
        ("agy.bat", True),
        ("agy.Bat", True),
        ("agy.bat.", True),
        ("agy.bat. .", True),
        ("agy.cmd ", True),
    ],
)
def test_a_batch_file_is_known_by_the_name_windows_sees(program: str, batch: bool) -> None:
    assert is_batch(program) is batch


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("plain", "plain"),
        ("", '""'),
        ("a b", '"a b"'),
        ("a\tb", '"a\tb"'),
        ('say "hi"', r'"say \"hi\""'),
        ("C:\\dir\\", "C:\\dir\\"),
        ("C:\\a dir\\", '"C:\\a dir\\\\"'),
        ('a\\"b', r'"a\\\"b"'),
        ("a\\\\b c", '"a\\\\b c"'),
        ("%PATH%&^!", "%PATH%&^!"),
    ],
)
def test_an_argument_is_quoted_as_c_programs_read_it(argument: str, line: str) -> None:
    assert quoted(argument) == line


def read_back(line: str) -> list[str]:
    """Return the arguments that a C program finds in *line*, by the documented rules."""
    found: list[str] = []
    current: str | None = None
    inside, backslashes = False, 0
    for character in line + " ":
        if character == "\\":
            backslashes += 1
            continue
        current = (current or "") + "\\" * (backslashes // 2 if character == '"' else backslashes) or current
        odd, backslashes = backslashes % 2, 0
        if character == '"' and odd:
            current = (current or "") + '"'
        elif character == '"':
            inside, current = not inside, current or ""
        elif character in " \t" and not inside:
            if current is not None:
                found.append(current)
            current = None
        else:
            current = (current or "") + character
    return found


def only_wrapped(argument: str) -> str:
    return f'"{argument}"'


def only_where_blank(argument: str) -> str:
    return quoted(argument) if argument else ""


ARGUMENTS = st.lists(st.text(st.sampled_from('ab \t"\\&%'), max_size=8), max_size=4)


def check_quoting(quote: Callable[[str], str], arguments: list[str]) -> None:
    assert read_back(" ".join(map(quote, arguments))) == arguments


@given(ARGUMENTS)
def test_quoted_arguments_are_read_back_as_given(arguments: list[str]) -> None:
    check_quoting(quoted, arguments)
    check_quoting(lambda argument: quoted(argument, always=True), arguments)


@pytest.mark.parametrize("bad", [only_wrapped, only_where_blank], ids=lambda bad: bad.__name__)
def test_the_quoting_property_catches(bad: Callable[[str], str]) -> None:
    assert_caught(lambda arguments: check_quoting(bad, arguments), ARGUMENTS)


def test_an_exe_is_started_itself() -> None:
    assert command_line((EXE, "--model", "a b", "%x%"), CMD) == (EXE, f'"{EXE}" --model "a b" %x%')


def test_a_batch_file_is_run_by_cmd_with_every_argument_quoted() -> None:
    program, line = command_line((BATCH, "--mode", "plan", "", r"C:\a (b)\\"[:-1]), CMD)
    assert program == CMD
    assert line == f'{CMD} /d /s /v:off /c ""{BATCH}" "--mode" "plan" "" "C:\\a (b)\\\\""'


@pytest.mark.parametrize("bad", [*'"%!^&|<>\n\r\x1a\x0b'], ids=ascii)
@pytest.mark.parametrize("place", [0, 1, 2], ids=["program", "first", "last"])
def test_what_cmd_would_reinterpret_is_refused_for_a_batch_file_only(bad: str, place: int) -> None:
    argv = [BATCH, "one", "two"]
    argv[place] = bad + argv[place]
    with pytest.raises(LaunchError, match="would reinterpret") as refusal:
        command_line(tuple(argv), CMD)
    assert "\n" not in str(refusal.value)
    if place:
        argv[0] = EXE
        assert command_line(tuple(argv), CMD)[0] == EXE


@pytest.mark.parametrize("argument", ["a b", "a(b)", "a,b;c=d", "--x=1", "~", "@", "é ü", "C:\\x\\"])
def test_what_quotes_protect_passes(argument: str) -> None:
    assert quoted(argument, always=True) in command_line((BATCH, argument), CMD)[1]


def test_a_line_too_long_for_cmd_is_refused() -> None:
    with pytest.raises(LaunchError, match="too long"):
        command_line((BATCH, "a" * CMD_LONGEST), CMD)


@pytest.mark.parametrize("program", [EXE, BATCH], ids=["exe", "batch"])
def test_a_nul_is_refused(program: str) -> None:
    with pytest.raises(LaunchError, match=r"NUL|reinterpret"):
        command_line((program, "a\0b"), CMD)


def test_an_environment_is_sorted_by_name_whatever_its_case() -> None:
    assert environment_block({"b": "2", "A.b": "1 = 1", "C": ""}) == "A.b=1 = 1\0b=2\0C=\0\0"


def test_a_name_in_two_spellings_is_passed_once() -> None:
    assert environment_block({"PATH": "old", "Path": "new"}) == "Path=new\0\0"


def test_the_drives_own_variables_pass() -> None:
    assert environment_block({"=C:": "C:\\x"}) == "=C:=C:\\x\0\0"


def test_an_empty_environment_is_two_nuls() -> None:
    assert environment_block({}) == "\0\0"


@pytest.mark.parametrize(
    "env", [{"": "x"}, {"a=b": "x"}, {"a\0": "x"}, {"a": "x\0y"}], ids=["empty", "equals", "NUL", "NUL value"]
)
def test_an_environment_windows_would_misread_is_refused(env: dict[str, str]) -> None:
    with pytest.raises(LaunchError, match="environment variable"):
        environment_block(env)
