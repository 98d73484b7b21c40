"""Visits in tables, as the command line reads them: rows without a value are none, and those that repeat another are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Protocol, Sequence

import numpy as np

from ._errors import TrajectoryMapsError
from ._frames import column, is_missing, names, numbers
from ._model import Measured
from ._times import count_times, is_from_column

Array = np.ndarray[Any, Any]


class Reader(Protocol):
    """Who reads visits: a model, or the plan of statistics."""

    @property
    def parts(self) -> Sequence[Measured]: ...

    @property
    def covariates(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Cohort:
    """Visits of individuals, in order of their first row, by marker."""

    ids: list[Any]
    series: list[tuple[Array, Array, Array]]  # offsets, times, values as measured
    covariates: list[Mapping[str, Any]] | None


@dataclass(frozen=True)
class Picked:
    """Columns of a table: of the id, of the time, and of each marker its values and how it is named in the column of markers."""

    id: str
    time: str
    values: Sequence[str | None]
    marker: str | None
    levels: Sequence[str]


def pick_columns(
    reader: Reader,
    found: Sequence[str],
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
) -> Picked:
    """The columns that are named, else those of the fit. A table may lack some of several markers."""
    columns = [part.columns or {} for part in reader.parts]
    marker = marker or columns[0].get("marker")
    several = len(reader.parts) > 1 and marker is None
    values: list[str | None] = []
    for part, own in zip(reader.parts, columns):
        name = part.marker.name
        given = value.get(name) if isinstance(value, Mapping) else value
        usual = own.get("value") or name
        lacks = several and given is None and usual not in found
        values.append(None if lacks else _choose(f"value of {name}", given, usual, found))
    if isinstance(value, Mapping):
        other = next((name for name in value if name not in {part.marker.name for part in reader.parts}), None)
        if other is not None:
            raise TrajectoryMapsError(
                "other-marker",
                f'expected columns of {", ".join(part.marker.name for part in reader.parts)}, received one of "{other}".',
            )
    if all(own is None for own in values):
        _choose(f"value of {reader.parts[0].marker.name}", None, None, found)
    return Picked(
        id=_choose("id", id, columns[0].get("id"), found),
        time=_choose("time", time, columns[0].get("time"), found),
        values=values,
        marker=None if marker is None else _choose("marker", marker, None, found),
        levels=[own.get("level") or part.marker.name for part, own in zip(reader.parts, columns)],
    )


def _choose(what: str, given: str | None, usual: str | None, found: Sequence[str]) -> str:
    name = given or usual
    if name is None or name not in found:
        wanted = "" if name is None else f' "{name}"'
        raise TrajectoryMapsError(
            "missing-column",
            f"expected a column{wanted} for the {what}, received {', '.join(found)}. Name it: {what.split()[0]}=...",
        )
    return name


def read_visits(
    reader: Reader,
    visits: Any,
    *,
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
    subjects: Any = None,
    origin: str | None = None,
    keep_repeats: bool = False,
) -> Cohort:
    """The visits of a table as a model, or a plan, reads them."""
    picked = pick_columns(reader, names(visits), id, time, value, marker)
    cells = column(visits, picked.id)
    missing = next((k for k, cell in enumerate(cells) if is_missing(cell)), None)
    if missing is not None:
        raise TrajectoryMapsError(
            "missing-id",
            f'expected an id in every row, received none in row {missing} of "{picked.id}". Leave the row out.',
        )
    try:
        known = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
    except TypeError:
        raise TrajectoryMapsError(
            "missing-id", f'expected texts or numbers as ids in "{picked.id}", received lists or the like.'
        ) from None
    individuals = np.fromiter((known[cell] for cell in cells), int, len(cells))
    levels = None if picked.marker is None else np.array([str(cell).strip() for cell in column(visits, picked.marker)])
    measured = []
    for name, level in zip(picked.values, picked.levels):
        values = np.full(len(cells), np.nan) if name is None else _rows(visits, name, len(cells))
        wanted = ~np.isnan(values)
        if levels is not None:
            wanted &= levels == level
        measured.append((values, wanted))
    seen = np.any([wanted for _, wanted in measured], axis=0)
    times = count_times(reader.parts, visits, picked.time, picked.id, individuals, known, seen, origin, subjects)
    series = []
    for values, wanted in measured:
        if np.isnan(times[wanted]).any():
            row = int(np.flatnonzero(wanted & np.isnan(times))[0])
            raise TrajectoryMapsError(
                "missing-time",
                f'expected a time for every value, received none in row {row} of "{picked.time}". Leave it out.',
            )
        series.append(_ordered(individuals[wanted], times[wanted], values[wanted], len(known), keep_repeats))
    return Cohort(list(known), series, _covariates(reader, known, visits, subjects, picked.id, origin))


def _rows(visits: Any, name: str, count: int) -> Array:
    found = numbers(visits, name)
    if len(found) != count:
        raise TrajectoryMapsError(
            "shape", f'expected columns of the same length, received {count} ids and {len(found)} cells of "{name}".'
        )
    return found


def _ordered(who: Array, t: Array, y: Array, m: int, keep_repeats: bool) -> tuple[Array, Array, Array]:
    """Visits in the order of individuals, times and values; a row that repeats another exactly counts once."""
    order = np.lexsort((y, t, who))
    who, t, y = who[order], t[order], y[order]
    if not keep_repeats and len(who) > 0:
        same = (who[1:] == who[:-1]) & (t[1:] == t[:-1]) & (y[1:] == y[:-1])
        kept = np.concatenate([[True], ~same])
        who, t, y = who[kept], t[kept], y[kept]
    return np.searchsorted(who, np.arange(m + 1)), t, y


def _covariates(
    reader: Reader, known: Mapping[Any, int], visits: Any, subjects: Any, id: str, origin: str | None
) -> list[Mapping[str, Any]] | None:
    if not reader.covariates:
        if subjects is not None and not is_from_column(reader.parts, origin):
            raise TrajectoryMapsError(
                "option", "subjects: expected with a model of covariates or an origin in a column; this one has neither. Leave it out."
            )
        return None
    table = visits if subjects is None else subjects
    out: list[Any] = [{} for _ in known]
    ids = column(table, id)
    for name in reader.covariates:
        for own, cell in zip(ids, column(table, name)):
            if own not in known or is_missing(cell):
                continue
            before = out[known[own]].setdefault(name, cell)
            if before != cell:
                raise TrajectoryMapsError(
                    "varying-covariate",
                    f'expected one value of "{name}" for each individual, received {before} and {cell} for {own}. Give the value at the first visit.',
                )
    return out
