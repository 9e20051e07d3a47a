"""Frozen slotted dataclasses that cost next to nothing to define.

A dispatch is a process of its own that defines some eighty of them, and the standard library's decorator
takes over half a millisecond for each, as much in sum as all else that starting takes. This one makes the
same class, but writes its ``__init__`` only once a few values were made. A type checker sees the standard
library's, and so does whoever asks for the fields: ``dataclasses.replace``, ``fields`` and ``asdict`` work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, replace
else:
    _EARLY = 8

    class _Factory:
        """Stands for a default that is made anew for each value."""

        __slots__ = ("make",)

        def __init__(self, make: Any) -> None:
            self.make = make

    def _standard(default: Any) -> Any:
        import dataclasses

        return dataclasses.field(default_factory=default.make) if type(default) is _Factory else default

    class _Fields:
        """Gives the standard library's account of a class's fields to the few who ask for it."""

        __slots__ = ("defaults",)

        def __init__(self, defaults: dict[str, Any]) -> None:
            self.defaults = defaults

        def __get__(self, _value: Any, owner: type) -> Any:
            import dataclasses

            body = {
                name: dataclasses.field(default_factory=default.make)
                if type(default) is _Factory
                else default
                for name, default in self.defaults.items()
            }
            likeness = type(owner.__name__, (), {**body, "__annotations__": owner.__annotations__})
            return dataclasses.dataclass(frozen=True)(likeness).__dataclass_fields__

    def _with_init(cls: type, names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
        """Return the ``__init__`` of *cls*, which from now on is that of its values."""
        scope = {f"_set_{name}": getattr(cls, name).__set__ for name in names}
        scope |= {f"_default_{name}": default for name, default in defaults.items()}
        parameters, lines = ["self"], []
        for name in names:
            given = name
            if name in defaults:
                parameters.append(f"{name}=_default_{name}")
                if type(defaults[name]) is _Factory:
                    given = f"{name}.make() if {name} is _default_{name} else {name}"
            else:
                parameters.append(name)
            lines.append(f"    _set_{name}(self, {given})")
        source = f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or "    pass")
        exec(source, scope)  # noqa: S102 - the names are those of the class's own annotations
        made = scope["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = made
        return made

    def _bound(self: Any, names: tuple[str, ...], defaults: dict[str, Any], values: Any, named: Any) -> bool:
        """Return whether every field was set; ``False`` for a call that ``__init__`` has to refuse."""
        first = dict(zip(names, values, strict=False))
        if len(first) < len(values) or not named.keys() <= set(names[len(values) :]):
            return False
        given = {**defaults, **first, **named}
        for name in names:
            if name not in given:
                return False
            value = given[name]
            object.__setattr__(self, name, value.make() if type(value) is _Factory else value)
        return True

    def _eq(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    def _hash(self: Any) -> int:
        return hash((self.__class__, *(getattr(self, name) for name in self.__match_args__)))

    def _repr(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{self.__class__.__qualname__}({shown})"

    def _refuse(self: Any, name: str, *_: Any) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot change field {name!r} of a {self.__class__.__qualname__}")

    def _getstate(self: Any) -> list[Any]:
        return [getattr(self, name) for name in self.__match_args__]

    def _setstate(self: Any, state: list[Any]) -> None:
        for name, value in zip(self.__match_args__, state, strict=True):
            object.__setattr__(self, name, value)

    _METHODS = {
        "__eq__": _eq,
        "__repr__": _repr,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
    _FROZEN = {"__hash__": _hash, "__setattr__": _refuse, "__delattr__": _refuse}
    _CHANGING = {"__hash__": None}

    def dataclass(*, slots: bool, frozen: bool = False) -> Any:
        """Return the decorator that makes a slotted dataclass of a class without bases or hooks."""
        if not slots:
            raise TypeError("only slotted dataclasses are made here")
        return lambda cls: _slotted(cls, {**_METHODS, **(_FROZEN if frozen else _CHANGING)})

    def _slotted(cls: type, methods: dict[str, Any]) -> type:
        names = tuple(cls.__annotations__)
        body = {name: value for name, value in vars(cls).items() if name not in {"__dict__", "__weakref__"}}
        defaults = {name: body.pop(name) for name in names if name in body}
        body = {**methods, **body, "__slots__": names, "__match_args__": names}

        made_so_far = 0

        def early_init(self: Any, *values: Any, **named: Any) -> None:
            nonlocal made_so_far
            made_so_far += 1
            if made_so_far > _EARLY or not _bound(self, names, defaults, values, named):
                _with_init(made, names, defaults)(self, *values, **named)

        body["__init__"] = early_init
        body["__dataclass_fields__"] = _Fields(defaults)
        made = type(cls)(cls.__name__, cls.__bases__, body)
        return made

    def field(*, default: Any = None, default_factory: Any = None) -> Any:
        """Return what stands for a field's default."""
        return default if default_factory is None else _Factory(default_factory)

    def replace(value: Any, /, **changes: Any) -> Any:
        """Return *value* with the fields in *changes* changed."""
        kept = {name: getattr(value, name) for name in value.__match_args__ if name not in changes}
        return value.__class__(**kept, **changes)

    def asdict(value: Any) -> dict[str, Any]:
        """Return the fields of *value* by name, values within it likewise."""
        return {name: _plain(getattr(value, name)) for name in value.__match_args__}

    def _plain(value: Any) -> Any:
        if hasattr(type(value), "__dataclass_fields__"):
            return asdict(value)
        if isinstance(value, (list, tuple)):
            return type(value)(_plain(item) for item in value)
        return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


__all__ = ["asdict", "dataclass", "field", "replace"]
