"""Large cohorts on Spark: statistics in one pass, the fit on one machine, places in one pass (docs/engines.md).

Everything goes through ``mapInArrow``: no RDD, no SparkContext, no cache, so that Spark Connect works too. Workers need this package and
pyarrow, and no Node; the fit needs the command line `dtm` where this program runs. Results do not depend on how rows are spread: a shard
is a hash of ids, and what a worker computes of a shard, or of an individual, is the same to the last bit wherever it runs.
"""

from __future__ import annotations

import math
import os
import pickle
import re
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from ._basis import TRANSFORMS
from ._cli import Fit, run
from ._embed import embed as embed_table
from ._errors import TrajectoryMapsError
from ._frames import write_csv
from ._model import Model, load_model
from ._packed import Plan, write_statistics
from ._spark_rounds import fit_on_spark
from ._spark_rows import CELLS, are_dates, id_column, literal, quoted, visits_in
from ._spark_work import places_of, reading, statistics_of, without_columns
from ._times import Counting, counting, parse_origin
from ._visits import Picked, pick_columns

_PER_SHARD = 2048
#: sums of a shard go to the driver in every round, some 260 kB each
_PER_SHARD_OF_ROUNDS = 16384
_FLAGS_OF_STATISTICS = ("transform", "marker", "unit", "time_unit", "limits", "basis", "degree", "knots", "noise", "origin")


def statistics(
    df: Any,
    like: Any,
    *,
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
    origin: str | None = None,
    shards: int | None = None,
    partitions: int | None = None,
    keep_repeats: bool = False,
) -> Any:
    """All that a fit reads of a DataFrame of visits, as a DataFrame with a row for each shard of individuals.

    Written as Parquet, `dtm fit --statistics FOLDER` reads it. ``like`` says basis, centre and noise: a model, a file or folder of
    statistics, or a :class:`Plan`. Columns are those of ``like`` unless they are named, as in :func:`trajectory_maps.embed`. ``shards``
    is how many (about 2,048 individuals each by default, for which ids are counted first), ``partitions`` among how many tasks
    they are spread (by default as Spark is set). Times are numbers, dates or moments, of which the day in the time zone of the session counts;
    they are counted as those of ``like``, or from ``origin``. **The result holds data of individuals.**
    """
    plan = Plan.of(like)
    picked = pick_columns(plan, df.columns, id, time, value, marker)
    rows = visits_in(df, picked, counting(plan.parts, are_dates(df, picked), origin)).drop(*CELLS)
    count = shards or _shards_for(_number_of_ids(rows))
    keyed = rows.selectExpr("*", f"cast(pmod(xxhash64(id), {int(count)}) as int) as shard")
    spread = keyed.repartition("shard") if partitions is None else keyed.repartition(partitions, "shard")
    types = {"int32": "int", "string": "string", "binary": "binary"}
    schema = ", ".join(f"`{own.name}` {types[str(own.type)]}" for own in plan.arrow_schema())
    return spread.sortWithinPartitions("shard").mapInArrow(partial(statistics_of, plan.text, keep_repeats), schema)


def embed(
    df: Any,
    model: Model | str | os.PathLike[str],
    *,
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
    subjects: Any = None,
    origin: str | None = None,
    partitions: int | None = None,
    keep_repeats: bool = False,
    suspects: bool = False,
) -> Any:
    """Places of everybody in a DataFrame of visits, as a DataFrame with a row for each individual who was seen.

    Columns and numbers are those of :func:`trajectory_maps.embed`; ``subjects`` is a DataFrame with the covariates that the model needs.
    Times are counted as those of the model, or from ``origin``; a column for it stands in ``df``.
    Values that are probably wrong are counted if ``suspects`` asks for it, which doubles the time.
    """
    own = model if isinstance(model, Model) else load_model(model)
    picked = pick_columns(own, df.columns, id, time, value, marker)
    if own.covariates:
        source = df if subjects is None else subjects
        for name in (picked.id, *own.covariates):
            if name not in source.columns:
                raise TrajectoryMapsError(
                    "missing-column", f'expected a column "{name}", received {", ".join(source.columns)}.'
                )
    elif subjects is not None:
        raise TrajectoryMapsError(
            "option", "subjects: expected with a model of covariates; this one has none. Leave it out."
        )
    rule = counting(own.parts, are_dates(df, picked), origin)
    rows = visits_in(df, picked, rule, own.covariates if subjects is None else ()).drop(*CELLS)
    if subjects is not None:
        rows = rows.join(subjects.selectExpr(id_column(picked.id), *map(quoted, own.covariates)), "id", "left")
    spread = rows.repartition("id") if partitions is None else rows.repartition(partitions, "id")
    sent = without_columns(own)
    nobody: dict[str, Any] = {name: [] for name in ("id", "time", *own.covariates)}
    nobody |= {f"value_{k}": [] for k in range(1, len(own.parts) + 1)}
    names = embed_table(sent, nobody, **reading(sent), suspects=suspects)
    kinds = ("string" if name == "id" else "bigint" if re.match("visits(_|$)|suspects$", name) else "double" for name in names)
    schema = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(names, kinds))
    return spread.sortWithinPartitions("id").mapInArrow(partial(places_of, pickle.dumps(sent), keep_repeats, suspects), schema)


