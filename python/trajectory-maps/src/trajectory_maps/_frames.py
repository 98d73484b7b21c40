"""Tables of pandas, polars, pyarrow or plain columns: read by column, made again of the same kind. Nothing is imported that is not
already there."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from ._errors import TrajectoryMapsError

Array = np.ndarray[Any, Any]
MISSING = {"", "na", "n/a", "nan", "null", "."}


def kind(table: Any) -> str:
    """ "pandas", "polars", "pyarrow" or "columns" (a mapping from names to columns)."""
    root = type(table).__module__.split(".")[0]
    if (
        root in ("pandas", "polars", "pyarrow")
        and hasattr(table, "columns")
        and type(table).__name__ in ("DataFrame", "Table")
    ):
        return root
    if isinstance(table, Mapping):
        return "columns"
    raise TrajectoryMapsError(
        "table",
        f"expected a DataFrame of pandas or polars, a Table of pyarrow or a dict of columns, received {type(table).__name__}. Collect or read it first.",
    )


def names(table: Any) -> list[str]:
    """Names of the columns."""
    if kind(table) == "pyarrow":
        return list(table.column_names)
    return [str(name) for name in (table.keys() if kind(table) == "columns" else table.columns)]


def column(table: Any, name: str) -> list[Any]:
    """A column as a list; None or NaN where it is missing."""
    if name not in names(table):
        raise TrajectoryMapsError(
            "missing-column", f'expected a column "{name}", received {", ".join(names(table))}. Name it.'
        )
    own = table.column(name) if kind(table) == "pyarrow" else table[name]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(own, method):
            return list(getattr(own, method)())
    return list(own)


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return bool(value != value)


def numbers(table: Any, name: str) -> Array:
    """A column as numbers, NaN where it is missing."""
    out = np.empty(len(values := column(table, name)))
    for k, value in enumerate(values):
        try:
            out[k] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError):
            raise TrajectoryMapsError(
                "not-a-number",
                f'expected numbers in column "{name}", received {value!r} in row {k}. Mend or leave out the row.',
            ) from None
    return out


def like(table: Any, columns: Mapping[str, Any]) -> Any:
    """A table of the same kind from columns."""
    own = kind(table)
    if own == "pandas":
        import pandas

        return pandas.DataFrame(dict(columns))
    if own == "polars":
        import polars

        return polars.DataFrame({name: list(values) for name, values in columns.items()})
    if own == "pyarrow":
        import pyarrow

        return pyarrow.table({name: pyarrow.array(list(values)) for name, values in columns.items()})
    return {name: np.asarray(values) for name, values in columns.items()}


def write_csv(table: Any, path: Path) -> None:
    """The table as a file for the command line."""
    head = names(table)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        cells = ([("" if is_missing(v) else v) for v in column(table, name)] for name in head)
        writer.writerows(zip(*cells))


def read_csv(path: Path, table: Any) -> Any:
    """A file of the command line as a table like another; columns of numbers as numbers."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    columns: dict[str, Sequence[Any]] = {}
    for name, cells in zip(head, zip(*rows) if rows else ([] for _ in head)):
        try:
            columns[name] = list(cells) if name == "id" else [np.nan if cell == "" else float(cell) for cell in cells]
        except ValueError:
            columns[name] = list(cells)
    return like(table, columns)
