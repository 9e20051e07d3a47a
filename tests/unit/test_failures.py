"""Each of agy's error texts names its cause, and nothing else does."""

from __future__ import annotations

import pytest

from prun.core.failures import TEXT_LIMIT, Failure, LastOfEachKind, classify, failure_in
from prun.core.outcome import Kind

QUOTA_TEXT = "Individual quota reached. Please upgrade your subscription to increase your limits."
CHECK_QUOTA = "RESOURCE_EXHAUSTED (code 429): Resource has been exhausted (e.g. check quota)."
CREDITS_TEXT = "Your AI credits balance is too low to continue."
NETWORK_TEXT = "There was a network issue connecting to the server, please try again."

TEXTS = [
    (Kind.QUOTA, f"{QUOTA_TEXT} Resets in 37h50m21s."),
    (Kind.QUOTA, f"API error (attempt 5): RESOURCE_EXHAUSTED (code 429): {QUOTA_TEXT} Resets in 76h3m46s."),
    (Kind.QUOTA, f"RESOURCE_EXHAUSTED (code 429): {QUOTA_TEXT}"),
    (Kind.QUOTA, "Contact your administrator to enable overages. Resets in 152h59m39s."),
    (Kind.QUOTA, "RESOURCE_EXHAUSTED (code 429): You have used it up. Resets in ~2h"),
    (Kind.QUOTA, "RESOURCE_EXHAUSTED (code 429): Your quota will reset after 25h20m26.18s"),
    (Kind.QUOTA, '{"reason":"QUOTA_EXHAUSTED","metadata":{"quotaResetDelay":"172514s"}}'),
    (Kind.QUOTA, 'RESOURCE_EXHAUSTED (code 429): {"retryDelay":"391609.79s"}'),
    (Kind.QUOTA, f"{CREDITS_TEXT} (response may be truncated)"),
    (Kind.QUOTA, "Insufficient AI credits"),
    (Kind.AUTH, "authentication required. Run 'agy' to log in, then retry."),
    (Kind.AUTH, "authentication failed or timed out"),
    (Kind.AUTH, "Eligibility check failed: your account is not eligible for Antigravity"),
    (Kind.AUTH, "Account ineligible: restricted"),
    (Kind.AUTH, "Verify your account to continue"),
    (Kind.AUTH, "This account was disabled for violating the Terms of Service"),
    (Kind.AUTH, "UNAUTHENTICATED (code 401): the stored sign-in was rejected by the server"),
    (Kind.AUTH, "PERMISSION_DENIED (code 403): caller may not use this project"),
    (Kind.AUTH, "oauth2: token has been expired or revoked"),
    (Kind.AUTH, 'oauth2: "invalid_grant"'),
    (Kind.AUTH, "You have been signed out. Please sign in again."),
    (Kind.AUTH, "You are not logged into Antigravity."),
    (Kind.CAPACITY, CHECK_QUOTA),
    (Kind.CAPACITY, "Quota exceeded for requests per minute. Resets in 30s"),
    (Kind.CAPACITY, 'RESOURCE_EXHAUSTED (code 429): {"retryDelay":"37s"}'),
    (Kind.CAPACITY, "API error (attempt 1): UNAVAILABLE (code 503): No capacity available for model m"),
    (Kind.CAPACITY, "UNAVAILABLE (code 503): The service is currently unavailable."),
    (Kind.CAPACITY, "MODEL_CAPACITY_EXHAUSTED (code 503): reset after 15s"),
    (Kind.CAPACITY, "HTTP 429 Too Many Requests"),
    (Kind.CAPACITY, "DEADLINE_EXCEEDED (code 504)"),
    (Kind.NETWORK, f"{NETWORK_TEXT} (response may be truncated)"),
    (Kind.NETWORK, "UNKNOWN (code 2): connection error: desc = transport is closing"),
    (Kind.NETWORK, 'Post "https://x/": dial tcp: lookup x: no such host'),
    (Kind.NETWORK, "read tcp 10.0.0.1:1->10.0.0.2:443: read: connection reset by peer"),
    (Kind.NETWORK, "connect ECONNREFUSED 127.0.0.1:443"),
    (Kind.NETWORK, "remote error: tls: bad certificate"),
    (Kind.NETWORK, "unexpected EOF"),
    (Kind.NETWORK, "agent stream was dropped before the turn ended"),
    (Kind.TIMEOUT, "timeout waiting for response"),
    (Kind.TIMEOUT, "timeout waiting for response (response may be truncated)"),
    (Kind.ERROR, "interrupted"),
    (Kind.ERROR, 'invalid model selection (--model "x" --effort ""): model x is not recognized'),
    (Kind.ERROR, "--model gemini-3.1-pro-high conflicts with --effort=medium"),
    (Kind.ERROR, '--effort is not supported for model "claude-sonnet-4-6"'),
    (Kind.ERROR, 'gemini-3.8-flash has no "xhigh" effort (available: low, medium, high)'),
    (Kind.ERROR, 'invalid --effort "bogus" (valid: low, medium, high, xhigh, max)'),
    (Kind.ERROR, "FAILED_PRECONDITION (code 400): User location is not supported for the API use."),
]

