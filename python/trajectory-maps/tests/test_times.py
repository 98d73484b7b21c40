"""Dates and origins: times are counted as the command line counts them."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet as parquet
import pytest

import trajectory_maps as tm
from trajectory_maps._cli import run
from trajectory_maps._frames import write_csv


@pytest.fixture(scope="module")
def model():
    return tm.load_model(tm.example_model())


def with_columns(model, unit="years", **columns):
    """The model as if it had been fitted to such columns."""
    own = {"id": "id", "time": "date", "value": "fvc", **columns}
    parts = tuple(replace(part, columns=own, marker=replace(part.marker, time_unit=unit)) for part in model.parts)
    return replace(model, parts=parts)


def visits_of(count, seed=3):
    """Visits with a date, an age, the day of onset and the age then; the first visit of some has no value."""
    random = np.random.default_rng(seed)
    names = ("id", "date", "age", "onset", "onset_age", "fvc")
    rows = {name: [] for name in names}
    for i in range(count):
        onset = datetime.date(1996, 1, 1) + datetime.timedelta(days=int(random.integers(4000)))
        age = round(random.uniform(20, 70), 2)
        for k, day in enumerate(sorted(random.choice(3000, 1 + i % 5, replace=False))):
            value = None if k == 0 and i % 4 == 2 else round(80 + random.normal(0, 9), 1)
            cells = (f"p{i}", onset + datetime.timedelta(days=int(day)), round(age + day / 365.25, 3), onset, age, value)
            for name, cell in zip(names, cells):
                rows[name].append(cell)
    return rows


#: how the times of a plan were counted, and the column that stands in a table of individuals instead of in the visits
RULES = [
    ({"time": "date"}, None),
    ({"time": "date", "origin": "date:1995-06-01", "time_unit": "months"}, None),
    ({"time": "date", "origin": "column:onset", "time_unit": "weeks"}, None),
    ({"time": "date", "origin": "column:onset", "time_unit": "weeks"}, "onset"),
    ({"time": "age", "origin": "first"}, None),
    ({"time": "age", "origin": "column:onset_age"}, None),
    ({"time": "age", "origin": "column:onset_age"}, "onset_age"),
    ({"time": "age"}, None),
]


@pytest.mark.parametrize(("rule", "apart"), RULES, ids=lambda own: "-".join(own.values()) if isinstance(own, dict) else own)
def test_times_are_counted_as_the_command_line_counts_them(dtm, tmp_path, rule, apart):
    first, others = visits_of(60), visits_of(50, seed=8)
    table, subjects, more = dict(others), None, {}
    if apart is not None:
        of = dict(zip(others["id"], table.pop(apart)))
        subjects = {"id": list(of), apart: list(of.values())}
        write_csv(subjects, tmp_path / "subjects.csv")
        more = {"subjects": str(tmp_path / "subjects.csv")}
    write_csv(first, tmp_path / "first.csv")
    write_csv(table, tmp_path / "others.csv")
    plan, out = tmp_path / "plan.parquet", tmp_path / "others.parquet"
    run("statistics", str(tmp_path / "first.csv"), out=str(plan), value="fvc", noise="white", **rule)
    run("statistics", str(tmp_path / "others.csv"), like=str(plan), out=str(out), **more)
    (expected,) = parquet.read_table(out).to_pylist()
    found = tm.statistics(table, plan, subjects=subjects)
    assert json.loads(found["ids"]) == json.loads(expected["ids"])
    for name in ("gram_1", "cross_1", "sumSquares_1", "visits_1"):
        assert found[name] == expected[name], name


def test_the_day_counts_however_a_date_is_held(model):
    dated = with_columns(model, origin="first", dates=True)
    texts = ["2019-03-01", "2020-03-01", "2021-05-06"]
    rows = pandas.DataFrame({"id": ["a", "a", "b"], "date": texts, "fvc": [82, 79, 60]})
    place = lambda table: np.asarray(tm.embed(dated, table)["x1"]).tolist()
    numbers = rows.assign(date=[0, 366 / 365.25, 0])
    expected = place(numbers)
    late = pandas.to_datetime(pandas.Series(texts) + " 23:30")
    columns = {
        "texts": texts,
        "with a time of day": [f"{text}T10:15:00Z" for text in texts],
        "moments": late,
        "moments with a time zone": late.dt.tz_localize("America/New_York"),
        "dates": [datetime.date.fromisoformat(text) for text in texts],
        "numpy": np.array(texts, "datetime64[s]"),
    }
    for name, cells in columns.items():
        assert place(rows.assign(date=cells)) == expected, name
    moments = rows.assign(date=late)
    assert place(polars.from_pandas(moments)) == place(pyarrow.Table.from_pandas(moments)) == expected
    assert place({name: moments[name].to_numpy() for name in moments}) == expected


def test_numbers_less_an_origin_are_not_taken_as_they_are(model):
    ages = {"id": ["a", "a", "b"], "date": [61.5, 62.5, 40], "fvc": [82, 79, 60]}
    since = {"id": ["a", "a", "b"], "date": [0, 1, 0], "fvc": [82, 79, 60]}
    asked = tm.embed(with_columns(model, origin="first"), ages)
    assert asked["x1"].tolist() == tm.embed(with_columns(model), since)["x1"].tolist()
    assert asked["last_time"].tolist() == [1, 0]
    rows = tm.forecast(with_columns(model, origin="first"), ages, [2])
    assert rows["median"].tolist() == tm.forecast(with_columns(model), since, [2])["median"].tolist()


@pytest.mark.parametrize(
    ("columns", "cells", "options", "code"),
    [
        ({}, ["2019-03-01", "2020-03-01"], {}, "dates-need-origin"),
        ({"origin": "first"}, ["2019-03-01", "2020-03-01"], {}, "dates-need-origin"),
        ({}, ["2019-03-01", "2020-03-01"], {"origin": "yesterday"}, "option"),
        ({}, [1, 2], {"origin": "date:2010-01-31"}, "mixed-time"),
        ({"origin": "first", "dates": True}, ["2019-03-01", "3.5"], {}, "mixed-time"),
        ({"origin": "first", "dates": True}, ["2019-02-30", "2020-03-01"], {}, "no-such-date"),
        ({"origin": "first", "dates": True}, ["2019-02-01", "9999-12-31"], {}, "no-such-date"),
        ({"origin": "first", "dates": True}, np.array(["1700-01-01", "2020-03-01"], "datetime64[D]"), {}, "no-such-date"),
        ({"origin": "first", "dates": True}, ["31.01.2019", "01.02.2019"], {}, "not-a-number"),
        ({"origin": "first", "dates": True}, ["2019-03-01", None], {}, "missing-time"),
        ({"origin": "column:onset", "dates": True}, ["2019-03-01", "2020-03-01"], {}, "missing-column"),
        ({}, ["2019-03-01", "2020-03-01"], {"origin": "column:fvc"}, "mixed-time"),
        ({}, [1, 2], {"origin": "column:fvc"}, "contradicting-origin"),
        ({}, [1, 2], {"origin": "column:empty"}, "missing-origin"),
    ],
)
def test_what_cannot_be_counted_is_refused(model, columns, cells, options, code):
    table = {"id": ["a", "a"], "date": cells, "fvc": [82, 79], "empty": [None, None]}
    with pytest.raises(tm.TrajectoryMapsError) as refused:
        tm.embed(with_columns(model, **columns), table, **options)
    assert refused.value.code == code


def test_a_unit_that_days_cannot_be_counted_in_is_refused(model):
    table = {"id": ["a"], "date": ["2019-03-01"], "fvc": [82]}
    with pytest.raises(tm.TrajectoryMapsError, match="years, months, weeks, days"):
        tm.embed(with_columns(model, unit="visits"), table, origin="first")
