"""What counts as success, as an answer, and as enough of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from prun.core.evidence import is_success
from prun.core.outcome import Kind
from prun.core.steps import RefusedTool
from tests.support.runs import (
    GOOD,
    failed,
    init,
    judged,
    result,
    stream,
)


@pytest.mark.parametrize("status", ["SUCCESS", "success", " Success\n", "", " ", "\ufeff"], ids=ascii)
def test_a_blank_or_success_status_is_success(status: str) -> None:
    assert is_success(status)
    assert judged(stream(init(), result(status=status))).completed


ODD_STATUSES: list[Any] = [None, True, 0, [], {}, ["SUCCESS"], "SUCCEEDED", "ERROR", "RUNNING", "OK"]


@pytest.mark.parametrize("status", ODD_STATUSES, ids=repr)
def test_any_other_status_is_not(status: Any) -> None:
    assert not is_success(status)
    assert judged(stream(init(), result(status=status))).kind is Kind.ERROR


def test_a_status_beyond_all_measure_is_named_by_its_type() -> None:
    transcript = replace(GOOD, has_status=True, status=10**5000)
    assert judged(transcript).reason == "Agy reported status of type int"


def test_a_missing_status_is_success_and_cannot_erase_an_earlier_error() -> None:
    assert judged(stream(init(), result(status=...))).completed
    assert judged(stream(init(), failed("oops"), result(status=...))).kind is Kind.ERROR


@pytest.mark.parametrize(
    ("response", "floor", "kind"),
    [
        ("x" * 19, 20, Kind.SHORT),
        ("x" * 20, 20, Kind.OK),
        ("€" * 7, 20, Kind.OK),
        ("€" * 6, 20, Kind.SHORT),
        (" " * 50 + "x" + "\n" * 50, 20, Kind.SHORT),
        ("x", 0, Kind.OK),
        ("", 0, Kind.SILENT),
        (" \n", 0, Kind.SILENT),
        ("\ufeff", 0, Kind.SILENT),
    ],
    ids=ascii,
)
def test_the_floor_is_in_bytes_of_the_stripped_response(response: str, floor: int, kind: Kind) -> None:
    assert judged(stream(init(), result(response)), min_result_bytes=floor).kind is kind


def test_refused_tools_alone_deny() -> None:
    transcript = replace(stream(init(), result("")), refused_tools=(RefusedTool("run_command", "no"),))
    assert judged(transcript).kind is Kind.DENIED
