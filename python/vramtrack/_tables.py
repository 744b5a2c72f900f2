# SPDX-License-Identifier: Apache-2.0
"""A trace's objects as columns, for Arrow and pandas. The types are those that the objects' fields are declared with.

Steps and events may be many: the program writes them as Parquet or CSV (docs/export.md), from which they are read.
"""

from __future__ import annotations

import dataclasses
import operator
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Tuple

if TYPE_CHECKING:
    import pandas
    import pyarrow

Rows = Iterable[Any]
# By name of a table: the class of its rows, and a function that has them.
Tables = Mapping[str, Tuple[type, Callable[[], Rows]]]
# Writes a table (name, format, path) that the program has.
Export = Callable[[str, str, str], None]
# name, type, value of a row
Column = Tuple[str, str, Callable[[Any], Any]]

_EXPORTED = ("steps", "events")


def _field_columns(name: str, declared: str) -> Iterator[Column]:
    if declared.startswith("tuple[float"):  # an interval
        for end, suffix in enumerate(("_low", "_high")):
            yield name + suffix, "float", lambda row, end=end: getattr(row, name)[end]  # type: ignore[misc]
    elif declared in ("tuple[Frame, ...]", "tuple[str, ...]"):
        yield name, "list", lambda row: [str(one) for one in getattr(row, name)]
    elif declared == "Site":
        yield name, "str", lambda row: getattr(row, name).id
    elif declared == "tuple[Site, ...]":
        yield name, "list", lambda row: [one.id for one in getattr(row, name)]
    elif declared.split(" ")[0] in ("str", "int", "float", "bool"):
        yield name, declared.split(" ")[0], lambda row: getattr(row, name)
    # Other objects have no column.


def _columns(row_type: Any) -> list[Column]:
    declared = {field.name: str(field.type) for field in dataclasses.fields(row_type)}
    columns = [column for name, type_ in declared.items() for column in _field_columns(name, type_)]
    return columns + [(name, "str", operator.attrgetter(name)) for name in getattr(row_type, "_columns", ())]


def _table(name: str, tables: Tables) -> tuple[list[Column], list[Any]]:
    if name not in tables:
        raise ValueError("unknown table %r (expected %s)" % (name, ", ".join((*tables, *_EXPORTED))))
    row_type, rows = tables[name]
    return _columns(row_type), list(rows())


def _exported(name: str, form: str, export: Export, read: Callable[[str], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "%s.%s" % (name, form))
        export(name, form, path)
        return read(path)


def arrow(name: str, tables: Tables, export: Export) -> pyarrow.Table:
    try:
        import pyarrow
    except ImportError:
        raise ImportError("to_arrow() needs pyarrow, which is not installed: pip install pyarrow") from None
    if name in _EXPORTED:
        import pyarrow.parquet

        return _exported(name, "parquet", export, pyarrow.parquet.read_table)
    types = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_(),
             "list": pyarrow.list_(pyarrow.string())}
    columns, rows = _table(name, tables)
    return pyarrow.table([pyarrow.array([value(row) for row in rows], types[type_]) for _, type_, value in columns],
                         schema=pyarrow.schema([(column, types[type_]) for column, type_, _ in columns]))


def data_frame(name: str, tables: Tables, export: Export) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() needs pandas, which is not installed: pip install pandas") from None
    if name in _EXPORTED:
        return _exported(name, "csv", export, lambda path: pandas.read_csv(path, dtype_backend="numpy_nullable"))
    types = {"str": "object", "int": "Int64", "float": "float64", "bool": "bool", "list": "object"}
    columns, rows = _table(name, tables)
    return pandas.DataFrame({column: pandas.Series([value(row) for row in rows], dtype=types[type_])
                             for column, type_, value in columns})
