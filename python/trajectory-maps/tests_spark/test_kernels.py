"""Every kernel of the conformance set inside Spark's workers: the bytes of Node. pass.json holds the fused round of a fit."""

from __future__ import annotations

from pathlib import Path

SET = Path(__file__).parents[3] / "fixtures" / "kernels"


def differences():
    """Runs files of the set; tells how many calls each made, and what came out otherwise."""

    def work(batches):
        import json

        import pyarrow
        from conformance import run_file

        for batch in batches:
            found = [run_file(json.loads(text)) for text in batch.column(1).to_pylist()]
            told = {"file": batch.column(0), "calls": [calls for calls, _ in found]}
            yield pyarrow.RecordBatch.from_pydict({**told, "otherwise": ["; ".join(names) for _, names in found]})

    return work


def test_kernels_give_the_bytes_of_node_in_every_worker(spark):
    files = [(path.stem, path.read_text()) for path in sorted(SET.glob("*.json"))]
    frame = spark.createDataFrame(files, "file string, text string").repartition(len(files))
    found = frame.mapInArrow(differences(), "file string, calls long, otherwise string").collect()
    assert sorted(row["file"] for row in found) == [name for name, _ in files]
    assert all(row["calls"] > 0 and row["otherwise"] == "" for row in found), found