def fit(
    df: Any,
    *,
    id: str = "id",
    time: str = "time",
    value: str | None = None,
    markers: str | Sequence[str] | None = None,
    marker_column: str | None = None,
    folder: str | None = None,
    local_folder: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    sample: int = 5000,
    shards: int | None = None,
    partitions: int | None = None,
    keep_repeats: bool = False,
    rounds: str = "driver",
    **options: Any,
) -> Fit:
    """Fits a map to a DataFrame of visits: statistics on Spark, the fit here by `dtm fit --statistics`, places on Spark.

    Basis, centre and noise are chosen on about ``sample`` individuals, with those among them who were seen first and last.
    ``folder`` is where Spark writes the statistics, which must not exist yet and must be in reach of this machine, as ``local_folder``
    if it is called otherwise here; without one they are collected (148 bytes an individual and marker). With ``rounds="spark"`` every pass of
    the map over individuals is a job of Spark on the statistics in ``folder``, which this machine need not reach; linear models, checks of
    places and the statistics themselves stay here as well. Noise then has one level (``noise="white"`` or ``"serial"``). ``options`` are the flags of `dtm
    statistics` and `dtm fit` with underscores: ``transform="log", noise="level", dim=1``; for several markers
    ``markers=["bili:log", "albumin"]``, with ``value`` and ``marker_column`` for a long table; with dates ``origin="first"`` (as it is without) and
    ``time_unit="months"``.
    """
    if rounds not in ("driver", "spark"):
        raise TrajectoryMapsError("option", f'rounds: expected "driver" or "spark", received {rounds!r}.')
    if rounds == "spark" and folder is None:
        raise TrajectoryMapsError(
            "option", 'rounds: expected folder=... with "spark", which reads the statistics there in every round, received none.'
        )
    picked = _picked(id, time, value, markers, marker_column, df.columns)
    dates = are_dates(df, picked)
    asked = options.get("origin", "first" if dates else None)
    rule = None if asked is None else parse_origin(asked, dates, "days")
    rows = visits_in(df, picked, rule)
    about = {name: options.pop(name) for name in _FLAGS_OF_STATISTICS if name in options}
    if "seed" in options:
        about["seed"] = options["seed"]
    listed = None if markers is None else markers if isinstance(markers, str) else ",".join(markers)
    about |= {"id": id, "time": time, "markers": listed, "marker_column": marker_column, "keep_repeats": keep_repeats}
    about["value"] = picked.values[0] if listed is None or marker_column is not None else None
    keep = tempfile.TemporaryDirectory(prefix="trajectory-maps-")
    scratch = Path(keep.name)
    count, chosen = _sampled(rows, len(picked.values), sample)
    write_csv(_as_table(chosen, picked, rule, dates), scratch / "sample.csv")
    run("statistics", str(scratch / "sample.csv"), out=str(scratch / "plan.parquet"), **about)
    (scratch / "sample.csv").unlink()
    plan = Plan.of(scratch / "plan.parquet")
    if rounds == "spark" and any(part.noise.spread > 0 for part in plan.parts):
        raise TrajectoryMapsError(
            "option",
            'rounds: expected noise of one level with "spark", received levels of individuals, which a fit keeps from round to round. '
            'Ask for noise="white" or "serial", or leave rounds="spark" out.',
        )
    size = _PER_SHARD if rounds == "driver" else _PER_SHARD_OF_ROUNDS
    number = shards or _shards_for(count, size)
    taken = statistics(df, plan, shards=number, partitions=partitions, keep_repeats=keep_repeats)
    to = scratch / "run" if out is None else Path(os.fspath(out))
    if folder is not None:
        taken.write.mode("error").option("compression", "snappy").parquet(folder)
    if rounds == "spark":
        summary = fit_on_spark(df.sparkSession.read.parquet(folder), plan, scratch, out=str(to), **options)
    else:
        source = scratch / "statistics.parquet"
        if folder is None:
            write_statistics(source, (row.asDict() for row in taken.toLocalIterator()))
        else:
            source = _in_reach(folder, local_folder)
        summary = run("fit", statistics=str(source), out=str(to), **options)
    for file in (scratch / "statistics.parquet", scratch / "plan.parquet"):
        file.unlink(missing_ok=True)
    for own in ("statistics", "rounds"):
        shutil.rmtree(scratch / own, ignore_errors=True)
    model = load_model(to)
    return Fit(model, to, summary, embed(df, model, partitions=partitions, keep_repeats=keep_repeats), keep)


