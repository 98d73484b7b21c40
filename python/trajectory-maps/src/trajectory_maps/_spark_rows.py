"""Rows of a DataFrame as workers of Spark read them: id, time, value_1, value_2, ..., and covariates. Times are counted already; `_given` and
`_origin` are the cells that they were counted from, of dates days since 1970, where they were counted at all."""

from __future__ import annotations

import base64
from typing import Any, Mapping, Sequence

from ._errors import TrajectoryMapsError
from ._times import YEARS, Counting
from ._visits import Picked

#: cells that workers do not need
CELLS = ("_given", "_origin")
_DATES = ("date", "timestamp", "timestamp_ntz")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_IDS = ("string", "varchar", "char", "tinyint", "smallint", "int", "bigint")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text in SQL, however quotes and backslashes are set to be read."""
    return f"decode(unbase64('{base64.b64encode(text.encode()).decode()}'), 'UTF-8')"


def id_column(name: str) -> str:
    return f"trim(cast({quoted(name)} as string)) as id"


def are_dates(df: Any, picked: Picked) -> bool:
    """Whether times are dates; refused if they are neither dates nor numbers."""
    types = dict(df.dtypes)
    _check(types, picked.time, "times", (*_NUMBERS, *_DATES), "Make texts dates first: to_date(...)")
    return types[picked.time] in _DATES


def _moment(df: Any, name: str, dates: bool) -> str:
    """A column as numbers, or as days since 1970 of dates whose year is one of the calendar of individuals."""
    _check(dict(df.dtypes), name, "dates" if dates else "numbers", _DATES if dates else _NUMBERS, "Write times and origin alike")
    if not dates:
        return f"cast({quoted(name)} as double)"
    day = f"cast({quoted(name)} as date)"
    words = f"expected dates of the years {YEARS[0]} to {YEARS[1]} in column {name}. Correct the others, or make them null."
    return (
        f"case when year({day}) not between {YEARS[0]} and {YEARS[1]} then cast(raise_error({literal(words)}) as double) "
        f"else cast(datediff({day}, date'1970-01-01') as double) end"
    )


def visits_in(df: Any, picked: Picked, rule: Counting | None, covariates: Sequence[str] = ()) -> Any:
    """The visits of a DataFrame, checked by their types, with counted times; rows without a value are left out."""
    types = dict(df.dtypes)
    _check(types, picked.id, "ids", _IDS, "Cast it to string")
    dates = are_dates(df, picked)
    columns = [id_column(picked.id), f"{_moment(df, picked.time, dates)} as {'time' if rule is None else '_given'}"]
    if rule is not None and rule.column is not None:
        if rule.column not in df.columns:
            raise TrajectoryMapsError(
                "missing-column",
                f'expected a column "{rule.column}" as origin of time, received {", ".join(df.columns)}. Join it to the visits.',
            )
        columns.append(f"{_moment(df, rule.column, dates)} as _origin")
    for k, (name, level) in enumerate(zip(picked.values, picked.levels), 1):
        cell = "null"
        if name is not None:
            _check(types, name, "values", _NUMBERS, "Cast it, after a look at what is no number")
            cell = f"nanvl(cast({quoted(name)} as double), cast(null as double))"
            if picked.marker is not None:
                cell = f"case when trim(cast({quoted(picked.marker)} as string)) = {literal(level)} then {cell} end"
        columns.append(f"cast({cell} as double) as value_{k}")
    seen = " or ".join(f"value_{k} is not null" for k in range(1, len(picked.values) + 1))
    rows = df.selectExpr(*columns, *map(quoted, covariates)).where(seen)
    return rows if rule is None else rows.selectExpr("*", f"{_counted(rule)} as time")


def _counted(rule: Counting) -> str:
    """(_given - origin)/days, with one origin for each individual."""
    each = "over (partition by id)"
    if rule.day is not None:
        start = f"{rule.day!r}D"
    elif rule.column is None:
        start = f"min(_given) {each}"
    else:
        words = f"expected one origin in column {rule.column} for each individual, received none or several for "
        told = f"cast(raise_error(concat({literal(words)}, id)) as double)"
        start = f"case when min(_origin) {each} = max(_origin) {each} then min(_origin) {each} else {told} end"
    return f"(_given - {start}) / {rule.days!r}D"


def _check(types: Mapping[str, str], name: str, what: str, wanted: Sequence[str], remedy: str) -> None:
    if types[name].split("(")[0] not in wanted:
        raise TrajectoryMapsError(
            "option" if wanted is _IDS else "not-a-number",
            f'expected {what} as {", ".join(wanted)} in column "{name}", received {types[name]}. {remedy}.',
        )
