"""The environment of a dispatch, variable by variable."""

from __future__ import annotations

import pytest

from prun.core.errors import UsageError
from prun.core.request import Preflight, SessionKind, Settings
from prun.core.settings import read_settings, refuse_nesting

DEFAULTS = Settings(
    agy="agy",
    model=None,
    effort=None,
    timeout_s=2700,
    preflight=Preflight.AUTO,
    preflight_timeout_s=60,
    scratch=None,
    sandbox=False,
    keep_env=frozenset(),
    state_root=None,
    reap_idle_s=0,
    reap_grace_s=60,
    reap_leftovers=True,
    min_result_bytes=20,
    session=SessionKind.SESSION,
)

# variable, field, smallest, largest
NUMBERS = [
    ("ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS", "timeout_s", 1, 604_800),
    ("ANTIGRAVITY_PREFLIGHT_TIMEOUT_SECONDS", "preflight_timeout_s", 1, 3_600),
    ("PRUN_REAP_IDLE_SECONDS", "reap_idle_s", 0, 604_800),
    ("PRUN_REAP_GRACE_SECONDS", "reap_grace_s", 0, 86_400),
    ("PRUN_MIN_RESULT_BYTES", "min_result_bytes", 0, 1_000_000),
]
SWITCHES = [("PRUN_AGY_SANDBOX", "sandbox"), ("PRUN_REAP_LEFTOVERS", "reap_leftovers")]
NO_NUMBERS = [
    "",
    " ",
    "10m",
    "-1",
    "+1",
    "1e3",
    "5.5",
    "1_000",
    "\uff12\uff10",
    "\u0662\u0660",
    "\u00b2",
    " 20 ",
    "20\n",
    "20\0",
    "nan",
    "inf",
    "0x10",
    "99999999999999999999",
    "00000000000000000060",
    "9" * 5000,
]


def refusal(env: dict[str, str]) -> str:
    with pytest.raises(UsageError) as caught:
        read_settings(env)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 300
    return message


def test_an_empty_environment_gives_the_defaults() -> None:
    assert read_settings({}) == DEFAULTS


def test_variables_that_are_no_settings_are_not_looked_at() -> None:
    assert (
        read_settings({"ANTIGRAVITY_OTHER": "junk", "PRUN_UNIT": "x", "prun_agy_sandbox": "junk"}) == DEFAULTS
    )


@pytest.mark.parametrize(("name", "field", "smallest", "largest"), NUMBERS, ids=[row[0] for row in NUMBERS])
def test_a_number_within_its_range_is_taken(name: str, field: str, smallest: int, largest: int) -> None:
    for number in (smallest, smallest + 1, largest):
        assert getattr(read_settings({name: str(number)}), field) == number
    assert getattr(read_settings({name: "007"}), field) == 7


@pytest.mark.parametrize(("name", "field", "smallest", "largest"), NUMBERS, ids=[row[0] for row in NUMBERS])
def test_a_number_outside_its_range_is_refused(name: str, field: str, smallest: int, largest: int) -> None:
    del field
    for text in (str(smallest - 1), str(largest + 1)):
        assert name in refusal({name: text})


