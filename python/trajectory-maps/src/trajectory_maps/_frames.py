"""Tables of pandas, polars, pyarrow or plain columns: read by column, made again of the same kind. Nothing is imported that is not
already there."""

from __future__ import annotations

import csv
import datetime
import re
import warnings
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from ._errors import TrajectoryMapsError

Array = np.ndarray[Any, Any]
MISSING = {"", "na", "n/a", "nan", "null", "."}
#: Stata's and SAS's missing, as they write it; the numbers behind Stata's and SPSS's are known by their size
_CODES = re.compile(r"\.[a-z_]", re.IGNORECASE)


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


def own_column(table: Any, name: str) -> Any:
    """A column as the table has it."""
    if name not in names(table):
        raise TrajectoryMapsError(
            "missing-column", f'expected a column "{name}", received {", ".join(names(table))}. Name it.'
        )
    return table.column(name) if kind(table) == "pyarrow" else table[name]


def column(table: Any, name: str) -> list[Any]:
    """A column as a list; None or NaN where it is missing."""
    own = own_column(table, name)
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(own, method):
            return list(getattr(own, method)())
    return list(own)


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        cell = value.strip()
        return cell.lower() in MISSING or _CODES.fullmatch(cell) is not None
    return bool(value != value)


def missing_numbers(x: Array) -> Array:
    """Where numbers stand for "missing" in Stata (from 2^127 and 2^1023 on) or SPSS (the largest negative double)."""
    stata = [(x >= first * 0.999) & (x <= first * (1 + 27 / 4096) * 1.001) for first in (2.0**127, 2.0**1023)]
    return stata[0] | stata[1] | (x <= -np.finfo(float).max * 0.999)


def numbers(table: Any, name: str) -> Array:
    """A column as numbers, NaN where it is missing."""
    return as_numbers(own_column(table, name), f'column "{name}"')


_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WRITTEN_DATE = re.compile(r"\d{1,4}[-/.]\s?(\d{1,2}|\w{3,9})[-/.]\s?\d{1,4}([T ,].*)?")
_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def as_numbers(cells: Any, where: str) -> Array:
    """Cells as numbers, NaN where one is missing (masked, None, NaN or a mark of it); ``where`` says whose they are."""
    cells = _plain(cells)
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu":
        out = np.ma.filled(cells.astype(float), np.nan).ravel()
    else:
        dates = isinstance(cells, np.ndarray) and cells.dtype.kind in "mM"
        listed = cells.ravel().tolist() if isinstance(cells, np.ndarray) and not dates else cells
        out = np.array([_number(cell, k, where) for k, cell in enumerate(listed)], dtype=float)
    coded = missing_numbers(out)
    if coded.any():
        warnings.warn(
            f"{int(coded.sum())} cells in {where} are codes for missing of Stata or SPSS (such as {out[coded][0]}); they are taken as missing.",
            stacklevel=2,
        )
        out = np.where(coded, np.nan, out)
    size = np.abs(out)
    wrong = np.flatnonzero((size > 1e45) | ((size < 1e-45) & (size > 0)))
    if len(wrong):
        raise TrajectoryMapsError(
            "not-finite",
            f"expected 0 or numbers from 1e-45 to 1e45 in size in {where}, received {out[wrong[0]]} in row {wrong[0]}. Mend or leave out the row.",
        )
    return out + 0.0


def _plain(cells: Any) -> Any:
    """A column of a library as an array of numbers, or as a list; anything else as it is."""
    root = type(cells).__module__.split(".")[0]
    if root == "pandas":
        return cells.to_numpy(dtype=float, na_value=np.nan) if cells.dtype.kind in "fiu" else list(cells)
    if root == "polars":
        return cells.cast(float).to_numpy() if cells.dtype.is_numeric() else cells.to_list()
    if root == "pyarrow":
        numeric = str(cells.type).startswith(("int", "uint", "float", "double", "halffloat"))
        return np.asarray(cells.cast("double"), dtype=float) if numeric else cells.to_pylist()
    return [cells] if np.ndim(cells) == 0 else cells


def _number(cell: Any, row: int, where: str) -> float:
    if is_missing(cell):
        return np.nan
    remedy = "Mend or leave out the row"
    try:
        if isinstance(cell, _DATES):
            remedy = "Count days, months or years from a common start and give that"
        elif isinstance(cell, str) and _WRITTEN_DATE.fullmatch(cell.strip()):
            remedy = "If these are dates, make them such first: pandas.to_datetime(..., dayfirst=True)"
        elif isinstance(cell, str) and cell.strip()[:1] in ("<", ">", "\u2264", "\u2265"):
            remedy = "Values below or above a limit are read by the command line (dtm) alone"
        elif not isinstance(cell, str):
            return float(cell)
        elif _PLAIN.fullmatch(cell.strip()):
            return float(cell)
    except (TypeError, ValueError):
        pass
    raise TrajectoryMapsError(
        "not-a-number", f"expected numbers in {where}, received {cell!r} in row {row}. {remedy}."
    ) from None


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
    """A file of the command line as a table like another; columns of numbers as numbers, ids without the apostrophe that keeps
    spreadsheets from running them as formulas."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    columns: dict[str, Sequence[Any]] = {}
    for name, cells in zip(head, zip(*rows) if rows else ([] for _ in head)):
        try:
            columns[name] = (
                [_bare(cell) for cell in cells]
                if name == "id"
                else [np.nan if cell == "" else float(cell) for cell in cells]
            )
        except ValueError:
            columns[name] = list(cells)
    return like(table, columns)


def _bare(text: str) -> str:
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@", "\t", "\r") else text
