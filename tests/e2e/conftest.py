"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in item.path.as_posix():
            item.add_marker(pytest.mark.e2e)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(tmp_path / "a lab é")
    yield made
    made.close()