NOTHING = [
    "",
    "the model returned no content",
    "timeout waiting for response headers",
    "UNKNOWN (code 2): internal",
    "INTERNAL (code 500): oops",
    "quota",
    "port 503 is taken",
    "the tool was interrupted by the user",
    "token count is 4",
]


@pytest.mark.parametrize(("kind", "text"), TEXTS, ids=[text[:60] for _, text in TEXTS])
def test_a_known_text_names_its_cause(kind: Kind, text: str) -> None:
    failure = failure_in(text)
    assert failure is not None
    assert (failure.kind, failure.text) == (kind, text)


@pytest.mark.parametrize("text", NOTHING, ids=repr)
def test_another_text_names_none(text: str) -> None:
    assert failure_in(text) is None


@pytest.mark.parametrize(
    ("text", "reset_s"),
    [
        (f"{QUOTA_TEXT} Resets in 34m7s.", 2047.0),
        (f"{QUOTA_TEXT} Resets in ~2h", 7200.0),
        ('QUOTA_EXHAUSTED "retryDelay": "60s"', 60.0),
        (CREDITS_TEXT, None),
        ("UNAVAILABLE (code 503): no capacity available, reset after 15s", None),
    ],
    ids=["duration", "about", "retry delay", "credits", "no quota stop"],
)
def test_only_a_quota_stop_has_a_reset(text: str, reset_s: float | None) -> None:
    failure = failure_in(text)
    assert failure is not None
    assert failure.reset_s == reset_s


def test_the_words_kept_are_one_bounded_line() -> None:
    failure = failure_in("Individual quota\nreached\x00" + "x" * 100_000)
    assert failure is not None
    assert failure.text.startswith("Individual quota reached\\x00")
    assert len(failure.text) == TEXT_LIMIT


QUOTA = Failure(Kind.QUOTA, CREDITS_TEXT)
STOP = Failure(Kind.QUOTA, QUOTA_TEXT, 2047.0)
AUTH = Failure(Kind.AUTH, "signed out")
BUSY = Failure(Kind.CAPACITY, CHECK_QUOTA)
LOST = Failure(Kind.NETWORK, NETWORK_TEXT)
MISTAKE = Failure(Kind.ERROR, "invalid model selection")


@pytest.mark.parametrize(
    ("error", "stderr", "log", "expected"),
    [
        (None, [], [], None),
        ("no words we know", [], [], None),
        (CHECK_QUOTA, [], [], BUSY),
        (CHECK_QUOTA, [QUOTA], [], QUOTA),
        (NETWORK_TEXT, [AUTH], [], AUTH),
        (NETWORK_TEXT, [BUSY, LOST], [STOP], BUSY),
        (CREDITS_TEXT, [STOP], [], STOP),
        (CREDITS_TEXT, [QUOTA], [STOP], QUOTA),
        ("invalid model selection", [LOST], [STOP], MISTAKE),
        ("no words we know", [LOST], [STOP], LOST),
        (None, [MISTAKE], [STOP], MISTAKE),
        (None, [], [LOST, STOP], STOP),
    ],
    ids=[
        "nothing",
        "unknown error",
        "error alone",
        "credits beside a plain 429",
        "sign-in beside network",
        "stderr before log",
        "the stop with a reset",
        "log not asked",
        "the caller's own mistake",
        "stderr where the error is unknown",
        "a mistake told on stderr",
        "log alone",
    ],
)
def test_error_and_stderr_are_weighed_together_and_the_log_comes_last(
    error: str | None, stderr: list[Failure], log: list[Failure], expected: Failure | None
) -> None:
    assert classify(error, stderr, log) == expected


def test_the_last_failure_of_each_kind_is_kept_and_a_known_reset_is_not_lost() -> None:
    memory = LastOfEachKind()
    later_stop = Failure(Kind.QUOTA, "again", 60.0)
    for failure in (LOST, QUOTA, STOP, later_stop, QUOTA, Failure(Kind.NETWORK, "newer")):
        memory.add(failure)
    assert memory.failures() == (later_stop, Failure(Kind.NETWORK, "newer"))