@pytest.mark.parametrize("name", [row[0] for row in NUMBERS])
@pytest.mark.parametrize("text", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_whatever_is_not_plain_digits_is_refused(name: str, text: str) -> None:
    assert name in refusal({name: text})


def test_zero_is_refused_where_it_would_mean_at_once() -> None:
    for name in ("ANTIGRAVITY_DISPATCH_TIMEOUT_SECONDS", "ANTIGRAVITY_PREFLIGHT_TIMEOUT_SECONDS"):
        assert "from 1 to" in refusal({name: "00"})


@pytest.mark.parametrize(("name", "field"), SWITCHES, ids=[row[0] for row in SWITCHES])
@pytest.mark.parametrize(
    ("text", "on"),
    [
        *((text, True) for text in ("1", "true", "yes", "on", "TRUE", "Yes", " on ", "\tOn\n")),
        *((text, False) for text in ("0", "false", "no", "off", "OFF", " No ", "", "  ")),
    ],
    ids=repr,
)
def test_a_switch_is_on_or_off_in_any_case(name: str, field: str, text: str, on: bool) -> None:
    assert getattr(read_settings({name: text}), field) is on


@pytest.mark.parametrize(("name", "field"), SWITCHES, ids=[row[0] for row in SWITCHES])
@pytest.mark.parametrize("text", ["2", "01", "y", "t", "enabled", "o n", "true,", "\uff11", "o\ufb00"])
def test_a_switch_of_another_word_is_refused(name: str, field: str, text: str) -> None:
    del field
    assert name in refusal({name: text})


@pytest.mark.parametrize("word", list(Preflight))
def test_preflight_is_one_of_its_words(word: Preflight) -> None:
    assert read_settings({"ANTIGRAVITY_PREFLIGHT": word.value}).preflight is word


@pytest.mark.parametrize("word", list(SessionKind))
def test_the_worker_session_is_one_of_its_words(word: SessionKind) -> None:
    assert read_settings({"PRUN_WORKER_SESSION": word.value}).session is word


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("ANTIGRAVITY_PREFLIGHT", ["", "Auto", "OFF", "0", "no", "auto ", "auto\n"]),
        ("PRUN_WORKER_SESSION", ["", "Session", "none", " group"]),
        ("ANTIGRAVITY_DISPATCH_EFFORT", ["", "  ", "High", "xhigh", "none", "thinking", "high "]),
        (
            "ANTIGRAVITY_DISPATCH_MODEL",
            ["", "  ", "\ufeff", "a\nb", "-m", "--effort", "a\0", "\udcff", "a\x1b[1m"],
        ),
        ("ANTIGRAVITY_BIN", ["", " ", "a\0b"]),
        ("PRUN_STATE_ROOT", ["", " ", "/a\0b"]),
        ("PRUN_SCRATCH_CWD", ["/a\0b"]),
        ("PRUN_KEEP_ENV", ["A=b", "A,B*", "?"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_text_of_the_wrong_form_is_refused(name: str, texts: list[str]) -> None:
    for text in texts:
        assert name in refusal({name: text}), text


@pytest.mark.parametrize("effort", ["low", "medium", "high", "max"])
def test_an_effort_is_taken(effort: str) -> None:
    assert read_settings({"ANTIGRAVITY_DISPATCH_EFFORT": effort}).effort == effort


@pytest.mark.parametrize("model", ["gemini-3.8-flash-high", "Gemini 3.1 Pro (High)", " my-model ", "modèle"])
def test_a_model_is_taken_verbatim(model: str) -> None:
    assert read_settings({"ANTIGRAVITY_DISPATCH_MODEL": model}).model == model


@pytest.mark.parametrize("path", ["~/bin/agy", "$HOME/agy", "./a b", "/caf\udce9", " x"])
def test_paths_stay_as_written(path: str) -> None:
    settings = read_settings({"ANTIGRAVITY_BIN": path, "PRUN_SCRATCH_CWD": path, "PRUN_STATE_ROOT": path})
    assert (settings.agy, settings.scratch, settings.state_root) == (path, path, path)


@pytest.mark.parametrize("blank", ["", "  ", "\t\n", "\ufeff"])
def test_a_blank_scratch_is_none(blank: str) -> None:
    assert read_settings({"PRUN_SCRATCH_CWD": blank}).scratch is None


def test_kept_names_are_cut_at_commas_and_compared_in_capitals() -> None:
    settings = read_settings({"PRUN_KEEP_ENV": " ssh_auth_sock, ,XAUTHORITY,,ProgramFiles(x86) "})
    assert settings.keep_env == {"SSH_AUTH_SOCK", "XAUTHORITY", "PROGRAMFILES(X86)"}


def test_a_refused_list_of_names_does_not_tell_the_value_given_by_mistake() -> None:
    assert "hunter2" not in refusal({"PRUN_KEEP_ENV": "A,DB_PASSWORD=hunter2"})


def test_outside_a_worker_a_dispatch_may_start() -> None:
    refuse_nesting({})
    refuse_nesting({"PRUN_NESTED": "junk"})


@pytest.mark.parametrize(
    "env", [{}, {"PRUN_NESTED": "0"}, {"PRUN_NESTED": ""}], ids=["unset", "off", "empty"]
)
@pytest.mark.parametrize("unit", ["0123456789abcdef", ""])
def test_inside_a_worker_a_dispatch_is_refused(env: dict[str, str], unit: str) -> None:
    with pytest.raises(UsageError, match=r"PRUN_UNIT.*PRUN_NESTED=1"):
        refuse_nesting({"PRUN_UNIT": unit, **env})


def test_inside_a_worker_a_dispatch_may_start_where_that_is_meant() -> None:
    refuse_nesting({"PRUN_UNIT": "0123456789abcdef", "PRUN_NESTED": "1"})


def test_a_junk_permission_to_nest_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="PRUN_NESTED"):
        refuse_nesting({"PRUN_UNIT": "0123456789abcdef", "PRUN_NESTED": "maybe"})
