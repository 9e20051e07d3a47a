"""The account as its file tells it: version, sign-in, plan, models, buckets, ceiling, clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fake_agy.home import SetupError
from fake_agy.profiles import DEFAULT_VERSION, PROFILES, Profile

if TYPE_CHECKING:
    from fake_agy.home import Home

_HOUR_S = 3600
_WEEK_S = 7 * 24 * _HOUR_S


class Bucket(NamedTuple):
    """One meter: *capacity* units per window, each turn of a model of *group* takes *cost* of them."""

    id: str
    group: str
    window: str
    window_s: int
    capacity: int = 1000
    cost: int = 1


class Account(NamedTuple):
    """Everything that the account's file may say; the defaults are a signed-in account with full buckets."""

    profile: Profile = PROFILES[DEFAULT_VERSION]
    signed_in: bool = True
    plan: str = "Google AI Pro"
    permission_mode: str = "request-review"
    models: tuple[str, ...] | None = None
    buckets: tuple[Bucket, ...] = ()
    ceiling: Bucket | None = None
    file_clock: bool = False
    seed: int = 0
    allowed_env: tuple[str, ...] = ()


BUCKETS = (
    Bucket("gemini-weekly", "gemini", "weekly", _WEEK_S, 10_000),
    Bucket("gemini-5h", "gemini", "5h", 5 * _HOUR_S),
    Bucket("3p-weekly", "3p", "weekly", _WEEK_S, 10_000),
    Bucket("3p-5h", "3p", "5h", 5 * _HOUR_S),
)
DEFAULT = Account(buckets=BUCKETS)
_KEYS = {
    "profile": str,
    "signed_in": bool,
    "plan": str,
    "permission_mode": str,
    "models": list,
    "bucket": dict,
    "ceiling": dict,
    "clock": str,
    "seed": int,
    "allowed_env": list,
}


def read_account(home: Home | None) -> Account:
    """Return the account of *home*; SetupError names the file and the key that is wrong."""
    if home is None or not home.account.exists():
        return DEFAULT
    import tomllib

    try:
        table = tomllib.loads(home.account.read_text(encoding="utf-8"))
        return account_from(table)._replace(**_state(home, table))
    except (OSError, ValueError) as error:
        raise SetupError(f"{home.account}: {error}") from None


def account_from(table: dict[str, Any]) -> Account:
    """Return the account that *table* describes; ValueError names a key that is wrong."""
    for key, value in table.items():
        kind = _KEYS.get(key)
        if kind is None:
            raise ValueError(f"unknown key {key!r}; known are {', '.join(_KEYS)}")
        if not isinstance(value, kind):
            raise ValueError(f"{key!r} must be a {kind.__name__}")
    version = table.get("profile", DEFAULT_VERSION)
    if version not in PROFILES:
        raise ValueError(f"profile {version!r} is not one of {', '.join(PROFILES)}")
    clock = table.get("clock", "real")
    if clock not in {"real", "file"}:
        raise ValueError(f"clock {clock!r} is neither 'real' nor 'file'")
    models = table.get("models")
    ceiling = table.get("ceiling")
    return Account(
        profile=PROFILES[version],
        signed_in=table.get("signed_in", True),
        plan=table.get("plan", DEFAULT.plan),
        permission_mode=table.get("permission_mode", DEFAULT.permission_mode),
        models=None if models is None else tuple(map(str, models)),
        buckets=_buckets(table.get("bucket", {}), free=table.get("plan", "").lower() == "free"),
        ceiling=None if ceiling is None else _bucket(Bucket("ceiling", "", "", _HOUR_S), ceiling),
        file_clock=clock == "file",
        seed=table.get("seed", 0),
        allowed_env=tuple(map(str, table.get("allowed_env", ()))),
    )


def _buckets(table: dict[str, Any], *, free: bool) -> tuple[Bucket, ...]:
    known = {bucket.id: bucket for bucket in BUCKETS}
    for name, values in table.items():
        if name not in known:
            raise ValueError(f"unknown bucket {name!r}; known are {', '.join(known)}")
        known[name] = _bucket(known[name], values)
    return tuple(bucket for bucket in known.values() if bucket.window == "weekly" or not free)


def _bucket(default: Bucket, values: Any) -> Bucket:
    allowed = ("capacity", "cost", "window_s")
    if not isinstance(values, dict) or not all(
        key in allowed and type(value) is int and value >= 0 for key, value in values.items()
    ):
        raise ValueError(f"bucket {default.id!r} takes {', '.join(allowed)}, whole numbers")
    return default._replace(**values)


def _state(home: Home, table: dict[str, Any]) -> dict[str, Any]:
    """Return what the home's state changes: a rejected sign-in stays so until its file is removed."""
    return {"signed_in": table.get("signed_in", True) and not home.signed_out.exists()}
