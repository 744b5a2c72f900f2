# SPDX-License-Identifier: Apache-2.0
"""Objects of the classes in _fields, from the program's JSON."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any, Type, TypeVar

from . import _fields

T = TypeVar("T")

_shown: dict[type, type] = {}


def shown(type_: Type[T]) -> Type[T]:
    """A class whose objects are made in place of those of its last base, a class of _fields that documents its fields."""
    base = type_.__bases__[-1]
    _shown[base] = type_
    own = type_.__dict__.get("__doc__")
    type_.__doc__ = "%s\n\n    %s" % (own, base.__doc__) if own else base.__doc__
    return type_


@functools.lru_cache(maxsize=None)
def _nested(type_: Any) -> dict[str, Any]:
    # The fields, and the class that their declared type names: of an object, or of those in a list.
    known = {**vars(_fields), **{one.__name__: one for one in _shown.values()}}
    first = {field.name: re.match(r"(?:tuple\[)?([A-Z]\w+)", str(field.type)) for field in dataclasses.fields(type_)}
    return {name: known.get(word[1]) if word else None for name, word in first.items()}


def made(type_: Type[T], values: dict[str, Any]) -> T:
    """An object with the fields that its class has; a newer program may print more."""
    type_ = _shown.get(type_, type_)
    places = next((_fields.PLACES[one] for one in type_.__mro__ if one in _fields.PLACES), {})
    arguments = {}
    for name, of in _nested(type_).items():  # type: ignore[arg-type]
        if name in places:
            found = [_at(values, place) for place in places[name].split(" ")]
            arguments[name] = found[0] if len(found) == 1 else tuple(found)
        elif name in values:
            arguments[name] = _value(of, values[name])
    return type_(**arguments)


def _at(values: Any, place: str) -> Any:
    # The first of the places, with "|" between them, that is there.
    for one in place.split("|"):
        found = values
        for key in one.split("."):
            found = None if found is None else found[key]
        if found is not None:
            return found
    return None


def _value(of: Any, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value if of is None else (made(of, one) for one in value))
    return value if of is None or value is None else made(of, value)
