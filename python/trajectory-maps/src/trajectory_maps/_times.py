"""Times of a table, counted as the command line counts them (docs/command-line.md, "Dates"): numbers as they are or less an origin, dates
as (day − day of the origin)/(days of the unit). A date is one of Python, numpy or a library of tables, or a text such as 2020-01-31; a time
of day behind it is passed over. Other ways to write dates are left to the command line."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np

from ._errors import TrajectoryMapsError
from ._frames import as_numbers, column, is_missing, names, own_column
from ._model import Measured

Array = np.ndarray[Any, Any]
DAYS_PER = {"years": 365.25, "months": 30.4375, "weeks": 7.0, "days": 1.0}
#: years that dates of visits, onsets and births can be of; what lies outside stands for something else
YEARS = (1800, 2199)
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?")
_FORMS = "first, column:NAME or a date as date:2010-01-31"


@dataclass(frozen=True)
class Counting:
    """From when times are counted, and in how many days; days are 1 where times are numbers."""

    days: float
    column: str | None = None
    #: days since 1970; of "first" neither this nor a column
    day: float | None = None


def counting(parts: Sequence[Measured], dates: bool, asked: str | None) -> Counting | None:
    """How times are counted: as asked, else as those that the model was fitted to where they were of the same kind; None for numbers as they are."""
    before = parts[0].columns or {}
    rule = asked
    if asked is None and "origin" in before and bool(before.get("dates", False)) == dates:
        rule = before["origin"]
    if rule is None:
        if not dates:
            return None
        raise TrajectoryMapsError(
            "dates-need-origin",
            'expected times as numbers, as the model was fitted to, received dates. Say from when they are counted: origin="first", '
            '"column:NAME" or "date:2010-01-31".',
        )
    return parse_origin(rule, dates, parts[0].marker.time_unit)


def is_from_column(parts: Sequence[Measured], asked: str | None) -> bool:
    """Whether the origin stands in a column, which may be one of the table of individuals."""
    return (asked or (parts[0].columns or {}).get("origin", "")).startswith("column:")


def parse_origin(rule: str, dates: bool, unit: str) -> Counting:
    """The counting that "first", "column:NAME" or "date:2010-01-31" names."""
    days = DAYS_PER.get(unit.strip() or "years") if dates else 1.0
    if days is None:
        raise TrajectoryMapsError(
            "dates-need-origin",
            f'expected a model of times in {", ".join(DAYS_PER)}, with dates, received one in "{unit}". Count them and give numbers.',
        )
    kind, _, rest = rule.partition(":")
    if rule == "first":
        return Counting(days)
    if kind == "column" and rest.strip():
        return Counting(days, column=rest.strip())
    found = _day(rest.strip(), "origin") if kind == "date" else None
    if found is None:
        raise TrajectoryMapsError("option", f"origin: expected {_FORMS}, received {rule!r}.")
    if not dates:
        raise TrajectoryMapsError(
            "mixed-time", f'expected dates, since the origin "{rule}" is one, received numbers. Leave origin out.'
        )
    return Counting(days, day=float(_of_calendar(np.array([found]), "origin")[0]))


def count_times(
    parts: Sequence[Measured],
    visits: Any,
    time: str,
    id: str,
    who: Array,
    known: Mapping[Any, int],
    seen: Array,
    origin: str | None,
    subjects: Any,
) -> Array:
    """The times of all rows; ``who`` are individuals, ``seen`` says which rows have a value."""
    times, dates = read_times(visits, time)
    if len(times) != len(who):
        raise TrajectoryMapsError(
            "shape", f'expected columns of the same length, received {len(who)} ids and {len(times)} cells of "{time}".'
        )
    rule = counting(parts, dates, origin)
    if rule is None:
        return times
    if rule.day is not None:
        return (times - rule.day) / rule.days
    if rule.column is None:
        starts = np.full(len(known), np.inf)
        used = seen & ~np.isnan(times)
        np.minimum.at(starts, who[used], times[used])
    else:
        starts = _origins(rule.column, dates, visits, subjects, id, known, np.unique(who[seen]))
    return (times - starts[who]) / rule.days


def _origins(
    name: str, dates: bool, visits: Any, subjects: Any, id: str, known: Mapping[Any, int], needed: Array
) -> Array:
    """The origin of each individual from a column of the visits, or of the table of individuals."""
    table = visits if name in names(visits) else subjects
    if table is None:
        raise TrajectoryMapsError(
            "missing-column",
            f'expected a column "{name}" as origin of time, received {", ".join(names(visits))}. Add it, or give the table that has it: subjects=...',
        )
    cells, are_dates = read_times(table, name)
    if are_dates != dates and not np.isnan(cells).all():
        own = "dates" if dates else "numbers"
        raise TrajectoryMapsError(
            "mixed-time",
            f'expected {own} in column "{name}", as the times are, received {"dates" if are_dates else "numbers"}. Write both alike.',
        )
    starts = np.full(len(known), np.nan)
    for own, start in zip(column(table, id), cells):
        i = known.get(own)
        if i is None or np.isnan(start):
            continue
        if starts[i] != start and not np.isnan(starts[i]):
            raise TrajectoryMapsError(
                "contradicting-origin",
                f'expected one origin in "{name}" for each individual, received another for {own}. Give the same in all rows.',
            )
        starts[i] = start
    lacking = needed[np.isnan(starts[needed])]
    if len(lacking):
        shown = ", ".join(str(list(known)[i]) for i in lacking[:3])
        raise TrajectoryMapsError(
            "missing-origin",
            f'expected an origin in "{name}" for everybody, received none for {len(lacking)} of {len(needed)} individuals ({shown}). Fill the cells, or leave these individuals out.',
        )
    return starts


def read_times(table: Any, name: str) -> tuple[Array, bool]:
    """A column as numbers, or dates as days since 1970, and whether they are dates; NaN where a cell is missing."""
    cells, where = own_column(table, name), f'column "{name}"'
    kind = getattr(getattr(cells, "dtype", None), "kind", "")
    if kind and kind in "fiu":
        return as_numbers(cells, where), False
    if kind == "M":
        # Of a moment with a time zone the day that it shows.
        shown = cells.dt.tz_localize(None) if getattr(cells.dtype, "tz", None) is not None else cells
        moments = np.asarray(shown).astype("datetime64[D]").ravel()
        return _of_calendar(np.where(np.isnat(moments), np.nan, moments.astype(np.int64)), where), True
    listed = column(table, name)
    found = [np.nan if is_missing(cell) else _day(cell, where) for cell in listed]
    if all(day is None or day != day for day in found):
        return as_numbers(cells, where), False
    other = next((k for k, day in enumerate(found) if day is None), None)
    if other is not None:
        raise TrajectoryMapsError(
            "mixed-time",
            f"expected all dates or all numbers in {where}, received dates and {listed[other]!r} in row {other}. Write all of them in one way.",
        )
    return _of_calendar(np.array(found, float), where), True


def _day(cell: Any, where: str) -> float | None:
    """The day of a cell that is a date, since 1970; None if it is none."""
    if isinstance(cell, np.datetime64):
        cell = cell.astype("datetime64[D]").item()
    if isinstance(cell, datetime.date):
        return float(cell.toordinal() - _EPOCH)
    found = _ISO.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if found is None:
        return None
    try:
        return float(datetime.date(*map(int, found.groups())).toordinal() - _EPOCH)
    except ValueError:
        raise _no_such_date(cell, where) from None


def _of_calendar(days: Array, where: str) -> Array:
    """The days, if their years are such as dates of individuals can be of."""
    first, last = (datetime.date(year, *day).toordinal() - _EPOCH for year, day in zip(YEARS, ((1, 1), (12, 31))))
    wrong = np.flatnonzero((days < first) | (days > last))
    if len(wrong):
        raise _no_such_date(np.datetime64(int(days[wrong[0]]), "D"), where)
    return days


def _no_such_date(cell: Any, where: str) -> TrajectoryMapsError:
    return TrajectoryMapsError(
        "no-such-date",
        f"expected dates of the calendar, {YEARS[0]} to {YEARS[1]}, in {where}, received '{cell}'. Correct it; if it stands for a missing date, leave the cell empty.",
    )
