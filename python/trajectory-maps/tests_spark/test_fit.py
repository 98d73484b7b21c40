"""A fit from a DataFrame to places: statistics on Spark, the fit by the command line."""

from __future__ import annotations

import csv
import io
import os
import subprocess

import pytest
from conftest import MODE

import trajectory_maps as tm
import trajectory_maps.spark as engine
from trajectory_maps._cli import find_command, run
from trajectory_maps._frames import write_csv

FITTING = {"noise": "white", "restarts": 0}


@pytest.mark.modes("local", "connect")
def test_a_fit_is_that_of_the_visits_and_does_not_depend_on_the_way(frame, visits, tmp_path):
    collected = engine.fit(frame, value="fvc", shards=4, out=tmp_path / "collected", **FITTING)
    assert collected.verdict and collected.model.markers == ("fvc",)
    write_csv(visits, tmp_path / "visits.csv")
    run("statistics", str(tmp_path / "visits.csv"), value="fvc", noise="white", out=str(tmp_path / "all.parquet"))
    run("fit", statistics=str(tmp_path / "all.parquet"), out=str(tmp_path / "whole"), restarts=0)
    # The sample is everybody here, so that basis and centre are the same.
    model = (tmp_path / "whole" / "model.json").read_bytes()
    assert (tmp_path / "collected" / "model.json").read_bytes() == model
    if MODE == "local":
        folder = tmp_path / "statistics"
        shared = engine.fit(
            frame, value="fvc", shards=4, partitions=3, folder=str(folder), out=tmp_path / "shared", **FITTING
        )
        assert (tmp_path / "shared" / "model.json").read_bytes() == model
        # Written again by a job that was repeated: every shard counts once.
        again = engine.statistics(frame, folder, shards=4, partitions=2)
        again.write.mode("append").parquet(str(folder))
        run("fit", statistics=str(folder), out=str(tmp_path / "again"), restarts=0)
        assert (tmp_path / "again" / "model.json").read_bytes() == model
        # Shards of an earlier state of the cohort are refused.
        engine.statistics(frame.where("time < 9"), folder, shards=4).write.mode("append").parquet(str(folder))
        with pytest.raises(tm.TrajectoryMapsError, match="earlier run"):
            run("fit", statistics=str(folder), out=str(tmp_path / "stale"))
        with pytest.raises(Exception, match="(?i)already exists"):
            engine.fit(frame, value="fvc", folder=str(folder), **FITTING)
        assert shared.placements.count() == len(set(visits["id"]))
    check_places(collected, tmp_path)


def check_places(fitted, tmp_path):
    """Places have the numbers of `dtm embed`."""
    call = [*find_command(), "embed", str(fitted.folder), str(tmp_path / "visits.csv"), "--quiet"]
    text = subprocess.run(call, capture_output=True, text=True, check=True, encoding="utf-8", env=os.environ).stdout
    expected = {row["id"].lstrip("'"): row for row in csv.DictReader(io.StringIO(text))}
    found = fitted.placements.collect()
    assert {row["id"] for row in found} == set(expected)
    for row in found:
        own = expected[row["id"]]
        # Suspect values are counted on Spark only where that is asked for.
        for name in own.keys() - {"id", "suspects"}:
            assert row[name] == pytest.approx(float(own[name]), rel=1e-9, abs=1e-9)


@pytest.mark.modes("local")
def test_basis_and_noise_are_chosen_on_a_sample_with_the_first_and_last_visits(frame, visits, tmp_path):
    fitted = engine.fit(frame, value="fvc", sample=60, out=tmp_path / "run", **FITTING)
    seen = [t for t, y in zip(visits["time"], visits["fvc"]) if y is not None]
    (low, high), (first, last) = fitted.model.parts[0].basis.domain, (min(seen), max(seen))
    # Rounded outwards by less than a hundredth of the follow-up (docs/privacy.md).
    assert 0 <= first - low < (last - first) / 100
    assert 0 <= high - last < (last - first) / 100
    assert fitted.model.record["numIndividuals"] == len(set(visits["id"]))


@pytest.mark.modes("local")
def test_dates_are_counted_as_the_command_line_counts_them(frame, visits, tmp_path):
    day = "date_add(date'2001-02-03', cast(time * 365 + length(id) as int)) as day"
    dated = frame.selectExpr("id", day, "fvc")
    found = engine.fit(dated, time="day", value="fvc", time_unit="months", out=tmp_path / "run", **FITTING)
    rows = [row.asDict() for row in dated.collect()]
    write_csv({name: [row[name] for row in rows] for name in rows[0]}, tmp_path / "visits.csv")
    asked = {"value": "fvc", "time": "day", "time_unit": "months", "noise": "white"}
    run("statistics", str(tmp_path / "visits.csv"), out=str(tmp_path / "all.parquet"), **asked)
    run("fit", statistics=str(tmp_path / "all.parquet"), out=str(tmp_path / "whole"), restarts=0)
    assert (tmp_path / "run" / "model.json").read_bytes() == (tmp_path / "whole" / "model.json").read_bytes()
    check_places(found, tmp_path)


@pytest.mark.modes("local")
def test_several_markers_are_fitted_from_a_long_table(spark, visits, tmp_path):
    rows = [
        (who, t, name, y if name == "fvc" else 100 - y)
        for who, t, y in zip(*visits.values())
        if y is not None
        for name in ("fvc", "dl,co")
    ]
    long = spark.createDataFrame(rows, "who string, at double, what string, y double")
    given = {"id": "who", "time": "at", "value": "y", "marker_column": "what", "markers": ["fvc", '"dl,co"']}
    fitted = engine.fit(long, **given, out=tmp_path / "run", **FITTING)
    assert fitted.model.markers == ("fvc", "dl,co")
    assert {row["visits_dl,co"] for row in fitted.placements.collect()} == set(range(1, 8))


@pytest.mark.modes("local")
def test_columns_that_are_not_said_are_asked_for(frame):
    for given in (
        {},
        {"value": "fvc", "markers": ["fvc"]},
        {"value": "other"},
        {"marker_column": "fvc", "value": "fvc"},
    ):
        with pytest.raises(tm.TrajectoryMapsError, match="fit: expected"):
            engine.fit(frame, **given)
