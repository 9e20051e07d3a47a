from __future__ import annotations

from typing import Any

import pytest

from prun.core.denials import KEPT, is_refusal, merged, read_denials

JETSKI = (
    'a tool required the "command" permission that headless mode cannot prompt for, so it was auto-denied. '
    "Add an allow-rule under permissions.allow in settings.json"
)


@pytest.mark.parametrize(
    "message",
    [
        'permission check failed for command "touch x": denied',
        "  Permission check failed for write_file",
        'TOOL_ERROR: error: permission check failed for read_url "https://example.org"',
        JETSKI,
        f"jetski: no output produced — {JETSKI}",
    ],
)
def test_agys_own_words_are_a_refusal(message: str) -> None:
    assert is_refusal(message)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "exit status 1",
        "touch: cannot touch '/x': Permission denied",
        "EACCES: permission denied, open '/x'",
        "the log says: a permission check failed for someone else",
        "no permission here. " + "x" * 300 + " auto-denied",
    ],
)
def test_an_ordinary_tool_error_is_none(message: str) -> None:
    assert not is_refusal(message)


@pytest.mark.parametrize(
    ("value", "denials"),
    [
        (None, ()),
        ([], ()),
        (7, ()),
        ("", ()),
        ({}, ()),
        ("command", ("command",)),
        ({"action": "mcp"}, ({"action": "mcp"},)),
        (
            [{"action": "command", "display_name": "RunCommand"}, "mcp"],
            ({"action": "command", "display_name": "RunCommand"}, "mcp"),
        ),
        ([None, 1, [], {}, "", {"action": None}], ("unknown",) * 6),
        ([{"action": "a\ud800", "extra": {"deep": []}, "n": 1}], ({"action": "a\ufffd"},)),
    ],
)
def test_denied_actions_are_read_in_any_form(value: Any, denials: tuple[Any, ...]) -> None:
    assert read_denials(value) == denials


def test_denied_actions_are_bounded() -> None:
    many = read_denials([{"action": "x" * 10_000, **{str(n): "y" for n in range(1000)}}] * 1000)
    assert len(many) == KEPT
    assert isinstance(many[0], dict)
    assert len(many[0]) < 10
    assert len(many[0]["action"]) <= 200


def test_later_denials_join_the_earlier_ones_once() -> None:
    assert merged(("a", "b"), ("b", "c")) == ("a", "b", "c")
    assert len(merged(tuple(map(str, range(KEPT))), ("more",))) == KEPT
