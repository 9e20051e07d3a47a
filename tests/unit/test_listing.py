"""What agy prints of its version and its models, in the forms seen and in others."""

from __future__ import annotations

import pytest

from prun.core.listing import Listing, read_models, read_version

HIGH, LOW, GPT = "gemini-3.8-flash-high", "gemini-3.8-flash-low", "gpt-oss-120b-medium"
CURRENT = f"{LOW}\tGemini 3.8 Flash (Low)\n{HIGH}\tGemini 3.8 Flash (High)\n{GPT}\tGPT-OSS 120B (Medium)\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.3.1\n", (1, 3, 1)),
        ("1.3.1\r\n", (1, 3, 1)),
        ("\ufeff1.2.10", (1, 2, 10)),
        ("v1.4.0", (1, 4, 0)),
        ("1.4.0-rc.1+build5", (1, 4, 0)),
        ("1.4", (1, 4)),
        ("\x1b[1m1.3.1\x1b[0m\n", (1, 3, 1)),
        ("agy version 1.3.1 (abcdef1)\n", (1, 3, 1)),
        ("You run agy 1.3.1.\n", (1, 3, 1)),
        ("update available: 1.4.0\n1.3.1\n", (1, 3, 1)),
        ("listening on 127.0.0.1\n", None),
        ("go1.22.1", None),
        ("", None),
        ("unknown", None),
        ("3", None),
        ("\u0661.\u0662.\u0663", None),
        ("9" * 5000 + ".1", None),
    ],
    ids=range(17),
)
def test_a_version_is_read(text: str, version: tuple[int, ...] | None) -> None:
    assert read_version(text) == version


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        (CURRENT, (LOW, HIGH, GPT)),
        (CURRENT.replace("\n", "\r\n"), (LOW, HIGH, GPT)),
        (f"{LOW}\n{HIGH}\n", (LOW, HIGH)),
        (f"{HIGH}  Gemini 3.8 Flash (High)\n", (HIGH,)),
        (f"{HIGH} Gemini 3.8 Flash (High)\n", (HIGH,)),
        (f"Available models:\n  {HIGH}\tGemini\n", (HIGH,)),
        (f"Fetching available models...\n{HIGH}\n", (HIGH,)),
        (f"Fetching available models...\r{HIGH}\tGemini\n", (HIGH,)),
        (f"\ufeff{HIGH}\n", (HIGH,)),
        (f"\x1b[1m{HIGH}\x1b[0m\tGemini\n", (HIGH,)),
        (f"\x1b]8;;https://x\x07{HIGH}\x1b]8;;\x07\n", (HIGH,)),
        (f"- {HIGH}\n* {LOW}\n\u2022 {GPT}\n", (HIGH, LOW, GPT)),
        (f"1. {HIGH}\n12) {LOW}\n", (HIGH, LOW)),
        (f"> {HIGH} (current)\n", (HIGH,)),
        (f"\u2022{HIGH}\n", (HIGH,)),
        (f"{HIGH}\tGemini\n{HIGH}\tGemini\n", (HIGH,)),
        ("my-house-model-2 Our own\n", ("my-house-model-2",)),
        ("Custom_Model\tOur own\n", ("Custom_Model",)),
        ("vendor/model-1:free\n", ("vendor/model-1:free",)),
        (f"\n\n{HIGH}", (HIGH,)),
    ],
    ids=range(20),
)
def test_slugs_are_read_in_order(text: str, slugs: tuple[str, ...]) -> None:
    listing = read_models(text)
    assert listing.slugs == slugs
    assert listing.readable


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", ()),
        ("\n \r\n\ufeff", ()),
        ("Available models:\nFetching available models...\n", ()),
        (
            "Gemini 3.8 Flash (High)\nGPT-OSS 120B (Medium)\n",
            ("Gemini 3.8 Flash (High)", "GPT-OSS 120B (Medium)"),
        ),
        ("- Claude Opus 4.6 (Thinking)", ("Claude Opus 4.6 (Thinking)",)),
        ("log-in is required to list models", ("log-in is required to list models",)),
        ("agy-1.4.0 is available, run agy update", ("agy-1.4.0 is available, run agy update",)),
        ("--print-timeout duration  how long", ("--print-timeout duration  how long",)),
        ("models", ("models",)),
        ("a\x07b", ("a\\x07b",)),
    ],
    ids=range(10),
)
def test_a_listing_without_slugs_is_unreadable_and_tells_what_was_seen(
    text: str, labels: tuple[str, ...]
) -> None:
    listing = read_models(text)
    assert listing == Listing((), labels)
    assert not listing.readable
