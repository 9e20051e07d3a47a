"""The light dataclasses are what the standard library's are, held against it case by case."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from prun.core import values


@values.dataclass(frozen=True, slots=True)
class Light:
    """A light one."""

    a: int
    b: str = "b"
    c: list[int] = values.field(default_factory=list)

    @property
    def twice(self) -> int:
        return 2 * self.a


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """One of the standard library's."""

    a: int
    b: str = "b"
    c: list[int] = dataclasses.field(default_factory=list)

    @property
    def twice(self) -> int:
        return 2 * self.a


@values.dataclass(frozen=True, slots=True)
class Twin:
    """Alike in all but its class."""

    a: int
    b: str = "b"
    c: list[int] = values.field(default_factory=list)


@values.dataclass(slots=True)
class Changing:
    """One that may be changed."""

    a: int = 0


DEFAULTS = {"b": "b", "c": values.field(default_factory=list)}
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, "x"), {}),
    ((1, "x", [3]), {}),
    ((), {"a": 1}),
    ((1,), {"c": [2]}),
    ((), {"c": [2], "a": 1}),
    ((), {}),
    ((1, "x", [3], 4), {}),
    ((1,), {"a": 2}),
    ((1,), {"d": 2}),
    ((), {"b": "x"}),
]


def made(cls: Any, call: tuple[tuple[Any, ...], dict[str, Any]]) -> tuple[Any, ...] | str:
    try:
        value = cls(*call[0], **call[1])
    except TypeError as error:
        return str(error).replace(cls.__name__, "it")
    return value.a, value.b, value.c, value.twice


@pytest.mark.parametrize("early", [True, False], ids=["first", "later"])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_value_is_made_or_refused_as_the_standard_library_does(call: Any, early: bool) -> None:
    fresh: Any = values.dataclass(frozen=True, slots=True)(
        type(
            "Light",
            (),
            {"__annotations__": Light.__annotations__, "b": "b", "twice": Light.twice, **DEFAULTS},
        )
    )
    for _ in range(0 if early else 50):
        fresh(1)
    assert made(fresh, call) == made(Standard, call)


def test_a_default_that_is_made_is_made_anew_each_time() -> None:
    assert all(Light(1).c is not Light(1).c for _ in range(50))


def test_values_are_equal_by_class_and_fields() -> None:
    assert Light(1) == Light(1)
    assert Light(1) != Light(2)
    others: list[object] = [Twin(1), (1, "b", [])]
    assert all(other != Light(1) for other in others)
    assert hash(Hashed(1)) == hash(Hashed(1))
    assert len({Hashed(1), Hashed(1), Hashed(2)}) == 2


@values.dataclass(frozen=True, slots=True)
class Hashed:
    """One whose fields all have a hash."""

    a: int


def test_a_value_is_shown_with_its_fields() -> None:
    assert repr(Light(1)).replace("Light", "Standard") == repr(Standard(1))


def test_a_frozen_value_is_not_changed_and_has_no_other_attributes() -> None:
    value = Light(1)
    for name in ("a", "z"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.a
    assert not hasattr(value, "__dict__")


def test_one_that_may_be_changed_is_changed_and_has_no_hash() -> None:
    value = Changing()
    value.a = 5
    assert value == Changing(5)
    with pytest.raises(TypeError):
        hash(value)


def test_values_are_matched_by_position() -> None:
    match Light(1, "x"):
        case Light(a, b):
            assert (a, b) == (1, "x")
        case _:
            pytest.fail("no match")


def test_the_standard_library_knows_the_fields() -> None:
    for replace in (values.replace, dataclasses.replace):
        assert replace(Light(1, "x"), a=2) == Light(2, "x")
    assert [field.name for field in dataclasses.fields(Light)] == ["a", "b", "c"]
    nested = Twin(1, c=[Hashed(2), (Hashed(3),)])  # type: ignore[list-item]  # values within a list
    assert (
        values.asdict(nested)
        == dataclasses.asdict(nested)
        == {"a": 1, "b": "b", "c": [{"a": 2}, ({"a": 3},)]}
    )
    assert values.asdict(nested)["c"] is not nested.c


def test_a_change_of_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="z"):
        values.replace(Light(1), z=2)  # type: ignore[call-arg]  # what is tested


def test_values_are_copied_and_pickled() -> None:
    value = Hashed(7)
    assert copy.copy(value) == copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - what was just written


def test_an_unslotted_class_is_refused() -> None:
    with pytest.raises(TypeError, match="slotted"):
        values.dataclass(frozen=True, slots=False)
