"""The command lines and the environment of monitor and gather, option by option and variable by variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prun.core.command_line import Help
from prun.core.errors import UsageError
from prun.core.watch_settings import (
    GatherArguments,
    GatherSettings,
    MonitorArguments,
    MonitorSettings,
    Until,
    read_gather_arguments,
    read_gather_settings,
    read_monitor_arguments,
    read_monitor_settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# variable, field, whether it is a poll
MONITOR = [
    ("PRUN_STALL_THRESHOLD", "stall_s", False),
    ("PRUN_TOOL_STALL_THRESHOLD", "tool_stall_s", False),
    ("PRUN_MONITOR_POLL", "poll_s", True),
    ("PRUN_MONITOR_TIMEOUT", "timeout_s", False),
    ("PRUN_MONITOR_STABLE_WINDOW", "stable_s", False),
]
GATHER = [
    ("PRUN_GATHER_POLL", "poll_s", True),
    ("AGENT_CONFIG_GATHER_TIMEOUT", "timeout_s", False),
    ("PRUN_GATHER_STABLE_WINDOW", "stable_s", False),
]
READ: dict[str, Callable[[dict[str, str]], object]] = {
    **{name: read_monitor_settings for name, _, _ in MONITOR},
    **{name: read_gather_settings for name, _, _ in GATHER},
}
NUMBERS = {"0.5": 0.5, "1": 1.0, "007": 7.0, "12.250": 12.25, "999999999": 999_999_999.0}
NO_NUMBERS = [
    "",
    " ",
    "10m",
    "-1",
    "+1",
    "1e3",
    ".5",
    "5.",
    "1.2.3",
    "1,5",
    "1_000",
    "\uff12",
    "\u0662",
    " 20 ",
    "20\n",
    "nan",
    "inf",
    "0x10",
    "99999999999999999999",
    "9" * 5000,
]


def test_nothing_set_gives_the_defaults() -> None:
    assert read_monitor_settings({}) == MonitorSettings(600, 600, 15, 3600, 10)
    assert read_gather_settings({}) == GatherSettings(5, 3600, 10, None)


@pytest.mark.parametrize(("name", "field", "is_poll"), [*MONITOR, *GATHER], ids=str)
@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_whole_or_has_a_point(name: str, field: str, is_poll: bool, text: str) -> None:
    assert getattr(READ[name]({name: text}), field) == NUMBERS[text]
    if is_poll:
        with pytest.raises(UsageError, match=f"{name} is '0.00': give seconds above 0"):
            READ[name]({name: "0.00"})
    else:
        assert getattr(READ[name]({name: "0"}), field) == 0


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("text", NO_NUMBERS, ids=ascii)
def test_anything_else_is_refused_with_the_variables_name(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"^{name} is ") as caught:
        READ[name]({name: text})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_an_open_tool_call_has_the_common_threshold_unless_it_has_its_own() -> None:
    assert read_monitor_settings({"PRUN_STALL_THRESHOLD": "30"}).tool_stall_s == 30
    both = {"PRUN_STALL_THRESHOLD": "30", "PRUN_TOOL_STALL_THRESHOLD": "90"}
    assert read_monitor_settings(both).tool_stall_s == 90


def test_a_blank_state_root_is_refused() -> None:
    assert read_gather_settings({"PRUN_STATE_ROOT": "here"}).state_root == "here"
    with pytest.raises(UsageError, match="PRUN_STATE_ROOT"):
        read_gather_settings({"PRUN_STATE_ROOT": " "})


def monitor(*words: str) -> MonitorArguments:
    found = read_monitor_arguments(words)
    assert isinstance(found, MonitorArguments)
    return found


def gather(*words: str) -> GatherArguments:
    found = read_gather_arguments(words)
    assert isinstance(found, GatherArguments)
    return found


def test_units_and_options_come_in_any_order() -> None:
    words = ["a", "--except", "x", "b", "--json", "--batch", "c", "--except", "y", "--until", "all", "d"]
    assert monitor(*words) == MonitorArguments(
        state_dirs=("a", "b", "d"),
        batch="c",
        excepted=("x", "y"),
        fresh=False,
        until=Until.ALL,
        follow=False,
        json=True,
    )
    assert monitor("a", "--follow", "--fresh") == MonitorArguments(
        ("a",), None, (), fresh=True, until=Until.EVENT, follow=True, json=False
    )
    assert gather("--strict", "a", "--json", "b") == GatherArguments(("a", "b"), None, strict=True, json=True)


def test_a_name_that_begins_with_a_dash_comes_after_two() -> None:
    assert monitor("a", "--", "-b", "--").state_dirs == ("a", "-b", "--")
    assert gather("--", "-b").paths == ("-b",)


def test_a_batch_alone_is_enough() -> None:
    assert monitor("--batch", "b").state_dirs == ()
    assert gather("--batch", "b").paths == ()


@pytest.mark.parametrize("read", [read_monitor_arguments, read_gather_arguments])
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--"],
        [""],
        ["a", " "],
        ["a\0b"],
        ["--nope", "a"],
        ["--bat", "b"],
        ["--batch"],
        ["--batch", "", "a"],
        ["--batch", "b", "--batch", "b"],
        ["a", "--except"],
        ["a", "--until", "soon"],
        ["a", "--until", "all", "--until", "all"],
        ["a\n--json", "--\n"],
    ],
    ids=str,
)
def test_a_call_that_cant_be_carried_out_is_refused_in_one_line(
    read: Callable[[list[str]], object], words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        read(words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [read_monitor_arguments, read_gather_arguments])
def test_help_comes_as_a_text_and_names_the_exit_statuses(read: Callable[[list[str]], object]) -> None:
    found = read(["a", "-h"])
    assert isinstance(found, Help)
    assert "Exit status: 0 all" in found.text
