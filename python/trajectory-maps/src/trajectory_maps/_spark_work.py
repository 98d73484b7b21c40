"""What workers of Spark do with batches of rows (id, time, value_1, value_2, ..., covariates), of which equal keys stand together."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import lru_cache
from typing import Any, Iterable, Iterator

import numpy as np

from ._embed import embed
from ._errors import TrajectoryMapsError
from ._model import Model
from ._packed import Plan, statistics

_PIECE = 8192


def pieces(batches: Iterable[Any], key: str, size: int) -> Iterator[Any]:
    """Tables with all rows of their keys, of which equal ones stand together: of one key each, or of ``size`` rows or some more."""
    import pyarrow

    held: list[Any] = []
    count, last = 0, None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        keys = batch.column(batch.schema.get_field_index(key)).to_numpy(zero_copy_only=False)
        before = np.concatenate([[keys[0] if last is None else last], keys[:-1]])
        at, last = 0, keys[-1]
        for cut in np.flatnonzero(keys != before).tolist():
            if count + cut - at >= size:
                yield pyarrow.Table.from_batches([*held, batch.slice(at, cut - at)])
                held, count, at = [], 0, cut
        held.append(batch.slice(at))
        count += batch.num_rows - at
    if count > 0:
        yield pyarrow.Table.from_batches(held)


def reading(reader: Any) -> dict[str, Any]:
    """How the columns of rows are called, for a model or plan without columns of its own."""
    value = {part.marker.name: f"value_{k}" for k, part in enumerate(reader.parts, 1)}
    return {"id": "id", "time": "time", "value": value}


def without_columns(reader: Any) -> Any:
    return replace(reader, parts=tuple(replace(part, columns=None) for part in reader.parts))


def statistics_of(plan_text: str, keep_repeats: bool, batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow

    plan = plan_of(plan_text)
    done: set[int] = set()
    for table in pieces(batches, "shard", 1):
        shard = table.column("shard")[0].as_py()
        if shard in done:
            raise TrajectoryMapsError("shard", f"expected the rows of shard {shard} together, received some apart.")
        done.add(shard)
        row = statistics(table, plan, shard=shard, **reading(plan), keep_repeats=keep_repeats)
        yield pyarrow.RecordBatch.from_pylist([row], schema=plan.arrow_schema())


def places_of(pickled: bytes, keep_repeats: bool, suspects: bool, batches: Iterable[Any]) -> Iterator[Any]:
    model = _model_of(pickled)
    for table in pieces(batches, "id", _PIECE):
        asked = {"keep_repeats": keep_repeats, "suspects": suspects, "reason": False}
        yield from embed(model, table, **reading(model), **asked).to_batches()


@lru_cache(maxsize=4)
def plan_of(text: str) -> Plan:
    return without_columns(Plan.of(text))


@lru_cache(maxsize=2)
def _model_of(pickled: bytes) -> Model:
    """The model with its tables, which are made once in a worker."""
    return pickle.loads(pickled)
