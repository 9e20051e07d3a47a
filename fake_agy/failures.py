"""How a version shows a failure of the service: result text, stderr, AGY_ERROR, exit code. Values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fake_agy import texts
from fake_agy.durations import format_duration

if TYPE_CHECKING:
    from fake_agy.profiles import Profile


class Failure(NamedTuple):
    """One failure as a version shows it; *stderr* lacks the prefix, *api* is what AGY_ERROR says."""

    error: str
    exit_code: int
    stderr: str = ""
    api: tuple[str, str, int, str] | None = None
    log: str = ""
    keeps_usage: bool = True


KINDS = ("credits", "per_minute", "capacity", "network", "auth_revoked")


def quota(profile: Profile, reset_s: float, *, partial: bool) -> Failure:
    """Return the stop of an empty quota that resets in *reset_s*."""
    words = texts.QUOTA.format(reset=format_duration(round(reset_s)))
    short = f"RESOURCE_EXHAUSTED (code 429): {words}"
    cut = texts.TRUNCATED if partial and profile.agy_error else ""
    return Failure(
        f"API error (attempt 5): {short}{cut}",
        profile.quota_exit,
        stderr="" if profile.quota_stop == "retried" else words + cut,
        api=(short, "RESOURCE_EXHAUSTED", 429, "http"),
        log=f"agent executor error: {short}",
        keeps_usage=False,
    )


def of_kind(profile: Profile, kind: str, model: str) -> Failure:
    """Return the failure of one of KINDS as *profile* shows it; KeyError for another."""
    check_quota = f"RESOURCE_EXHAUSTED (code 429): {texts.PER_MINUTE}"
    no_capacity = f"UNAVAILABLE (code 503): {texts.NO_CAPACITY.format(model=model)}"
    exhausted = ("RESOURCE_EXHAUSTED", 429, "http")
    table = {
        "credits": Failure(
            texts.CREDITS + (texts.TRUNCATED if profile.agy_error else ""),
            profile.quota_exit,
            texts.CREDITS + (texts.TRUNCATED if profile.agy_error else ""),
            (check_quota, *exhausted),
        ),
        "per_minute": Failure(
            f"API error (attempt 5): {check_quota}",
            profile.quota_exit,
            check_quota,
            (check_quota, *exhausted),
            keeps_usage=False,
        ),
        "capacity": Failure(
            f"API error (attempt 1): {no_capacity}",
            profile.api_failure_exit,
            api=(no_capacity, "UNAVAILABLE", 503, "http"),
            keeps_usage=False,
        ),
        "network": Failure(
            texts.NETWORK + texts.TRUNCATED,
            profile.api_failure_exit,
            texts.NETWORK,
            (texts.NETWORK, "UNKNOWN", 2, "grpc"),
        ),
        "auth_revoked": Failure(texts.REVOKED, 1, texts.AUTH_REQUIRED, log=texts.REVOKED),
    }
    return table[kind]
