"""A fit whose rounds are jobs of Spark over a table of statistics: what the driver asks for, and what workers answer."""

from __future__ import annotations

from functools import lru_cache, partial, reduce
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping

import numpy as np

from ._errors import TrajectoryMapsError
from ._packed import Plan, write_statistics
from ._rounds import Question, add_to_pairs, checksum, fit_by_rounds, shard_sums
from ._spark_work import plan_of

_ANSWER = "shard int, statistics string, question string, pairs binary"


def fit_on_spark(table: Any, plan: Plan, scratch: Path, **options: Any) -> Any:
    """`dtm fit` of a table of statistics: the driver has them too, one file for each shard, and Spark makes the passes of the map over them."""
    shards = shard_files(table, scratch / "statistics")

    def sums(question: bytes) -> np.ndarray[Any, Any]:
        return total(table.mapInArrow(partial(answers, plan.text, question), _ANSWER).collect(), shards, question)

    return fit_by_rounds(sums, scratch / "rounds", statistics=str(scratch / "statistics"), **options)


def shard_files(table: Any, folder: Path) -> dict[int, str]:
    """Writes a file for each shard of a table of statistics, in their order; returns their checksums."""
    folder.mkdir()
    found: dict[int, str] = {}
    for row in table.toLocalIterator():
        shard, own = row["shard"], _checksum(row.asDict())
        if found.setdefault(shard, own) != own:
            raise TrajectoryMapsError(
                "bad-statistics",
                f"rounds: expected shard {shard} once, received another one: one of them is of an earlier run. Write all of them to a new folder.",
            )
        write_statistics(folder / f"{shard:08}.parquet", [row.asDict()])
    return found


def answers(plan_text: str, question: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """The sums of each shard, with what it was and what was asked."""
    import pyarrow

    names = [("shard", pyarrow.int32()), ("statistics", pyarrow.string()), ("question", pyarrow.string())]
    schema = pyarrow.schema([*names, ("pairs", pyarrow.binary())])
    asked = checksum(question)
    for batch in batches:
        for row in batch.to_pylist():
            pairs = shard_sums(_question_of(question), plan_of(plan_text), row)
            told = {"shard": row["shard"], "statistics": _checksum(row), "question": asked, "pairs": pairs.tobytes()}
            yield pyarrow.RecordBatch.from_pylist([told], schema=schema)


@lru_cache(maxsize=1)
def _question_of(text: bytes) -> Question:
    return Question.of(text)


def _checksum(row: Mapping[str, Any]) -> str:
    """Of what a shard is: its individuals and their statistics."""
    cells = (row[name] for name in sorted(row) if name not in ("shard", "individuals"))
    return checksum(*(cell.encode() if isinstance(cell, str) else bytes(cell) for cell in cells))


def total(rows: Iterable[Any], shards: Mapping[int, str], question: bytes) -> np.ndarray[Any, Any]:
    """Pairs of the sums of all shards, each of which counts once, in their order."""
    asked = checksum(question)
    found: dict[int, bytes] = {}
    for row in rows:
        shard, pairs = row["shard"], bytes(row["pairs"])
        stale = row["question"] != asked or shards.get(shard) != row["statistics"]
        if stale or found.setdefault(shard, pairs) != pairs:
            raise TrajectoryMapsError(
                "bad-statistics",
                f"rounds: expected sums of the statistics that the fit began with, received others of shard {shard}. Was the folder written to meanwhile?",
            )
    missing = sorted(shards.keys() - found.keys())
    if missing:
        raise TrajectoryMapsError(
            "bad-statistics", f"rounds: expected sums of every shard, received none of {', '.join(map(str, missing[:5]))}."
        )
    return reduce(add_to_pairs, (np.frombuffer(found[shard]).reshape(2, -1) for shard in sorted(found)))
