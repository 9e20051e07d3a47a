"""The fake as a real program, held against what is known of the real one; docs/fidelity.md maps it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from fake_agy.models import listing
from fake_agy.profiles import PROFILES
from tests.support.fakes import DEADLINE_S, STREAM, Answer, Fake, group_of, user_line
from tests.support.processes import until

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
USAGE = {"input_tokens", "output_tokens", "thinking_tokens", "cache_read_tokens", "total_tokens"}
QUOTA = "Individual quota reached. Please upgrade your subscription to increase your limits. Resets in"
versions = pytest.mark.parametrize("profile", ["1.3.5", "1.2.2"])
has_signals = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals between processes")


# Output


@versions
def test_a_plain_answer_shows_the_events_in_their_order(tmp_path: Path, profile: str) -> None:
    answer = Fake(tmp_path, profile).ask("Do it.")
    shape = [(step["step_index"], step["step_type"], step["state"]) for step in answer.steps]
    assert answer.code == 0
    assert answer.stderr == ""
    assert answer.events[0]["event"] == "init"
    assert answer.events[-1]["event"] == "result"
    assert shape[:2] == [(0, "user_input", "DONE"), (1, "unknown", "DONE")]
    assert set(shape[2:-2]) == {(2, "agent_response", "ACTIVE")}
    assert shape[-2:] == [(2, "agent_response", "DONE"), (3, "checkpoint", "DONE")]
    assert answer.stdout.decode().endswith("}\n")
    for event in answer.events:
        assert set(event) == {"event", event["event"]} | (
            {"conversation_id"} if event["event"] == "init" else set()
        )
    for step in answer.steps:
        if step["step_type"] != "agent_response":
            assert "text_delta" not in step


@versions
def test_init_stands_first_and_names_conversation_directory_tools_and_mode(
    tmp_path: Path, profile: str
) -> None:
    answer = Fake(tmp_path, profile).ask("Do it.", options=("--model", "gemini-3.8-flash-high"))
    init = answer.init
    assert UUID.fullmatch(init["conversation_id"])
    assert Path(init["init"]["cwd"]) == (tmp_path / "cwd").resolve()
    assert init["init"]["permission_mode"] == "request-review"
    assert init["init"]["model"] == "gemini-3.8-flash"
    assert {"run_command", "view_file"} <= set(init["init"]["tools"])
    assert ("list_dir" in init["init"]["tools"]) == (profile == "1.2.2")
    assert all(step["conversation_id"] == init["conversation_id"] for step in answer.steps)
    assert answer.result["conversation_id"] == init["conversation_id"]


def test_the_model_stands_in_init_always_or_only_when_it_was_given(tmp_path: Path) -> None:
    assert Fake(tmp_path / "new").ask("Do it.").init["init"]["model"] == "gemini-3.8-flash"
    assert "model" not in Fake(tmp_path / "old", "1.2.2").ask("Do it.").init["init"]


@versions
def test_skipping_permissions_or_an_account_that_does_shows_in_init(tmp_path: Path, profile: str) -> None:
    asked = Fake(tmp_path / "a", profile).ask(
        "x", options=("--dangerously-skip-permissions", "--mode", "plan")
    )
    setting = Fake(tmp_path / "b", profile, account='permission_mode = "always-proceed"').ask("x")
    assert (
        asked.init["init"]["permission_mode"] == setting.init["init"]["permission_mode"] == "always-proceed"
    )


@versions
def test_the_deltas_add_up_to_the_response_and_the_tokens_to_their_total(
    tmp_path: Path, profile: str
) -> None:
    answer = Fake(tmp_path, profile, "ok_with_tools").ask("Do it.")
    deltas = "".join(step.get("text_delta", "") for step in answer.steps)
    assert deltas == answer.result["response"]
    usage = answer.result["usage"]
    assert set(usage) == USAGE
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["thinking_tokens"] <= usage["output_tokens"]
    per_step = [step["usage"] for step in answer.steps if "usage" in step]
    assert all(12_000 <= step["input_tokens"] <= 23_000 for step in per_step)
    assert usage == {key: sum(step[key] for step in per_step) for key in usage}


@versions
def test_a_tool_goes_from_active_to_done_or_error_under_one_index(tmp_path: Path, profile: str) -> None:
    answer = Fake(tmp_path, profile, "ok_with_tools").ask("Do it.")
    tools = [step for step in answer.steps if step["step_type"] == "tool"]
    fast, begun, failed = tools
    assert (fast["state"], fast["tool_info"]["output"]) == ("DONE", "a line of text")
    assert list(fast["tool_info"]["parameters"]) == ["AbsolutePath"]
    assert (begun["state"], failed["state"], begun["step_index"]) == ("ACTIVE", "ERROR", failed["step_index"])
    assert failed["tool_info"]["error"] == {"type": "TOOL_ERROR", "message": "exit status 1"}
    assert set(failed["tool_info"]["parameters"]) == {"CommandLine", "Cwd"}
    agents = [step for step in answer.steps if step["step_type"] == "subagent"]
    assert [step["state"] for step in agents] == ["ACTIVE", "DONE"]
    assert UUID.fullmatch(agents[0]["subagent_info"]["subagents"][0]["conversation_id"])


def test_events_and_fields_of_later_versions_can_stand_between(tmp_path: Path) -> None:
    answer = Fake(tmp_path, scenario="unknown_events").ask("Do it.")
    assert {"telemetry", "farewell"} <= {event["event"] for event in answer.events}
    assert answer.result["status"] == "SUCCESS"


@versions
def test_json_is_the_bare_result_and_text_the_answer_alone(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    model = ("--model", "gemini-3.8-flash-high")
    answer = fake.run("--output-format", "json", *model, "-p", "Do it.")
    payload = json.loads(answer.stdout)
    assert (payload["status"], payload["num_turns"], set(payload["usage"])) == ("SUCCESS", 1, USAGE)
    assert answer.stdout.count(b"\n") == 1
    assert fake.run(*model, "-p", "Do it.").stdout.decode() == payload["response"]


@versions
def test_a_raw_line_on_stdout_can_stand_between_the_events(tmp_path: Path, profile: str) -> None:
    answer = Fake(tmp_path, profile, "noise_before_json").ask("Do it.")
    lines = answer.stdout.split(b"\n")
    assert lines[0].startswith(b"jetski: ")
    assert lines[2].startswith(b"\x1b]0;agy\x07{")
    assert answer.code == 0


# Input


@versions
def test_init_is_printed_before_the_first_message_is_sent(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    process = fake.start(*STREAM, stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdin is not None
    first = json.loads(process.stdout.readline())
    process.stdin.write(user_line("Do it."))
    process.stdin.close()
    rest = process.stdout.read()
    assert first["event"] == "init"
    assert json.loads(rest.splitlines()[-1])["result"]["conversation_id"] == first["conversation_id"]
    assert process.wait(DEADLINE_S) == 0
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


@versions
def test_each_line_is_a_turn_with_a_result_and_figures_that_only_grow(tmp_path: Path, profile: str) -> None:
    answer = Fake(tmp_path, profile).ask("One.", "Two.", "Three.")
    assert [result["num_turns"] for result in answer.results] == [1, 2, 3]
    totals = [result["usage"]["total_tokens"] for result in answer.results]
    assert totals == sorted(set(totals))
    durations = [result["duration_seconds"] for result in answer.results]
    assert durations == sorted(durations)
    indexes = [step["step_index"] for step in answer.steps]
    assert indexes == sorted(indexes)
    assert answer.code == 0


def test_text_blocks_and_a_role_are_taken(tmp_path: Path) -> None:
    fake = Fake(tmp_path, script='[scenario.echo]\nsteps=[{do="say",text="{prompt}",pieces=1}]\n')
    fake.home.script.write_text(
        'default="echo"\n' + fake.home.script.read_text(encoding="utf-8"), encoding="utf-8"
    )
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    line = json.dumps({"event": "user", "message": {"role": "user", "content": content}}).encode()
    assert fake.run(*STREAM, stdin=line).result["response"] == "ab\n"


@pytest.mark.parametrize(
    ("line", "profile", "code", "words"),
    [
        (
            b'{"type":"user","message":{"content":"x"}}',
            "1.3.5",
            1,
            'stream input message is missing the "event" field',
        ),
        (b"not json", "1.3.5", 1, "is not valid JSON"),
        (b'{"event":"user","message":{"content":[{"type":"image"}]}}', "1.2.2", 1, "text blocks"),
        (b'{"event":"interrupt"}', "1.2.2", 2, 'unsupported stream input event "interrupt"'),
        (b'{"event":"interrupt"}', "1.3.5", 0, 'warning: ignoring unsupported stream input "interrupt"'),
        (user_line("/model x"), "1.3.5", 2, "--disable-slash-commands"),
    ],
)
def test_a_line_that_is_no_message_is_refused_or_passed_over(
    tmp_path: Path, line: bytes, profile: str, code: int, words: str
) -> None:
    answer = Fake(tmp_path, profile).run(*STREAM, stdin=line + b"\n")
    assert (answer.code, answer.results) == (code, [])
    assert words in answer.stderr


@versions
def test_formats_that_do_not_go_together_are_refused(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    pair = fake.run("--input-format", "stream-json")
    assert (pair.code, pair.stdout) == (2, b"")
    assert "--input-format stream-json requires --output-format stream-json" in pair.stderr
    assert fake.run(*STREAM, "-p", "Do it.", stdin=b"").code == 2
    for empty in (("--print", ""), ("-p=",)):
        assert fake.run(*STREAM, *empty, stdin=user_line("x")).code == 0


def test_after_a_failed_turn_the_next_line_is_still_answered(tmp_path: Path) -> None:
    script = '[[rule]]\ncontains="One"\nscenario="quota"\n'
    answer = Fake(tmp_path, script=script).ask("One.", "Two.")
    assert [result["status"] for result in answer.results] == ["ERROR", "SUCCESS"]
    assert answer.code == 0


def test_a_message_is_cut_without_a_word_above_191000_characters(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    answer = fake.ask("x" * 324_000)
    assert (answer.code, answer.stderr) == (0, "")
    assert fake.calls("turn")[0]["prompt_chars"] == 191_000


@versions
def test_without_a_prompt_flag_all_of_stdin_is_the_prompt(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    model = ("--model", "gemini-3.8-flash-high")
    assert fake.run(*model, stdin="Do\nit é.".encode()).code == 0
    assert fake.run(*model, "-p", "-").code == 0
    assert [call["prompt_chars"] for call in fake.calls("turn")] == [8, 1]
    for nothing in (fake.run("-p", ""), fake.run(stdin=b" \n")):
        assert (nothing.code, nothing.stdout) == (1, b"")
        assert nothing.stderr.startswith("error: empty prompt")


# Command line


@versions
def test_the_version_is_a_bare_line_for_anyone(tmp_path: Path, profile: str) -> None:
    answer = Fake(tmp_path, profile, account="signed_in = false").run("--version")
    assert answer == Answer(0, f"{profile}\n".encode(), "")


@versions
def test_an_unknown_flag_and_a_stray_word_exit_2_in_agys_words(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    flag, word = fake.run("--bogus"), fake.run("do", "it")
    assert (flag.code, flag.stdout) == (word.code, word.stdout) == (2, b"")
    assert flag.stderr.startswith("flags provided but not defined: -bogus\nUsage of agy:\n")
    assert "prompts are read only from -p/--print, -i/--prompt-interactive or stdin" in word.stderr
    assert fake.run("-p", "--model").code == 2


@versions
def test_models_lists_slug_tab_label_and_says_on_stderr_that_it_fetches(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    answer = fake.run("models")
    rows = "".join(f"{slug}\t{label}\n" for slug, label in listing(PROFILES[profile]))
    assert answer == Answer(0, rows.encode(), "Fetching available models...\n")


@versions
def test_models_has_a_json_form_only_with_the_flag_in_front(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    behind = fake.run("models", "--output-format", "json")
    assert (behind.code, behind.stdout) == (1, b"")
    assert behind.stderr.startswith("flags provided but not defined: -output-format\n")
    body = json.loads(fake.run("--output-format", "json", "models").stdout)
    assert body["command"]["name"] == "models"
    assert body["command"]["data"]["models"][0] == {
        "id": "gemini-3.8-flash-low",
        "label": "Gemini 3.8 Flash (Low)",
    }


@pytest.mark.parametrize(
    ("profile", "options", "words"),
    [
        (
            "1.3.5",
            ("--model", "x"),
            'invalid model selection (--model "x" --effort ""): model x is not recognized',
        ),
        ("1.3.5", ("--effort", "bogus"), 'invalid --effort "bogus" (valid: low, medium, high, xhigh, max)'),
        (
            "1.3.5",
            ("--effort", "xhigh"),
            'gemini-3.8-flash has no "xhigh" effort (available: low, medium, high)',
        ),
        ("1.2.2", ("--model", "gemini-3.8-flash"), "requires --effort (available: low, medium, high)"),
        ("1.2.2", ("--model", "gemini-3.1-pro-high", "--effort", "low"), "conflicts with --effort=low"),
        ("1.2.2", ("--model", "claude-sonnet-4-6", "--effort", "low"), "--effort is not supported for model"),
        ("1.3.5", ("--json-schema", '{"type":"array"}'), '--json-schema root must have "type":"object"'),
    ],
)
def test_a_selection_that_cannot_be_fails_before_any_conversation(
    tmp_path: Path, profile: str, options: tuple[str, ...], words: str
) -> None:
    answer = Fake(tmp_path, profile).ask("Do it.", options=options)
    assert answer.code == 1
    assert [event["event"] for event in answer.events] == ["result"]
    assert (answer.result["conversation_id"], answer.result["status"]) == ("", "ERROR")
    assert (answer.result["num_turns"], answer.result["duration_seconds"]) == (0, 0)
    assert words in answer.result["error"]
    assert answer.stderr.startswith("error: ")


@versions
@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("auth_missing", "authentication required. Run 'agy' to log in, then retry."),
        ("bad_model", 'invalid model selection (--model "gemini-3.8-flash-high" --effort "")'),
        ("effort_conflict", "--model gemini-3.8-flash-high conflicts with --effort=medium"),
    ],
)
def test_a_scenario_can_fail_before_any_conversation(
    tmp_path: Path, profile: str, scenario: str, words: str
) -> None:
    answer = Fake(tmp_path, profile, scenario).ask("Do it.", options=("--model", "gemini-3.8-flash-high"))
    assert (answer.code, [event["event"] for event in answer.events]) == (1, ["result"])
    assert (answer.result["conversation_id"], answer.result["num_turns"]) == ("", 0)
    assert answer.result["error"].startswith(words)
    assert answer.stderr.startswith(f"error: {words}")


@versions
def test_an_odd_mode_is_warned_of_and_the_run_goes_on(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    model = ("--model", "gemini-3.8-flash-high")
    odd = fake.ask("x", options=(*model, "--mode", "yolo"))
    assert (odd.code, odd.stderr) == (0, 'warning: unrecognized --mode value "yolo"\n')
    idle = fake.ask("x", options=(*model, "--mode", "plan", "--disable-slash-commands"))
    assert idle.stderr == "warning: --mode plan has no effect while slash command expansion is disabled\n"


@versions
def test_slash_commands_are_refused_with_a_hint(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    for prompt, words in (
        ("/model x", '/model takes no arguments, got "x"'),
        ("/clear", "/clear is not available"),
    ):
        answer = fake.run("-p", prompt)
        assert (answer.code, answer.stdout) == (2, b"")
        assert words in answer.stderr
        assert "--disable-slash-commands" in answer.stderr
    model = ("--model", "gemini-3.8-flash-high")
    assert fake.run("--disable-slash-commands", *model, "-p", "/clear").code == 0


# Conversations


@versions
def test_a_resumed_conversation_keeps_its_id_and_adds_up(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile)
    first = fake.ask("One.").result
    again = fake.ask("Two.", options=("--conversation", first["conversation_id"]))
    assert again.init["conversation_id"] == first["conversation_id"]
    assert (again.result["num_turns"], again.steps[0]["step_index"]) == (2, 4)
    assert again.result["usage"]["input_tokens"] > first["usage"]["input_tokens"]
    assert again.result["duration_seconds"] > first["duration_seconds"]
    assert fake.ask("Three.", options=("-c",)).result["num_turns"] == 3


@versions
def test_an_unknown_conversation_is_warned_of_and_a_new_one_starts(tmp_path: Path, profile: str) -> None:
    asked = "00000000-0000-4000-8000-00000000beef"
    answer = Fake(tmp_path, profile).ask("Go on.", options=("--conversation", asked))
    assert (answer.code, answer.stderr) == (0, f'warning: conversation "{asked}" not found\n')
    assert answer.init["conversation_id"] != asked


def test_a_second_process_on_a_conversation_is_told_and_the_witness_sees_it(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    known = fake.ask("One.").result["conversation_id"]
    options = (*STREAM, "--conversation", known)
    holder = fake.start(*options, stdin=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    second = fake.run(*options, stdin=user_line("Two."))
    fake.home.enforce.touch()
    third = fake.run(*options, stdin=user_line("Three."))
    holder.communicate()
    assert not second.stdout.startswith(b"{")
    assert second.result["conversation_id"] == known
    assert [breach["rule"] for breach in fake.calls("breach")] == ["conversation-shared"] * 2
    assert (third.code, third.results) == (97, [])
    assert fake.run(*options, stdin=user_line("Four.")).code == 0


# Service


@pytest.mark.parametrize(
    ("profile", "code", "stderr"),
    [
        ("1.3.5", 3, f"error: {QUOTA} 76h3m46s.\nAGY_ERROR: {{"),
        ("1.2.2", 0, "[agy] print timeout after 1s with turn in progress; returning partial output\n"),
    ],
)
def test_a_quota_stop_ends_as_its_version_ends_it(
    tmp_path: Path, profile: str, code: int, stderr: str
) -> None:
    fake = Fake(tmp_path, profile, "quota")
    answer = fake.ask("x", options=("--model", "gemini-3.8-flash-high", "--print-timeout", "1s"))
    assert answer.code == code
    assert answer.stderr.startswith(stderr)
    result = answer.result
    assert result["error"] == f"API error (attempt 5): RESOURCE_EXHAUSTED (code 429): {QUOTA} 76h3m46s."
    assert (result["status"], result["response"], result["num_turns"]) == ("ERROR", "", 1)
    assert not any(result["usage"].values())
    log = fake.home.log.read_text(encoding="utf-8")
    assert ("retrying in 1s" in log) == (profile == "1.2.2")
    assert f"agent executor error: RESOURCE_EXHAUSTED (code 429): {QUOTA} 76h3m46s." in log


@pytest.mark.parametrize(("scenario", "code", "kind"), [("credits", 429, "http"), ("network", 2, "grpc")])
def test_agy_error_is_one_line_beside_the_words_for_people(
    tmp_path: Path, scenario: str, code: int, kind: str
) -> None:
    answer = Fake(tmp_path, scenario=scenario).ask("x")
    words, marker = answer.stderr.splitlines()
    assert answer.code == 3
    assert words.startswith("error: ")
    assert answer.result["error"].endswith("(response may be truncated)")
    body = json.loads(marker.removeprefix("AGY_ERROR: "))
    assert set(body) == {"short_error", "status", "error_code", "code_kind", "retryable", "error_id"}
    assert (body["error_code"], body["code_kind"]) == (code, kind)
    assert "credits" not in body["short_error"]


def test_no_capacity_has_no_error_line_in_1_3_5(tmp_path: Path) -> None:
    answer = Fake(tmp_path, scenario="capacity_503").ask("x")
    assert answer.code == 3
    assert answer.result["error"].startswith(
        "API error (attempt 1): UNAVAILABLE (code 503): No capacity available"
    )
    assert answer.stderr.startswith("AGY_ERROR: ")


@has_signals
@versions
def test_without_a_sign_in_and_a_terminal_every_run_fails_at_once(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile, account="signed_in = false")
    process = fake.start(*STREAM, start_new_session=True)
    stdout, stderr = process.communicate(timeout=DEADLINE_S)
    answer = Answer(process.returncode, stdout, stderr.decode())
    assert answer.code == 1
    assert answer.stderr == "error: authentication required. Run 'agy' to log in, then retry.\n"
    assert (answer.result["conversation_id"], len(answer.events)) == ("", 1)
    assert fake.run("models").code == 1


def test_a_rejected_sign_in_signs_the_whole_account_out_from_1_2_5_on(tmp_path: Path) -> None:
    for profile, code in (("1.3.5", 1), ("1.2.2", 0)):
        fake = Fake(tmp_path / profile, profile, "auth_revoked_midrun")
        assert fake.ask("x", options=("--model", "gemini-3.8-flash-high")).code == 1
        assert fake.run("models").code == code


@versions
def test_the_print_timeout_gives_success_a_part_and_a_notice(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile, "print_timeout")
    answer = fake.ask("x", options=("--model", "gemini-3.8-flash-high", "--print-timeout", "500ms"))
    assert (answer.code, answer.result["status"]) == (0, "SUCCESS")
    assert answer.result["response"].endswith("I will now run the tests")
    notice = "[agy] print timeout after 500ms with turn in progress; returning partial output\n"
    assert answer.stderr == notice


@pytest.mark.parametrize(("profile", "state"), [("1.3.5", "DONE"), ("1.2.2", "ERROR")])
def test_a_refused_tool_shows_as_its_version_shows_it(tmp_path: Path, profile: str, state: str) -> None:
    options = ("--model", "gemini-3.8-flash-high")
    answer = Fake(tmp_path / "empty", profile, "denied").ask("x", options=options)
    result = answer.result
    assert (answer.code, result["status"], result["response"]) == (0, "SUCCESS", "")
    assert result["denied_actions"] == [{"action": "command", "display_name": "RunCommand"}]
    assert answer.stderr.startswith('jetski: no output produced — a tool required the "command" permission')
    refused = [step for step in answer.steps if step["step_type"] == "tool"][-1]
    assert refused["state"] == state
    message = refused["tool_info"].get("error", {}).get("message", "")
    assert message.startswith('permission check failed for command "' if profile == "1.2.2" else "")
    assert "output" not in refused["tool_info"]
    kept = Fake(tmp_path / "kept", profile, "denied_with_answer").ask("x", options=options)
    assert kept.result["response"]
    assert kept.result["denied_actions"]


@pytest.mark.parametrize(
    ("account", "turns"),
    [("[bucket.gemini-5h]\ncapacity = 2", 2), ("[ceiling]\ncapacity = 1\nwindow_s = 3600", 1)],
)
def test_an_empty_bucket_or_ceiling_stops_turns_of_its_own_group_until_its_reset(
    tmp_path: Path, account: str, turns: int
) -> None:
    fake = Fake(tmp_path, account=f'clock = "file"\n{account}')
    fake.home.clock.write_text("1000", encoding="utf-8")
    codes = [fake.ask(f"turn {number}").code for number in range(turns + 1)]
    assert codes == [0] * turns + [3]
    other = fake.ask("x", options=("--model", "gpt-oss-120b-medium")).code
    assert other == (0 if "bucket" in account else 3)
    fake.home.clock.write_text(str(1000 + 5 * 3600), encoding="utf-8")
    assert fake.ask("again").code == 0


def test_usage_is_answered_in_three_formats_without_a_turn(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.ask("x")
    text = fake.run("-p", "/usage").stdout.decode()
    body = json.loads(fake.run("-p", "/quota", "--output-format", "json").stdout)
    stream = fake.run("-p", "/usage", "--output-format", "stream-json")
    assert [line.split("\t")[:3] for line in text.splitlines()] == [
        ["Gemini Models", "Weekly Limit Remaining", "100%"],
        ["Gemini Models", "Five Hour Limit Remaining", "100%"],
        ["Claude and GPT models", "Weekly Limit Remaining", "100%"],
        ["Claude and GPT models", "Five Hour Limit Remaining", "100%"],
    ]
    buckets = [bucket for group in body["command"]["data"]["groups"] for bucket in group["buckets"]]
    assert [bucket["id"] for bucket in buckets] == ["gemini-weekly", "gemini-5h", "3p-weekly", "3p-5h"]
    assert (body["conversation_id"], body["num_turns"], body["command"]["name"]) == ("", 0, "quota")
    assert [event["event"] for event in stream.events] == ["command_result", "result"]
    assert len(fake.calls("turn")) == 1


# Ends


@has_signals
@versions
def test_a_request_to_end_is_answered_with_an_interrupted_result(tmp_path: Path, profile: str) -> None:
    fake = Fake(tmp_path, profile, "hang_after_init")
    process = fake.start(*STREAM, "--model", "gemini-3.8-flash-high", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(user_line("x"))
    process.stdin.flush()
    until(lambda: fake.calls("turn"))
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=DEADLINE_S)
    answer = Answer(process.returncode, stdout, stderr.decode())
    assert (answer.code, answer.result["status"], answer.result["error"]) == (1, "ERROR", "interrupted")


@has_signals
def test_a_worker_can_ignore_requests_to_end_and_die_of_a_signal(tmp_path: Path) -> None:
    deaf = Fake(tmp_path / "deaf", scenario="ignores_sigterm")
    place = tmp_path / "in"
    place.write_bytes(user_line("x"))
    with place.open("rb") as stdin, (tmp_path / "out").open("wb") as out:
        process = deaf.start(*STREAM, stdin=stdin, stdout=out)
    until(lambda: b"told to stop" in (tmp_path / "out").read_bytes())
    process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.kill()
    process.communicate()
    assert Fake(tmp_path / "dead", scenario="killed_by_signal").ask("x").code == -9


def test_the_log_is_glog_and_goes_where_it_is_told(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.ask("x", options=("--log-file", str(tmp_path / "own.log")))
    lines = (tmp_path / "own.log").read_text(encoding="utf-8").splitlines()
    assert all(re.match(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.go:\d+\] ", line) for line in lines)
    told = "\n".join(lines)
    for words in (
        "You are not logged into Antigravity",
        "Print mode: starting (promptLength=1",
        "Created conversation",
    ):
        assert words in told
    assert not fake.home.log.exists()


def test_a_program_can_be_replaced_while_it_runs(tmp_path: Path) -> None:
    fake = Fake(tmp_path, scenario="update_midrun")
    before = fake.agy.stat()
    assert fake.ask("x").code == 0
    after = fake.agy.stat()
    assert (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns)
    assert fake.run("--version").code == 0


@has_signals
@pytest.mark.parametrize("scenario", ["grandchild_holds_stdout", "setsid_escapee"])
def test_a_grandchild_outlives_its_worker_in_its_group_or_outside(tmp_path: Path, scenario: str) -> None:
    fake = Fake(tmp_path, scenario=scenario)
    place = tmp_path / "in"
    place.write_bytes(user_line("x"))
    with place.open("rb") as stdin, (tmp_path / "out").open("wb") as out:
        process = fake.start(
            *STREAM, stdin=stdin, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True
        )
    assert process.wait(DEADLINE_S) == 0
    try:
        for record in fake.calls("spawned"):
            in_group = group_of(record["child"]) == process.pid
            assert in_group == (record["group"] == "same")
    finally:
        for record in fake.calls("spawned"):
            psutil.Process(record["child"]).kill()


@versions
def test_a_worker_can_write_the_result_file_and_say_error_all_the_same(tmp_path: Path, profile: str) -> None:
    prompt = f"Do it.\nResult path: {tmp_path / 'result é.md'}\n"
    options = ("--model", "gemini-3.8-flash-high")
    answer = Fake(tmp_path / "error", profile, "worker_writes_then_error").ask(prompt, options=options)
    assert (answer.code, answer.result["status"]) == (0, "ERROR")
    assert "Conclusion: in progress" in (tmp_path / "result é.md").read_text(encoding="utf-8")
    answer = Fake(tmp_path / "good", profile, "worker_writes_result").ask(prompt, options=options)
    assert (answer.code, answer.result["response"]) == (0, "done\n")
    assert "the worker wrote this file" in (tmp_path / "result é.md").read_text(encoding="utf-8")
    assert Fake(tmp_path / "lost", profile, "worker_writes_result").ask("Do it.", options=options).code == 96


# The witness, and the same stdout again


def test_everything_a_call_was_given_is_witnessed(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.ask("Do it.", options=("--add-dir", str(tmp_path)))
    start, turn, end = fake.calls()
    assert start["argv"][-2:] == ["--add-dir", str(tmp_path)]
    assert Path(start["cwd"]) == (tmp_path / "cwd").resolve()
    assert (start["stdin"], start["stdout"], start["stderr"]) == ("file", "pipe", "pipe")
    assert set(start["env_names"]) >= {"PATH"}
    assert (turn["scenario"], turn["nth"]) == ("ok", 1)
    assert (end["exit"], end["stdin_head"]) == (0, user_line("Do it.").decode())


@pytest.mark.parametrize(
    ("argv", "rule"),
    [
        (("-p", "Do it."), "prompt-in-argv"),
        (("Do", "it."), None),
        (("--add-dir", ".", "-p", "/usage"), "relative-add-dir"),
        (("--model", "claude-sonnet-5-5-high", "--effort", "high", "-p", "/usage"), "effort-on-claude"),
        (("--bogus",), "refused-flag"),
        (("--version",), None),
    ],
)
def test_an_enforcing_home_ends_a_call_that_breaks_a_rule(
    tmp_path: Path, argv: tuple[str, ...], rule: str | None
) -> None:
    fake = Fake(tmp_path)
    fake.home.enforce.touch()
    answer = fake.run(*argv)
    assert [breach["rule"] for breach in fake.calls("breach")] == ([rule] if rule else [])
    assert (answer.code == 97) == (rule is not None)
    assert fake.calls("end")[-1]["exit"] == answer.code


def test_an_enforcing_home_does_not_let_a_secret_pass(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.home.enforce.touch()
    answer = fake.run("--version", env={"HARMLESS": "ghp_" + "a" * 36})
    assert (answer.code, answer.stdout) == (97, b"")
    assert "HARMLESS" in answer.stderr
    assert "a" * 36 not in fake.home.calls.read_text(encoding="utf-8") + answer.stderr


def test_an_enforcing_home_does_not_let_a_probe_have_an_open_stdin(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.home.enforce.touch()
    assert fake.run("models", stdin=b"").code == 0
    reading, writing = os.pipe()
    process = fake.start("models", stdin=reading)
    process.communicate(timeout=DEADLINE_S)
    os.close(reading)
    os.close(writing)
    assert process.returncode == 97
    assert [breach["rule"] for breach in fake.calls("breach")] == ["open-stdin-on-probe"]


@versions
def test_under_a_file_clock_stdout_depends_on_nothing_but_what_was_asked(
    tmp_path: Path, profile: str
) -> None:
    seen = []
    for name in ("one", "two"):
        fake = Fake(tmp_path / name, profile, "ok_with_tools", account='clock = "file"')
        options = ("--model", "gemini-3.8-flash-high")
        runs = [fake.ask(prompt, options=options) for prompt in ("a", "b", "a")]
        piped = fake.run(*STREAM, *options, stdin=user_line("a"))
        place = json.dumps(str((fake.root / "cwd").resolve())).strip('"').encode()
        seen.append([run.stdout.replace(place, b"CWD") for run in (*runs, piped)])
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 4


def test_interactive_use_is_told_to_be_missing(tmp_path: Path) -> None:
    answer = Fake(tmp_path).run("-i", "Do it.")
    assert (answer.code, answer.stdout) == (96, b"")
    assert "interactive mode is not simulated" in answer.stderr


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [(("--version",), 0, "1.2.2\n"), (("scenarios",), 0, "ok_with_tools\n"), (("-p",), 2, "")],
)
def test_the_module_is_agy_and_has_commands_of_its_own(
    tmp_path: Path, argv: tuple[str, ...], code: int, words: str
) -> None:
    fake = Fake(tmp_path, "1.2.2")
    command = [sys.executable, "-m", "fake_agy", *argv]
    env = {**fake.env, "FAKE_AGY_HOME": str(fake.home.root), "PYTHONPATH": str(Path(__file__).parents[2])}
    seen = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert seen.returncode == code
    assert words in seen.stdout.decode().replace("\r\n", "\n")


def test_an_unusable_home_or_script_is_told_in_one_line(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.home.script.write_text('default = "nowhere"', encoding="utf-8")
    answer = fake.ask("x")
    assert (answer.code, answer.stderr.count("\n")) == (96, 1)
    assert "no scenario 'nowhere'" in answer.stderr
    fake.home.account.write_text("profile = 1", encoding="utf-8")
    assert fake.run("--version").code == 96
