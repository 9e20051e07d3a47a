from __future__ import annotations

import pytest

from prun.core.salvage import Salvage


def salvaged(*deltas: tuple[int | None, str], limit_bytes: int = 1000) -> str:
    salvage = Salvage(limit_bytes)
    for step, delta in deltas:
        salvage.add(step, delta)
    return salvage.text()


@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        ([], ""),
        ([(2, "a"), (2, "b\n")], "ab\n"),
        ([(2, "a"), (5, "b")], "a\n\nb"),
        ([(2, "a\n"), (5, "b")], "a\n\nb"),
        ([(2, "a\n\n"), (5, "b")], "a\n\nb"),
        ([(None, "a"), (None, "b")], "ab"),
        ([(2, " \n"), (5, "\n")], ""),
        ([(2, "\ufeff")], ""),
        ([(2, "a\ud800b")], "a\ufffdb"),
    ],
)
def test_steps_are_joined_with_a_blank_line_between_them(
    deltas: list[tuple[int | None, str]], text: str
) -> None:
    assert salvaged(*deltas) == text


@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        (["abcdefghijkl"], "efghijkl"),
        (["a"] * 20 + ["b"] * 4, "aaaabbbb"),
        (["€€€€"], "€€"),
        (["x€€€"], "€€"),
        (["😀😀😀"], "😀😀"),
    ],
)
def test_the_end_is_kept_from_a_whole_character_on(deltas: list[str], text: str) -> None:
    assert salvaged(*((1, delta) for delta in deltas), limit_bytes=8) == text
