"""The command line of a dispatch, option by option."""

from __future__ import annotations

import pytest

from prun.core.arguments import mode_of, read_arguments, valid_unit_id
from prun.core.command_line import Help
from prun.core.errors import UsageError
from prun.core.request import Arguments, Mode
from prun.core.settings import read_settings

NEEDED = ["--prompt-file", "p.md", "--result-file", "r.md", "--unit-id", "u-1"]
LEAST = Arguments("p.md", "r.md", "u-1", None, (), None)
PATH_OPTIONS = ["--prompt-file", "--result-file", "--continue-from", "--add-dir"]


def read(*more: str) -> Arguments:
    found = read_arguments([*NEEDED, *more])
    assert isinstance(found, Arguments)
    return found


def without(option: str) -> list[str]:
    at = NEEDED.index(option)
    return NEEDED[:at] + NEEDED[at + 2 :]


def given(option: str, value: str) -> list[str]:
    rest = without(option) if option in NEEDED else NEEDED
    return [*rest, f"{option}={value}"]


def refusal(argv: list[str]) -> str:
    with pytest.raises(UsageError) as caught:
        read_arguments(argv)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 700
    assert "usage:" not in message
    return message


def test_the_three_needed_options_are_enough() -> None:
    assert read_arguments(NEEDED) == LEAST


def test_every_option_is_read() -> None:
    found = read("--mode", "plan", "--add-dir", "a", "--add-dir=b", "--continue-from", "s")
    assert found == Arguments("p.md", "r.md", "u-1", Mode.PLAN, ("a", "b"), "s")


def test_the_mode_is_a_mode() -> None:
    assert read("--mode", "accept-edits").mode is Mode.ACCEPT_EDITS


@pytest.mark.parametrize("option", ["--prompt-file", "--result-file", "--unit-id"])
def test_a_needed_option_left_out_is_named(option: str) -> None:
    message = refusal(without(option))
    assert option in message
    assert "--help" in message


@pytest.mark.parametrize("option", [*PATH_OPTIONS, "--unit-id", "--mode"])
def test_an_option_without_a_value_is_named(option: str) -> None:
    assert option in refusal([*(without(option) if option in NEEDED else NEEDED), option])


@pytest.mark.parametrize("option", PATH_OPTIONS)
@pytest.mark.parametrize("blank", ["", " ", "\t \n", "\ufeff"], ids=["empty", "blank", "space", "mark"])
def test_a_blank_path_is_refused(option: str, blank: str) -> None:
    assert f"{option} is blank" in refusal(given(option, blank))


@pytest.mark.parametrize("option", PATH_OPTIONS)
def test_a_path_with_a_nul_is_refused(option: str) -> None:
    message = refusal(given(option, "a\0b"))
    assert option in message
    assert "NUL" in message


@pytest.mark.parametrize("option", PATH_OPTIONS)
@pytest.mark.parametrize("path", ["-", "-x", "--mode", "a b", " lead", "caf\udce9", "n\nl", "~/x", "C:\\a"])
def test_a_path_is_taken_as_it_is_written(option: str, path: str) -> None:
    found = read_arguments(given(option, path))
    assert isinstance(found, Arguments)
    values = (found.prompt_file, found.result_file, found.continue_from, *found.add_dirs)
    assert path in values


@pytest.mark.parametrize(
    "option", ["--prompt-file", "--result-file", "--unit-id", "--mode", "--continue-from"]
)
def test_an_option_given_twice_is_refused_also_with_the_same_value(option: str) -> None:
    once = f"{option}=plan"
    message = refusal([*(without(option) if option in NEEDED else NEEDED), once, once])
    assert option in message
    assert "twice" in message


def test_an_empty_value_counts_as_given() -> None:
    assert "twice" in refusal([*without("--prompt-file"), "--prompt-file=", "--prompt-file=p"])


@pytest.mark.parametrize("mode", ["", "Plan", "PLAN", "edit", "accept_edits", "plan\nx", "default"])
def test_another_mode_is_refused(mode: str) -> None:
    message = refusal([*NEEDED, f"--mode={mode}"])
    assert "--mode" in message
    assert "accept-edits" in message


