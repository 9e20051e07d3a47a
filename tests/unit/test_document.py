"""What stands at a result path: the answer as it is, or a FALLBACK nobody takes for one."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from prun.core.document import (
    SHOWN_BYTES,
    fallback_document,
    is_fallback,
    readable,
    response_path,
    result_document,
)

MARKER = "# u-1_b result (FALLBACK, Agy wrote no final result)"


def fallback(
    reason: str = "Agy exited with code 9",
    salvaged: str = "",
    kept: str | None = None,
    tail_end: bytes = b"",
    stderr_end: bytes = b"",
) -> str:
    document = fallback_document(
        "u-1_b", reason, salvaged=salvaged, response_path=kept, tail_end=tail_end, stderr_end=stderr_end
    )
    return document.decode()


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("391", b"391\n"),
        ("\n\n# u result\r\nok  \n\n", b"# u result\r\nok\n"),
        ("\ufeff grüße", "grüße\n".encode()),
        ("half \ud800 pair", "half \ufffd pair\n".encode()),
    ],
    ids=ascii,
)
def test_a_result_is_the_stripped_response_and_one_line_feed(response: str, document: bytes) -> None:
    assert result_document(response) == document


def test_a_fallback_with_nothing_saved_is_its_five_lines() -> None:
    assert fallback() == (
        f"{MARKER}\n"
        "Conclusion: INCOMPLETE; Agy exited with code 9\n"
        "Files: unknown\n"
        "Open items: Agy exited with code 9\n"
        "Verification: none (dispatcher fallback)\n"
    )


def test_a_kept_response_is_named_behind_the_five_lines() -> None:
    lines = fallback(kept="/w/u.response.md", tail_end=b"x").splitlines()
    assert lines[5] == "Response: kept in /w/u.response.md"


def test_the_saved_parts_follow_in_fences_in_order() -> None:
    text = fallback(salvaged="half an answer", tail_end=b'{"event":"init"}\n', stderr_end=b"error: no\n")
    assert text.endswith(
        "Verification: none (dispatcher fallback)\n"
        "\n## Answer text salvaged from the stream\n\n```text\nhalf an answer\n```\n"
        '\n## End of the worker\'s output\n\n```text\n{"event":"init"}\n```\n'
        "\n## End of its stderr\n\n```text\nerror: no\n```\n"
    )


def test_blank_parts_are_left_out() -> None:
    assert "##" not in fallback(salvaged=" \n", tail_end=b"\n\n", stderr_end=b" ")


def test_a_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    text = fallback(salvaged="````\nopen", tail_end=b"``````")
    assert "\n`````text\n````\nopen\n`````\n" in text
    assert "\n```````text\n``````\n```````\n" in text


def test_a_reason_can_not_add_lines_and_is_bounded() -> None:
    text = fallback(reason="no\n# x result\r\nConclusion: done\x1b[2J" + "y" * 5000)
    assert len(text.splitlines()) == 5
    assert text.splitlines()[0] == MARKER
    assert "\x1b" not in text
    assert len(text) < 2500


def test_a_path_with_control_characters_stays_on_its_line() -> None:
    assert "Response: kept in /w/a\\x0ab.response\n" in fallback(kept="/w/a\nb.response")


def test_what_is_not_utf8_or_not_printable_is_replaced() -> None:
    text = fallback(tail_end=b"a\xffb\x00c\x1b[2Jd\te\r\n", stderr_end=b"\xe2\x82")
    assert "a\ufffdb\ufffdc\ufffd[2Jd\te\n" in text
    assert "```text\n\ufffd\n```" in text


def test_only_the_last_256_kib_are_shown_and_no_line_is_torn() -> None:
    first, second = b"a" * 1000 + b"\n", b"b" * (SHOWN_BYTES - 10) + b"\n"
    text = fallback(tail_end=first + second)
    assert "a" * 10 not in text
    assert "b" * (SHOWN_BYTES - 10) in text


def test_one_endless_line_is_cut_at_a_character() -> None:
    text = fallback(tail_end="€".encode() * SHOWN_BYTES)
    assert "\ufffd" not in text
    assert SHOWN_BYTES // 3 - 1 <= text.count("€") <= SHOWN_BYTES // 3


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"torn\nwhole\n", "whole\n"),
        (b"torn\n", "torn\n"),
        (b"\x82\xactorn", "torn"),
        (b"", ""),
    ],
    ids=repr,
)
def test_a_cut_text_begins_with_a_whole_line_or_character(data: bytes, text: str) -> None:
    assert readable(data, cut=True) == text


@pytest.mark.parametrize(
    "data",
    [
        fallback_document("u", "r", salvaged="", response_path=None, tail_end=b"", stderr_end=b""),
        b"# u-1_B result (FALLBACK, Agy wrote no final result)\r\n",
        b"# u result (FALLBACK, in other words)",
        b"\xef\xbb\xbf# u result (FALLBACK, Agy",
        ("\ufeff" + MARKER + "\r\n").encode("utf-16-le"),
        ("\ufeff" + MARKER).encode("utf-16-be"),
        MARKER.encode("utf-16-le"),
        MARKER.encode("utf-16-be") + b"\x00",
        f"# {'u' * 64} result (FALLBACK, ".encode("utf-16-le") + b"x" * 10_000,
    ],
    ids=["own", "crlf", "other words", "mark", "utf-16 le", "be", "le without mark", "be, odd", "longest"],
)
def test_a_fallback_is_known_by_its_first_bytes(data: bytes) -> None:
    assert is_fallback(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"# u result\nConclusion: done\n",
        b"\n" + MARKER.encode(),
        b" " + MARKER.encode(),
        b"> " + MARKER.encode(),
        b"# u v result (FALLBACK, x",
        b"#  result (FALLBACK, x",
        b"# u result (fallback, x",
        b"# u result (FALLBACK)",
        b"x" * 1000 + MARKER.encode(),
    ],
    ids=repr,
)
def test_anything_else_is_none(data: bytes) -> None:
    assert not is_fallback(data)


def test_no_answer_can_pass_for_a_fallback_from_inside_one() -> None:
    assert fallback(salvaged=MARKER).splitlines()[0] == MARKER
    assert not is_fallback(result_document("The unit answered:\n" + MARKER))


PATHS = [
    ("/w/u.md", "/w/u.response.md"),
    ("/w/u", "/w/u.response"),
    ("/w/u.tar.gz", "/w/u.tar.response.gz"),
    ("/w.d/u", "/w.d/u.response"),
    ("/w/.hidden", "/w/.hidden.response"),
    ("/w/.hidden.md", "/w/.hidden.response.md"),
    ("u.md", "u.response.md"),
]


@pytest.mark.parametrize(("result", "response"), PATHS, ids=str)
def test_a_response_is_kept_beside_the_result(result: str, response: str) -> None:
    assert response_path(result) == response
    path = PurePosixPath(result)
    assert PurePosixPath(response) == path.with_name(f"{path.stem}.response{path.suffix}")


def test_a_windows_path_is_split_at_its_own_separators() -> None:
    result = r"C:\w.d\u.md"
    path = PureWindowsPath(result)
    assert PureWindowsPath(response_path(result)) == path.with_name(f"{path.stem}.response{path.suffix}")
    assert response_path(r"C:\w.d\u") == r"C:\w.d\u.response"
    assert response_path("/w/u.") == "/w/u..response"
