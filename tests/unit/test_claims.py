"""Whether an earlier unit speaks for a result."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from prun.core.claims import SLACK_S, speaks_for
from prun.core.timestamps import rfc3339
from prun.core.unit_snapshot import Document, Found, ResultLook, UnitSnapshot
from tests.support.units import OUTCOME

ENDED = datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)
OVER = UnitSnapshot(Found.REGULAR, outcome=replace(OUTCOME, ended_at=rfc3339(ENDED)))


def written(after_s: float) -> ResultLook:
    return ResultLook(Document.PRESENT, (1, 2, 3, 4), ENDED.timestamp() + after_s)


@pytest.mark.parametrize("result", [written(1e6), ResultLook(Document.MISSING)], ids=["there", "to come"])
def test_a_unit_that_is_not_over_speaks_for_its_result(result: ResultLook) -> None:
    assert speaks_for(UnitSnapshot(Found.REGULAR), result)


@pytest.mark.parametrize(
    ("result", "speaks"),
    [
        (written(-3600), True),
        (written(SLACK_S), True),
        (written(SLACK_S + 1), False),
        (ResultLook(Document.MISSING), False),
        (ResultLook(Document.BLANK), False),
        (ResultLook(Document.IRREGULAR), False),
    ],
    ids=["older", "as old", "newer", "missing", "blank", "no file"],
)
def test_a_unit_that_is_over_speaks_for_what_was_there_when_it_ended(
    result: ResultLook, speaks: bool
) -> None:
    assert speaks_for(OVER, result) is speaks


def test_an_end_that_cant_be_read_is_given_the_benefit_of_the_doubt() -> None:
    unit = UnitSnapshot(Found.REGULAR, outcome=replace(OUTCOME, ended_at="yesterday"))
    assert speaks_for(unit, written(3600))
