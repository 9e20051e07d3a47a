"""The records of a state directory, each as bytes and back.

A reader passes over fields it does not know and keeps kinds and verdicts it does not know; what a field
may be missing for is its default. Bytes that are no record of the kind give ``None``.
"""

from __future__ import annotations

from typing import Any, Final

from prun.core.codec import (
    Field,
    dump,
    flag,
    items,
    load,
    mapping,
    number,
    or_none,
    read_fields,
    text,
    text_mapping,
    texts,
    whole,
)
from prun.core.identity import Hold, HoldKind, Identity, Machine
from prun.core.outcome import Outcome, QuotaStop
from prun.core.request import Request
from prun.core.values import asdict, dataclass

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a unit, and by which version of prun: ``owner.<n>.json``."""

    identity: Identity
    prun: str
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Worker:
    """A unit's worker, how its tree is held and the program it runs: ``worker.json``."""

    identity: Identity
    hold: Hold
    program: str
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Publication:
    """What prun puts at a result path, written down before it does so: ``publish.json``."""

    author: str
    sha256: str
    size_bytes: int
    schema: int = SCHEMA


def encode_outcome(outcome: Outcome) -> bytes:
    """Return *outcome* as ``outcome.json`` holds it."""
    return dump(asdict(outcome))


def decode_outcome(data: bytes) -> Outcome | None:
    """Return the outcome that *data* holds, or ``None``."""
    values = _values(data, _OUTCOME)
    return None if values is None else Outcome(**values)


def encode_request(request: Request) -> bytes:
    """Return *request* as ``request.json`` holds it."""
    return dump(asdict(request))


def decode_request(data: bytes) -> Request | None:
    """Return the request that *data* holds, or ``None``."""
    values = _values(data, _REQUEST)
    return None if values is None else Request(**values)


def encode_owner(owner: Owner) -> bytes:
    """Return *owner* as ``owner.<n>.json`` holds it."""
    return dump({"schema": owner.schema, "prun": owner.prun, **_identity_fields(owner.identity)})


def decode_owner(data: bytes) -> Owner | None:
    """Return the owner that *data* names, or ``None``."""
    values = _values(data, {**_IDENTITY, "prun": Field(text, ""), "schema": _SCHEMA})
    return None if values is None else Owner(_identity(values), values["prun"], values["schema"])


def encode_worker(worker: Worker) -> bytes:
    """Return *worker* as ``worker.json`` holds it."""
    fields = {"schema": worker.schema, "program": worker.program, "hold": asdict(worker.hold)}
    return dump({**fields, **_identity_fields(worker.identity)})


def decode_worker(data: bytes) -> Worker | None:
    """Return the worker that *data* names, or ``None``; so too for a kind of hold that nobody can end."""
    table = {**_IDENTITY, "hold": Field(_hold), "program": Field(text, ""), "schema": _SCHEMA}
    values = _values(data, table)
    return (
        None
        if values is None
        else Worker(_identity(values), values["hold"], values["program"], values["schema"])
    )


def encode_publication(publication: Publication) -> bytes:
    """Return *publication* as ``publish.json`` holds it."""
    fields = asdict(publication)
    fields["size"] = fields.pop("size_bytes")
    return dump(fields)


def decode_publication(data: bytes) -> Publication | None:
    """Return the publication that *data* tells of, or ``None``."""
    values = _values(data, _PUBLICATION)
    if values is None:
        return None
    return Publication(values["author"], values["sha256"], values["size"], values["schema"])


def _values(data: bytes, table: dict[str, Field]) -> dict[str, Any] | None:
    loaded = load(data)
    return None if loaded is None else read_fields(loaded, table)


def _identity_fields(identity: Identity) -> dict[str, Any]:
    return {**asdict(identity.machine), "pid": identity.pid, "start": identity.start}


def _identity(values: dict[str, Any]) -> Identity:
    machine = Machine(values["host"], values["boot"], values["pid_namespace"])
    return Identity(machine, values["pid"], values["start"])


def _hold(value: Any) -> Hold:
    values = read_fields(mapping(value), _HOLD)
    if values is None or values["kind"] not in set(HoldKind):
        raise TypeError
    return Hold(HoldKind(values["kind"]), values["id"], values["name"])


def _quota_stop(value: Any) -> QuotaStop:
    values = read_fields(mapping(value), _QUOTA_STOP)
    if values is None:
        raise TypeError
    return QuotaStop(**values)


_SCHEMA = Field(whole, SCHEMA)
_MAYBE_TEXT = Field(or_none(text), None)
_MAYBE_WHOLE = Field(or_none(whole), None)

_IDENTITY = {
    "host": Field(text),
    "boot": _MAYBE_TEXT,
    "pid_namespace": _MAYBE_TEXT,
    "pid": Field(whole),
    "start": _MAYBE_TEXT,
}
_HOLD = {"kind": Field(text), "id": _MAYBE_WHOLE, "name": _MAYBE_TEXT}
_PUBLICATION = {"author": Field(text), "sha256": Field(text), "size": Field(whole), "schema": _SCHEMA}
_QUOTA_STOP = {"group": _MAYBE_TEXT, "resets_at": _MAYBE_TEXT, "text": Field(text)}
_OUTCOME = {
    "unit": Field(text),
    "attempt": Field(whole, 1),
    "verdict": Field(text),
    "kind": Field(text),
    "reason": Field(text, ""),
    "exit_code": Field(whole),
    "result_path": Field(text),
    "result_author": Field(text, "none"),
    "model": Field(text, ""),
    "tree": Field(text, "not-proved"),
    "started_at": Field(text, ""),
    "ended_at": Field(text, ""),
    "duration_s": Field(number, 0.0),
    "worker_exit": _MAYBE_WHOLE,
    "worker_signal": _MAYBE_WHOLE,
    "status": _MAYBE_TEXT,
    "response_path": _MAYBE_TEXT,
    "conversation_id": _MAYBE_TEXT,
    "model_asked": _MAYBE_TEXT,
    "usage": Field(or_none(mapping), None),
    "num_turns": _MAYBE_WHOLE,
    "denied_actions": Field(items, ()),
    "warnings": Field(texts, ()),
    "quota": Field(or_none(_quota_stop), None),
    "leftovers": Field(texts, ()),
    "adopted": Field(flag, default=False),
    "schema": _SCHEMA,
}
_REQUEST = {
    "unit": Field(text),
    "attempt": Field(whole, 1),
    "batch": _MAYBE_TEXT,
    "prompt_file": Field(text, ""),
    "result_file": Field(text),
    "mode": Field(text),
    "work_dir": Field(text),
    "work_dir_made": Field(flag, default=False),
    "add_dirs": Field(texts, ()),
    "continued_id": _MAYBE_TEXT,
    "agy": Field(text, ""),
    "model_asked": _MAYBE_TEXT,
    "effort_asked": _MAYBE_TEXT,
    "timeout_s": Field(whole),
    "reap_idle_s": Field(whole, 0),
    "reap_grace_s": Field(whole),
    "reap_leftovers": Field(flag, default=True),
    "min_result_bytes": Field(whole),
    "preflight": Field(text, "auto"),
    "preflight_timeout_s": Field(whole, 60),
    "sandbox": Field(flag, default=False),
    "session": Field(text, "session"),
    "worker_token": Field(text, ""),
    "started_at": Field(text),
    "started_monotonic_s": Field(number),
    "boot": _MAYBE_TEXT,
    "versions": Field(text_mapping, {}),
    "schema": _SCHEMA,
}
