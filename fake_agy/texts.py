"""What agy says in words: every text that more than one module or version needs."""

from __future__ import annotations

import json

AUTH_REQUIRED = "authentication required. Run 'agy' to log in, then retry."
AUTH_URL_PROMPT = "Authentication required. Please visit the URL to log in:"
AUTH_URL = "  https://accounts.google.com/o/oauth2/auth?client_id=fake-agy&response_type=code"
AUTH_WAITING = "Waiting for authentication (timeout 30s)..."
AUTH_PASTE = "Or, paste the authorization code here and press Enter:"
AUTH_GAVE_UP = "authentication failed or timed out"
AUTH_NOISE = "You are not logged into Antigravity."

QUOTA = (
    "Individual quota reached. Please upgrade your subscription to increase your limits. Resets in {reset}."
)
PER_MINUTE = "Resource has been exhausted (e.g. check quota)."
CREDITS = "Your AI credits balance is too low to continue."
NO_CAPACITY = "No capacity available for model {model} on the server"
NETWORK = "There was a network issue connecting to the server, please try again."
TRUNCATED = " (response may be truncated)"
INTERRUPTED = "interrupted"
PRINT_TIMEOUT_ERROR = "timeout waiting for response"
PRINT_TIMEOUT_NOTICE = "[agy] print timeout after {duration} with turn in progress; returning partial output"
REVOKED = "API error (attempt 1): UNAUTHENTICATED (code 401): the stored sign-in was rejected by the server"
BANNER = "Note: this conversation is open in another agy instance; changes there are not shown here."

DENIED = (
    'jetski: no output produced — a tool required the "{action}" permission that headless mode cannot prompt'
    " for, so it was auto-denied. Add an allow-rule under permissions.allow in settings.json"
    " (e.g. {action}(<target>)). Alternatively, re-run with --dangerously-skip-permissions to"
    " auto-approve all tools."
)
DENIED_STEP = 'permission check failed for {action} "{target}": headless mode cannot prompt'
UNKNOWN_CONVERSATION = 'warning: conversation "{id}" not found'
UNKNOWN_MODE = 'warning: unrecognized --mode value "{mode}"'
PLAN_WITHOUT_SLASH = "warning: --mode plan has no effect while slash command expansion is disabled"
IGNORED_INPUT = 'warning: ignoring unsupported stream input "{event}"'
FETCHING = "Fetching available models..."

STREAM_NEEDS_STREAM = "--input-format stream-json requires --output-format stream-json"
STREAM_WITH_PROMPT = "--input-format stream-json reads prompts from stdin and cannot be combined with --print"
POSITIONAL = (
    'unexpected argument "{word}": prompts are read only from -p/--print, -i/--prompt-interactive or stdin'
)
EMPTY_PROMPT = "empty prompt: nothing to send"
NO_EVENT = 'stream input message is missing the "event" field'
BAD_LINE = "stream input line {line} is not valid JSON"
BAD_CONTENT = "stream input message content must be a string or text blocks"
UNSUPPORTED_EVENT = 'unsupported stream input event "{event}"'
SLASH_REFUSED = (
    "{command} is not available in print mode; pass --disable-slash-commands to send it as a prompt"
)
SLASH_ARGUMENTS = (
    '{command} takes no arguments, got "{rest}"; pass --disable-slash-commands to send it as a prompt'
)
SCHEMA_UNREADABLE = "invalid --json-schema: {error}"
SCHEMA_ROOT = '--json-schema root must have "type":"object"'


def error_payload(
    short_error: str, status: str, code: int, kind: str, *, retryable: bool, error_id: str
) -> str:
    """Return the one-line ``AGY_ERROR`` marker that versions from 1.2.6 on print on stderr."""
    body = {
        "short_error": short_error,
        "status": status,
        "error_code": code,
        "code_kind": kind,
        "retryable": retryable,
        "error_id": error_id,
    }
    return "AGY_ERROR: " + json.dumps(body, ensure_ascii=False, separators=(",", ":"))