@pytest.mark.parametrize("option", ["--prompt", "--unit", "--mod", "--cont", "--add", "--hel"])
def test_an_option_cut_short_is_not_guessed(option: str) -> None:
    assert option in refusal([*NEEDED, option, "plan"])


@pytest.mark.parametrize(
    "stray", ["x", "--nope", "--ledger", "-p", "--", "stray\nline", "\udcff", "--nope=\x1b[1m"]
)
def test_a_stray_argument_is_refused(stray: str) -> None:
    argv = [*NEEDED, stray, "more"] if stray == "--" else [*NEEDED, stray]
    assert "--help" in refusal(argv)


def test_a_long_stray_argument_is_not_repeated_whole() -> None:
    assert len(refusal([*NEEDED, "x" * 100_000])) < 600


@pytest.mark.parametrize(
    "argv", [["--help"], ["-h"], [*NEEDED, "--help"], ["--unit-id", "x", "-h", "--nope"]]
)
def test_help_is_a_text_that_names_every_option(argv: list[str]) -> None:
    found = read_arguments(argv)
    assert isinstance(found, Help)
    assert found.text.startswith("usage: prun dispatch ")
    assert "\x1b" not in found.text
    for option in [*PATH_OPTIONS, "--unit-id", "--mode"]:
        assert option in found.text


def test_help_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for columns in ("20", "300"):
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setenv("FORCE_COLOR", columns)
        texts.add(read_arguments(["--help"]))
    assert len(texts) == 1


@pytest.mark.parametrize(
    "unit", ["a", "A-b_9", "-", "-x", "_", "0", "a" * 64, "console", "com", "com0", "com10", "nul_"]
)
def test_a_unit_id_of_the_right_form_is_taken(unit: str) -> None:
    assert valid_unit_id(unit) == unit
    found = read_arguments([*without("--unit-id"), f"--unit-id={unit}"])
    assert isinstance(found, Arguments)
    assert found.unit == unit


@pytest.mark.parametrize(
    "unit",
    [
        "",
        " ",
        "a b",
        "a.b",
        "a/b",
        "a\\b",
        "..",
        "a" * 65,
        "\u00e9",
        "\uff41",
        "a\n",
        "a\0",
        "a:b",
        "\udcff",
        "\u0661",
    ],
    ids=ascii,
)
def test_a_unit_id_of_another_form_is_refused(unit: str) -> None:
    assert "unit id" in refusal([*without("--unit-id"), f"--unit-id={unit}"])


@pytest.mark.parametrize(
    "unit",
    ["con", "CON", "Prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "LPT") for n in range(1, 10))],
)
def test_the_name_of_a_windows_device_is_refused_everywhere(unit: str) -> None:
    assert "Windows" in refusal([*without("--unit-id"), "--unit-id", unit])


def test_a_mode_left_out_is_accept_edits_in_the_scratch_prun_makes() -> None:
    assert mode_of(LEAST, read_settings({})) is Mode.ACCEPT_EDITS
    assert mode_of(LEAST, read_settings({"PRUN_SCRATCH_CWD": " "})) is Mode.ACCEPT_EDITS


@pytest.mark.parametrize(
    ("more", "env", "cause"),
    [
        (["--add-dir", "d"], {}, "--add-dir"),
        ([], {"PRUN_SCRATCH_CWD": "/w"}, "PRUN_SCRATCH_CWD"),
        (["--add-dir", "d"], {"PRUN_SCRATCH_CWD": "/w"}, "--add-dir"),
    ],
    ids=["add-dir", "scratch", "both"],
)
def test_a_mode_left_out_is_refused_where_the_worker_gets_more(
    more: list[str], env: dict[str, str], cause: str
) -> None:
    with pytest.raises(UsageError, match=f"^{cause} .*name one.*--mode plan.*accept-edits"):
        mode_of(read(*more), read_settings(env))
    for mode in Mode:
        assert mode_of(read(*more, "--mode", mode.value), read_settings(env)) is mode
