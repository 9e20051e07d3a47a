"""The fake's command line against Go's flag rules and agy's words."""

from __future__ import annotations

import pytest

from fake_agy.flags import FLAGS, FlagError, Options, parse_flags, usage


@pytest.mark.parametrize(
    ("argv", "changes"),
    [
        ([], {}),
        (["-p", "hello"], {"prompt": "hello"}),
        (["--print", "hello"], {"prompt": "hello"}),
        (["--prompt=hello"], {"prompt": "hello"}),
        (["-print=--looks-like-a-flag"], {"prompt": "--looks-like-a-flag"}),
        (["-p="], {"prompt": ""}),
        (["--print", ""], {"prompt": ""}),
        (["-p", "-"], {"prompt": "-"}),
        (["-sandbox"], {"sandbox": True}),
        (["--sandbox=false"], {"sandbox": False}),
        (["--sandbox=T"], {"sandbox": True}),
        (["--add-dir", "/a", "-add-dir=/b"], {"add_dirs": ("/a", "/b")}),
        (["--model", "a", "--model", "b"], {"model": "b"}),
        (["--print-timeout", "90s"], {"print_timeout_s": 90.0}),
        (["--print-timeout=1h2m3.5s"], {"print_timeout_s": 3723.5}),
        (["--print-timeout", "0"], {"print_timeout_s": 0.0}),
        (["--output-format", "json", "models"], {"output_format": "json", "words": ("models",)}),
        (["models", "--output-format", "json"], {"words": ("models", "--output-format", "json")}),
        (["--", "-p", "x"], {"words": ("-p", "x")}),
        (["-c"], {"continue_last": True}),
        (["--version"], {"version": True}),
        (["-h"], {"help": True}),
    ],
)
def test_a_command_line_reads_as_go_reads_it(argv: list[str], changes: dict[str, object]) -> None:
    assert parse_flags(argv) == Options()._replace(**changes)  # type: ignore[arg-type]  # named by the table


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["--bogus"], "flags provided but not defined: -bogus"),
        (["-m", "x"], "flags provided but not defined: -m"),
        (["--bogus=1"], "flags provided but not defined: -bogus"),
        (["---p"], "bad flag syntax: ---p"),
        (["-=x"], "bad flag syntax: -=x"),
        (["--model"], "flag needs an argument: -model"),
        (["-p"], "flag needs an argument: -p"),
        (["--print", "--model", "x"], "flag needs an argument: -print"),
        (["--sandbox=maybe"], 'invalid boolean value "maybe" for -sandbox: parse error'),
        (["--print-timeout", "90"], 'invalid value "90" for flag -print-timeout: parse error'),
        (["--print-timeout", "ten"], 'invalid value "ten" for flag -print-timeout: parse error'),
        (["--output-format", "xml"], 'invalid --output-format "xml" (valid: text, json, stream-json)'),
        (["--input-format=json"], 'invalid --input-format "json" (valid: text, stream-json)'),
    ],
)
def test_what_agy_refuses_is_refused_in_its_words(argv: list[str], text: str) -> None:
    with pytest.raises(FlagError) as caught:
        parse_flags(argv)
    assert caught.value.text == text


def test_usage_names_every_flag_that_is_not_hidden() -> None:
    text = usage()
    assert text.startswith("Usage of agy:\n")
    for name, flag in FLAGS.items():
        assert (f"  -{name}\n" in text or f"  -{name} " in text) == bool(flag.help)