def _in_reach(folder: str, local_folder: str | os.PathLike[str] | None) -> Path:
    """The folder of statistics as it is called on this machine."""
    source = Path(local_folder or re.sub(r"^file:/*", "/", folder))
    if source.is_dir():
        return source
    raise TrajectoryMapsError(
        "file",
        f"fit: expected {folder}, where Spark wrote the statistics, as {source} on this machine, received no such folder. "
        "Name it as it is called here: local_folder=...",
    )


def _number_of_ids(rows: Any) -> int:
    return int(rows.selectExpr("approx_count_distinct(id) as n").collect()[0]["n"])


def _shards_for(individuals: int, size: int = _PER_SHARD) -> int:
    return max(1, math.ceil(individuals / size))


# The sample that basis, centre and noise are chosen on.


def _picked(
    id: str, time: str, value: str | None, markers: Any, marker_column: str | None, found: Sequence[str]
) -> Picked:
    if (value is None) == (markers is None) and marker_column is None:
        raise TrajectoryMapsError(
            "option", 'fit: expected value="..." for one marker, or markers=["bili:log", ...], received none or both.'
        )
    names = [value or ""] if markers is None else [_column_of(own) for own in _listed(markers)]
    if marker_column is not None and (value is None or markers is None):
        raise TrajectoryMapsError(
            "option", "fit: expected value=... and markers=[...] with marker_column=..., received not both."
        )
    values = names if marker_column is None else [value] * len(names)
    for name in (id, time, *values, *([] if marker_column is None else [marker_column])):
        if name not in found:
            raise TrajectoryMapsError(
                "missing-column", f'fit: expected a column "{name}", received {", ".join(found)}. Name another.'
            )
    return Picked(id, time, values, marker_column, names)


def _listed(markers: Any) -> list[str]:
    """The markers of a list, or of its text.

    >>> [_column_of(own) for own in _listed('bili:log[mg/dl],"a,b":sqrt,albumin[g,dl]')]
    ['bili', 'a,b', 'albumin']
    """
    if not isinstance(markers, str):
        return list(markers)
    return [own.strip() for own in re.findall(r'(?:"(?:[^"]|"")*"|\[[^\]]*\]|[^,"\[])+', markers)]


def _column_of(marker: str) -> str:
    bare = re.sub(r"\[[^\[\]]*\]$", "", marker.strip())
    head, _, tail = bare.rpartition(":")
    bare = head if head and tail in TRANSFORMS else bare
    return bare[1:-1].replace('""', '"') if bare.startswith('"') and bare.endswith('"') else bare


def _sampled(rows: Any, parts: int, most: int) -> tuple[int, list[Any]]:
    """How many individuals there are, and the visits of about ``most`` of them, among them who has the first and the last visit of each marker."""
    ends = [
        f"{of}(case when value_{k} is not null and not isnan(time) then struct(time, id) end).id as {of}_{k}"
        for k in range(1, parts + 1)
        for of in ("min", "max")
    ]
    found = rows.selectExpr("approx_count_distinct(id) as n", *ends).collect()[0].asDict()
    count = int(found.pop("n"))
    step = max(1, round(count / most))
    chosen = f"pmod(xxhash64(id, 'sample'), {step}) = 0"
    seen = sorted({own for own in found.values() if own is not None})
    if seen:
        chosen = f"{chosen} or id in ({', '.join(map(literal, seen))})"
    return count, rows.where(chosen).collect()


def _as_table(rows: Sequence[Any], picked: Picked, rule: Counting | None, dates: bool) -> dict[str, list[Any]]:
    """Collected rows as a table in the form of the DataFrame that they come from."""
    written = lambda cell: str(np.datetime64(int(cell), "D")) if dates and cell is not None else cell
    head = {picked.id: [row["id"] for row in rows]}
    head[picked.time] = [written(row["time" if rule is None else "_given"]) for row in rows]
    if rule is not None and rule.column is not None:
        head[rule.column] = [written(row["_origin"]) for row in rows]
    if picked.marker is None:
        return head | {str(name): [row[f"value_{k}"] for row in rows] for k, name in enumerate(picked.values, 1)}
    # A row for each value.
    cells = [
        (at, level, row[f"value_{k}"])
        for at, row in enumerate(rows)
        for k, level in enumerate(picked.levels, 1)
        if row[f"value_{k}"] is not None
    ]
    table = {name: [own[at] for at, _, _ in cells] for name, own in head.items()}
    return table | {picked.marker: [own[1] for own in cells], str(picked.values[0]): [own[2] for own in cells]}
