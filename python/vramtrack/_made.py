# SPDX-License-Identifier: Apache-2.0
"""Objects of the classes in _fields, from the program's JSON."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Type, TypeVar

from . import _fields

T = TypeVar("T")


def made(type_: Type[T], values: dict[str, Any], own: Mapping[type, type]) -> T:
    """An object with the fields that its class has; a newer program may print more. `own` maps classes of _fields to the
    subclasses whose objects are made instead."""
    return type_(**{field.name: _value(type_, field.name, values[field.name], own)
                    for field in dataclasses.fields(type_) if field.name in values})  # type: ignore[arg-type]


def _value(type_: type, name: str, value: Any, own: Mapping[type, type]) -> Any:
    of = next((_fields.NESTED[base][name] for base in type_.__mro__ if name in _fields.NESTED.get(base, {})), None)
    of = None if of is None else own.get(of, of)
    if isinstance(value, list):
        return tuple(value if of is None else (made(of, one, own) for one in value))
    return value if of is None or value is None else made(of, value, own)
