"""Statistics and places on Spark: the bytes of one process, in every mode, and with an executor killed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import FIXTURES, killing, of

import trajectory_maps as tm
import trajectory_maps.spark as engine

COLUMNS = {"id": "id", "time": "time", "value": "fvc"}
SHARDS = 5


@pytest.fixture(scope="module")
def model():
    return tm.load_model(tm.example_model())


def check_statistics(rows, visits, like):
    """Each shard is, to the last byte, that of one process; together they hold everybody once."""
    seen = []
    for row in rows:
        ids = json.loads(row["ids"])
        expected = tm.statistics(of(visits, ids), like, shard=row["shard"], **COLUMNS)
        assert {name: bytes(cell) if isinstance(cell, bytearray) else cell for name, cell in row.items()} == expected
        seen += ids
    assert sorted(seen) == sorted(set(visits["id"]))
    assert sorted(row["shard"] for row in rows) == list(range(SHARDS))


def check_places(rows, visits, model):
    """Each place is, to the last bit, that of one process."""
    expected = tm.embed(model, visits, **COLUMNS, suspects="suspects" in rows[0])
    order = {own: k for k, own in enumerate(expected["id"].tolist())}
    assert sorted(row["id"] for row in rows) == sorted(order)
    for row in rows:
        k = order[row["id"]]
        assert row == {name: cells[k].item() for name, cells in expected.items()}


@pytest.mark.parametrize("partitions", [None, 3])
def test_statistics_have_the_bytes_of_one_process(frame, visits, model, partitions):
    found = engine.statistics(frame, model, **COLUMNS, shards=SHARDS, partitions=partitions).collect()
    check_statistics([row.asDict() for row in found], visits, model)


def test_places_have_the_bits_of_one_process(frame, visits, model):
    found = engine.embed(frame, model, **COLUMNS, partitions=3, suspects=True).collect()
    check_places([row.asDict() for row in found], visits, model)


@pytest.mark.modes("cluster")
def test_an_executor_that_is_killed_changes_no_byte(frame, visits, model, tmp_path):
    made = {
        "statistics": engine.statistics(frame, model, **COLUMNS, shards=SHARDS, partitions=4),
        "places": engine.embed(frame, model, **COLUMNS, partitions=4),
    }
    for name, check in (("statistics", check_statistics), ("places", check_places)):
        file = tmp_path / name
        found = made[name].mapInArrow(killing(str(file)), made[name].schema).collect()
        assert int(file.read_text()) > 1
        check([row.asDict() for row in found], visits, model)


def test_a_refusal_of_a_worker_is_told(spark, model):
    rows = spark.createDataFrame([("a", None, 80.0)], "id string, time double, fvc double")
    with pytest.raises(Exception, match="expected a time for every value"):
        engine.statistics(rows, model, **COLUMNS, shards=1).collect()


def test_several_markers_in_wide_and_long_tables(spark):
    model = tm.load_model(FIXTURES / "two-markers.model.json")
    wide = [("a", 0, 1.1, 80.0), ("a", 1, 2.0, None), ("b", 2, None, 76.0), ("b", 3, None, float("nan"))]
    long = [("a", 0, "bili", 1.1), ("a", 0, "albumin", 80.0), ("a", 1, "bili", 2.0), ("b", 2, " albumin", 76.0)]
    tables = {
        "wide": (wide, "id string, time int, bili double, albumin double", {}),
        "long": (
            [*long, ("a", 0, "it's \\ other", 1.0)],
            "id string, time int, what string, y double",
            {"value": "y", "marker": "what"},
        ),
        "lacks": ([row[:3] for row in wide], "id string, time int, bili double", {}),
    }
    names = {"bili": "bili", "albumin": "albumin"}
    columns = {"id": [own[0] for own in wide], "time": [own[1] for own in wide]}
    columns |= {"bili": [own[2] for own in wide], "albumin": [own[3] for own in wide]}
    expected = tm.statistics(columns, model, id="id", time="time", value=names)
    places = tm.embed(model, columns, id="id", time="time", value=names)
    for name, (rows, schema, given) in tables.items():
        frame = spark.createDataFrame(rows, schema)
        if name == "lacks":
            (row,) = engine.statistics(frame, model, id="id", time="time", shards=1).collect()
            assert json.loads(row["ids"]) == ["a"] and np.frombuffer(row["visits_2"], np.int32).tolist() == [0]
            continue
        (row,) = engine.statistics(frame, model, id="id", time="time", **given, shards=1).collect()
        assert bytes(row["cross_2"]) == expected["cross_2"] and bytes(row["gram_1"]) == expected["gram_1"]
        found = engine.embed(frame, model, id="id", time="time", **given).sort("id").collect()
        assert [row["x1"] for row in found] == places["x1"].tolist()
        assert [row["visits_albumin"] for row in found] == [1, 1]


def test_covariates_come_from_the_rows_or_from_a_second_table(spark):
    model = tm.load_model(FIXTURES / "covariates-places.model.json")
    rows = [("a", 0.0, 80.0, 70, "f"), ("a", 1.0, 79.0, 70, "f"), ("b", 0.0, 80.0, 40, "m")]
    frame = spark.createDataFrame(rows, "id string, time double, fvc double, age int, sex string")
    columns = dict(zip(("id", "time", "fvc", "age", "sex"), map(list, zip(*rows))))
    expected = tm.embed(model, columns, **COLUMNS)["x1"].tolist()
    subjects = frame.select("id", "age", "sex").distinct()
    for found in (
        engine.embed(frame, model, **COLUMNS),
        engine.embed(frame.drop("age", "sex"), model, **COLUMNS, subjects=subjects),
    ):
        assert [row["x1"] for row in found.sort("id").collect()] == expected
    with pytest.raises(tm.TrajectoryMapsError, match='column "age"'):
        engine.embed(frame.drop("age"), model, **COLUMNS)


DATED = [("a", "2019-03-01", None), ("a", "2020-03-01", 82.0), ("a", "2021-05-06", 79.0), ("b", "2020-02-29", 60.0)]


def dated(spark, kind, onset):
    rows = spark.createDataFrame([(*row, "2018-01-01") for row in DATED], "id string, time string, fvc double, onset string")
    return rows.selectExpr("id", f"cast(time as {kind}) as time", "fvc", f"cast({onset} as date) as onset")


@pytest.mark.parametrize(
    ("kind", "origin"), [("date", "first"), ("timestamp", "date:2018-06-30"), ("date", "column:onset")]
)
def test_dates_are_counted_as_in_one_process(spark, model, kind, origin):
    columns = dict(zip(("id", "time", "fvc"), map(list, zip(*DATED)))) | {"onset": ["2018-01-01"] * len(DATED)}
    frame = dated(spark, kind, "onset")
    (row,) = engine.statistics(frame, model, **COLUMNS, origin=origin, shards=1).collect()
    expected = tm.statistics(columns, model, **COLUMNS, origin=origin)
    assert bytes(row["gram_1"]) == expected["gram_1"] and json.loads(row["ids"]) == ["a", "b"]
    places = tm.embed(model, columns, **COLUMNS, origin=origin)["x1"].tolist()
    found = engine.embed(frame, model, **COLUMNS, origin=origin).sort("id").collect()
    assert [row["x1"] for row in found] == places


@pytest.mark.modes("local")
def test_origins_that_lack_or_contradict_are_refused(spark, model):
    for onset, words in (
        ("if(id = 'a', onset, null)", "for b"),
        ("if(time > '2020-06-01', time, onset)", "for a"),
        ("'9999-12-31'", "1800 to 2199"),
    ):
        with pytest.raises(Exception, match=words):
            engine.embed(dated(spark, "date", onset), model, **COLUMNS, origin="column:onset").collect()
    with pytest.raises(tm.TrajectoryMapsError, match="Join it"):
        engine.embed(dated(spark, "date", "onset"), model, **COLUMNS, origin="column:birth")


def test_columns_of_other_types_are_refused_before_anything_runs(frame, model):
    for change, words in (
        ("cast(id as double) as id, time, fvc", "Cast it to string"),
        ("id, cast('2020-01-01' as date) as time, fvc", "from when they are counted"),
        ("id, cast('2020-01-01' as timestamp) as time, fvc", "from when they are counted"),
        ("id, cast(time as string) as time, fvc", "to_date"),
        ("id, time, cast(fvc as string) as fvc", "no number"),
    ):
        other = frame.selectExpr(*change.split(", "))
        for call in (engine.statistics, engine.embed):
            with pytest.raises(tm.TrajectoryMapsError, match=words):
                call(other, model, **COLUMNS)
    with pytest.raises(tm.TrajectoryMapsError, match="Name it"):
        engine.statistics(frame, model, id="who", time="time", value="fvc")
    with pytest.raises(tm.TrajectoryMapsError, match="leave it out|Leave it out"):
        engine.embed(frame, model, **COLUMNS, subjects=frame)
