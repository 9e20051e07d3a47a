"""How each version shows a failure of the service."""

from __future__ import annotations

import pytest

from fake_agy import failures
from fake_agy.profiles import PROFILES

QUOTA = "Individual quota reached. Please upgrade your subscription to increase your limits. Resets in 34m7s."


@pytest.mark.parametrize(
    ("version", "partial", "error", "stderr", "code"),
    [
        ("1.3.5", False, f"API error (attempt 5): RESOURCE_EXHAUSTED (code 429): {QUOTA}", QUOTA, 3),
        (
            "1.3.5",
            True,
            f"API error (attempt 5): RESOURCE_EXHAUSTED (code 429): {QUOTA} (response may be truncated)",
            f"{QUOTA} (response may be truncated)",
            3,
        ),
        ("1.2.2", False, f"API error (attempt 5): RESOURCE_EXHAUSTED (code 429): {QUOTA}", "", 0),
        ("1.2.2", True, f"API error (attempt 5): RESOURCE_EXHAUSTED (code 429): {QUOTA}", "", 0),
    ],
)
def test_a_quota_stop_reads_as_its_version_prints_it(
    version: str, partial: bool, error: str, stderr: str, code: int
) -> None:
    failure = failures.quota(PROFILES[version], 2047, partial=partial)
    assert (failure.error, failure.stderr, failure.exit_code, failure.keeps_usage) == (
        error,
        stderr,
        code,
        False,
    )


@pytest.mark.parametrize(
    ("kind", "words", "stderr", "codes"),
    [
        ("credits", "Your AI credits balance is too low to continue.", True, (3, 0)),
        ("per_minute", "Resource has been exhausted (e.g. check quota).", True, (3, 0)),
        (
            "capacity",
            "UNAVAILABLE (code 503): No capacity available for model m on the server",
            False,
            (3, 1),
        ),
        ("network", "There was a network issue connecting to the server, please try again.", True, (3, 1)),
        ("auth_revoked", "UNAUTHENTICATED (code 401)", True, (1, 1)),
    ],
)
def test_a_failure_of_a_kind_reads_as_its_version_prints_it(
    kind: str, words: str, stderr: bool, codes: tuple[int, int]
) -> None:
    for version, code in zip(("1.3.5", "1.2.2"), codes, strict=True):
        failure = failures.of_kind(PROFILES[version], kind, "m")
        assert words in failure.error
        assert (bool(failure.stderr), failure.exit_code) == (stderr, code)


def test_every_kind_has_its_failure() -> None:
    for profile in PROFILES.values():
        for kind in failures.KINDS:
            assert failures.of_kind(profile, kind, "m").error
