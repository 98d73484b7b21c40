"""A fit whose rounds are jobs of Spark: the bytes of one process, in every mode, and with an executor killed."""

from __future__ import annotations

import pytest
from conftest import MODE, killing

import trajectory_maps as tm
import trajectory_maps._spark_rounds as rounds
import trajectory_maps.spark as engine
from trajectory_maps._cli import run

# A short fit: every round is a job.
FITTING = {"restarts": 0, "dim": 1, "tolerance": 0.3}


def test_rounds_on_spark_have_the_bytes_of_one_process(spark, frame, tmp_path, monkeypatch):
    folder, killed = tmp_path / "statistics", tmp_path / "killed"
    asked, answers = [], rounds.answers
    if MODE == "cluster":
        # An executor dies in the first round.
        kill = killing(str(killed))
        monkeypatch.setattr(rounds, "answers", lambda plan, text, batches: kill(answers(plan, text, batches)))
    total = rounds.total
    monkeypatch.setattr(rounds, "total", lambda rows, *given: asked.append(len(rows)) or total(rows, *given))
    given = {"value": "fvc", "noise": "white", "shards": 4, "partitions": 2, "folder": str(folder), "rounds": "spark"}
    fitted = engine.fit(frame, **given, out=tmp_path / "run", **FITTING)
    assert len(asked) > 5 and set(asked) == {4}
    assert MODE != "cluster" or int(killed.read_text()) > 1
    # The same shards in one process.
    shards = rounds.shard_files(spark.read.parquet(str(folder)), tmp_path / "shards")
    run("fit", statistics=str(tmp_path / "shards"), by_file=True, out=str(tmp_path / "whole"), **FITTING)
    assert (tmp_path / "run" / "model.json").read_bytes() == (tmp_path / "whole" / "model.json").read_bytes()
    assert fitted.placements.count() == fitted.model.record["numIndividuals"]
    if MODE == "local":
        check_refusals(spark, frame, folder, shards, tmp_path)


def check_refusals(spark, frame, folder, shards, tmp_path):
    """Shards that were written again count once; those of another state of the cohort, and none at all, are refused."""
    again = engine.statistics(frame, folder, shards=4, partitions=2)
    again.write.mode("append").parquet(str(folder))
    table = spark.read.parquet(str(folder))
    assert table.count() == 8 and rounds.shard_files(table, tmp_path / "again") == shards
    row = {"statistics": shards[0], "question": tm._rounds.checksum(b"asked"), "pairs": bytes(16)}
    rows = [row | {"shard": shard, "statistics": own} for shard, own in shards.items()]
    assert rounds.total(rows + rows[:1], shards, b"asked").shape == (2, 1)
    for wrong in (
        [*rows, rows[0] | {"pairs": bytes(8) + b"\1" * 8}],
        [rows[0] | {"statistics": "of another"}, *rows[1:]],
        [rows[0] | {"question": "another"}, *rows[1:]],
        rows[1:],
    ):
        with pytest.raises(tm.TrajectoryMapsError, match="rounds: expected sums of"):
            rounds.total(wrong, shards, b"asked")
    engine.statistics(frame.where("time < 9"), folder, shards=4).write.mode("append").parquet(str(folder))
    with pytest.raises(tm.TrajectoryMapsError, match="earlier run"):
        rounds.shard_files(spark.read.parquet(str(folder)), tmp_path / "stale")


@pytest.mark.modes("local")
def test_what_rounds_cannot_do_is_refused(frame, tmp_path):
    for given, words in (
        ({"rounds": "both", "noise": "white"}, 'expected "driver" or "spark"'),
        ({"rounds": "spark", "noise": "white"}, "expected folder"),
        ({"rounds": "spark", "noise": "level", "folder": str(tmp_path / "none")}, "noise of one level"),
    ):
        with pytest.raises(tm.TrajectoryMapsError, match=words):
            engine.fit(frame, value="fvc", **given)
    assert not (tmp_path / "none").exists()
