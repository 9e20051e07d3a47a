"""How a property shows that it can fail: on versions known to be bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, find, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

_SEARCH = settings(
    max_examples=5_000,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def assert_caught(check: Callable[[T], None], cases: SearchStrategy[T]) -> None:
    """Assert that *check*, which asserts a property of a bad version, fails on one of *cases*."""

    def fails(case: T) -> bool:
        try:
            check(case)
        except AssertionError:
            return True
        return False

    with pytest.raises(AssertionError):
        check(find(cases, fails, settings=_SEARCH))
