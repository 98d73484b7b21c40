"""Statistics of a shard of individuals as packed bytes, one row of a file that `dtm fit --statistics` reads (docs/statistics-file.md)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping

import numpy as np

from ._canonical import canonical
from ._errors import TrajectoryMapsError
from ._model import Measured, Model, load_model
from ._statistics import band, columns, transformed
from ._visits import read_visits

Array = np.ndarray[Any, Any]
FORMAT = "dtm-statistics"
KEY = "trajectory-maps"


@dataclass(frozen=True)
class Plan:
    """What all shards of a cohort share: markers, their columns, bases, centres and noise.

    >>> from trajectory_maps import example_model, load_model
    >>> plan = Plan.of(load_model(example_model()))
    >>> [part.marker.name for part in plan.parts]
    ['fvc']
    """

    parts: tuple[Measured, ...]
    #: as it stands in a file
    text: str
    covariates = ()

    @staticmethod
    def of(like: Any) -> Plan:
        """From a plan, its text, a model, the path of a model or of statistics (pyarrow reads those), or the folder of either."""
        if isinstance(like, Plan):
            return like
        if isinstance(like, Model):
            return _plan({"markers": [part.source for part in like.parts]})
        if isinstance(like, Mapping):
            return _plan(like)
        if isinstance(like, str) and like.lstrip()[:1] == "{":
            return _plan(json.loads(like))
        if not isinstance(like, (str, os.PathLike)):
            raise TrajectoryMapsError(
                "option",
                f"like: expected a model, a plan or the path of statistics, received {type(like).__name__}.",
            )
        path = Path(like)
        if not path.exists():
            raise TrajectoryMapsError("file", f"like: expected a file or folder, received {path}, which is not there.")
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not files or (path.is_file() and path.suffix == ".json"):
            return Plan.of(load_model(path))
        for file in files:
            text = _plan_in(file)
            if text is not None:
                return Plan.of(text)
        raise TrajectoryMapsError("bad-statistics", f"like: expected statistics in {path}, received others.")

    def arrow_schema(self) -> Any:
        """The schema of rows of :func:`statistics`; needs pyarrow."""
        import pyarrow

        head = [("shard", pyarrow.int32()), ("individuals", pyarrow.int32())]
        head += [("ids", pyarrow.string()), ("plan", pyarrow.string())]
        return pyarrow.schema([*head, *((name, pyarrow.binary()) for name, _, _ in self.width())])

    def width(self) -> list[tuple[str, int, Any]]:
        """Name, entries of an individual (0 for those of a shard) and type of each column of bytes."""
        out: list[tuple[str, int, Any]] = []
        for k, part in enumerate(self.parts, 1):
            serial, limits = part.noise.correlation is not None, part.noise.has_limits
            out += [(f"gram_{k}", len(band(part, serial)[0]), "<f8"), (f"cross_{k}", part.basis.size, "<f8")]
            out += [(f"sumSquares_{k}", 1, "<f8"), (f"visits_{k}", 1, "<i4")]
            out += [(f"logDets_{k}", 1, "<f8")] if serial or limits else []
            out += [(f"counts_{k}", 1, "<f8")] if limits else []
            out += [(f"design_{k}", 0, "<f8")] if serial or limits else []
        return out


def _plan(raw: Mapping[str, Any]) -> Plan:
    if raw.get("format", FORMAT) != FORMAT or raw.get("formatVersion", 1) != 1:
        raise TrajectoryMapsError(
            "bad-statistics",
            f"like: expected a plan of version 1 of {FORMAT}, received {raw.get('format')} {raw.get('formatVersion')}.",
        )
    try:
        parts = tuple(Measured.of(part) for part in raw["markers"])
        own = {"markers": [part.source for part in parts], "warnings": list(raw.get("warnings", []))}
    except (KeyError, TypeError, ValueError) as error:
        raise TrajectoryMapsError(
            "bad-statistics", f"like: expected the plan that `dtm statistics` writes, received one without {error}."
        ) from None
    return Plan(parts, canonical({"format": FORMAT, "formatVersion": 1, **own}))


def _plan_in(file: Path) -> str | None:
    """The plan of a Parquet file: in its metadata, or in its first row."""
    import pyarrow.parquet as parquet

    opened = parquet.ParquetFile(file)
    text = (opened.metadata.metadata or {}).get(KEY.encode())
    if text is not None:
        return text.decode()
    if "plan" not in opened.schema_arrow.names or opened.metadata.num_rows == 0:
        return None
    return next(opened.iter_batches(1, columns=["plan"])).column(0)[0].as_py()


def statistics(
    visits: Any,
    like: Any,
    *,
    shard: int = 0,
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
    subjects: Any = None,
    origin: str | None = None,
    keep_repeats: bool = False,
) -> dict[str, Any]:
    """All that a fit reads of a shard of individuals, as one row of a file of statistics; the bytes are those of `dtm statistics`.

    ``like`` says basis, centre and noise: a model, or a file that `dtm statistics` wrote. All visits of an individual belong into one
    shard, and each shard has a number of its own. Columns are those of ``like`` unless they are named, as in :func:`embed`.

    >>> from trajectory_maps import example_model, load_model
    >>> visits = {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": [82, 79, 60]}
    >>> row = statistics(visits, load_model(example_model()), id="id", time="time", value="fvc")
    >>> row["individuals"], row["ids"], len(row["cross_1"])
    (2, '["a","b"]', 64)
    """
    plan = Plan.of(like)
    named = {"id": id, "time": time, "value": value, "marker": marker, "subjects": subjects, "origin": origin}
    cohort = read_visits(plan, visits, **named, keep_repeats=keep_repeats)
    counts = sum(np.diff(offsets) for offsets, _, _ in cohort.series)
    texts = [id_text(own) for own in cohort.ids]
    # Individuals in the order of the library: by UTF-16 code units.
    order = sorted(np.flatnonzero(counts), key=lambda i: texts[i].encode("utf-16-be"))
    ids = [texts[i] for i in order]
    row: dict[str, Any] = {"shard": shard, "individuals": len(ids)}
    row |= {"ids": json.dumps(ids, ensure_ascii=False, separators=(",", ":")), "plan": plan.text}
    found = {}
    for k, (part, series) in enumerate(zip(plan.parts, cohort.series), 1):
        for name, cells in _columns(part, *_in_order(series, np.array(order, int))).items():
            found[f"{name}_{k}"] = cells
    return row | {name: found[name].astype(kind).tobytes() for name, _, kind in plan.width()}


def id_text(id: Any) -> str:
    """An id as the command line reads it."""
    return canonical(id) if isinstance(id, float) else str(id).strip()


def _in_order(series: tuple[Array, Array, Array], order: Array) -> tuple[Array, Array, Array]:
    """The visits of some individuals, in this order."""
    offsets, times, values = series
    counts = np.diff(offsets)[order]
    ends = np.concatenate([[0], np.cumsum(counts)])
    at = np.arange(ends[-1]) + np.repeat(offsets[:-1][order] - ends[:-1], counts)
    return ends, times[at], values[at]


def _columns(part: Measured, offsets: Array, times: Array, values: Array) -> dict[str, Array]:
    values = transformed(part, values)
    visits = np.diff(offsets)
    plain = columns(part, offsets, times, values, False)
    own = plain if part.noise.correlation is None else columns(part, offsets, times, values, True)
    out = {"gram": own.gram, "cross": own.cross, "sumSquares": own.squares, "visits": visits}
    return out | {"logDets": own.log_dets, "counts": visits, "design": _design(part, plain.gram, len(times))}


def _design(part: Measured, gram: Array, total: int) -> Array:
    """Sum of B'B, [d,d], as N times its average, which is what the library keeps; one individual added after the other."""
    d = part.basis.size
    out = np.zeros((d, d))
    if total > 0:
        row, column = band(part, False)
        out[row, column] = out[column, row] = np.cumsum(gram, axis=0)[-1] / total * total
    return out


def write_statistics(path: str | os.PathLike[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Writes rows of :func:`statistics`, each as it comes, to a file for its owner alone; returns how many there were. Needs pyarrow."""
    import pyarrow
    import pyarrow.parquet as parquet

    writer, count = None, 0
    try:
        for row in rows:
            if writer is None:
                schema = Plan.of(row["plan"]).arrow_schema()
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
                writer = parquet.ParquetWriter(path, schema, compression="snappy", use_dictionary=False)
            cells = {name: bytes(cell) if isinstance(cell, bytearray) else cell for name, cell in row.items()}
            writer.write_table(pyarrow.Table.from_pylist([cells], schema=writer.schema))
            count += 1
    finally:
        if writer is not None:
            writer.close()
    return count
