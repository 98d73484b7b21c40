"""Large cohorts on Spark: statistics in one pass, the fit on one machine, places in one pass (docs/engines.md).

Everything goes through ``mapInArrow``: no RDD, no SparkContext, no cache, so that Spark Connect works too. Workers need this package and
pyarrow, and no Node; the fit needs the command line `dtm` where this program runs. Results do not depend on how rows are spread: a shard
is a hash of ids, and what a worker computes of a shard, or of an individual, is the same to the last bit wherever it runs.
"""

from __future__ import annotations

import base64
import math
import os
import pickle
import re
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Mapping, Sequence

from ._basis import TRANSFORMS
from ._cli import Fit, run
from ._embed import embed as embed_table
from ._errors import TrajectoryMapsError
from ._frames import write_csv
from ._model import Model, load_model
from ._packed import Plan, write_statistics
from ._spark_work import places_of, reading, statistics_of, without_columns
from ._visits import Picked, pick_columns

_PER_SHARD = 2048
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_IDS = ("string", "varchar", "char", "tinyint", "smallint", "int", "bigint")
_FLAGS_OF_STATISTICS = ("transform", "marker", "unit", "time_unit", "limits", "basis", "degree", "knots", "noise")


def statistics(
    df: Any,
    like: Any,
    *,
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
    shards: int | None = None,
    partitions: int | None = None,
    keep_repeats: bool = False,
) -> Any:
    """All that a fit reads of a DataFrame of visits, as a DataFrame with a row for each shard of individuals.

    Written as Parquet, `dtm fit --statistics FOLDER` reads it. ``like`` says basis, centre and noise: a model, a file or folder of
    statistics, or a :class:`Plan`. Columns are those of ``like`` unless they are named, as in :func:`trajectory_maps.embed`. ``shards``
    is how many (about 2,048 individuals each by default, for which ids are counted first), ``partitions`` among how many tasks
    they are spread (by default as Spark is set). **The result holds data of individuals.**
    """
    plan = Plan.of(like)
    rows = _visits(df, pick_columns(plan, df.columns, id, time, value, marker))
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
    partitions: int | None = None,
    keep_repeats: bool = False,
    suspects: bool = False,
) -> Any:
    """Places of everybody in a DataFrame of visits, as a DataFrame with a row for each individual who was seen.

    Columns and numbers are those of :func:`trajectory_maps.embed`; ``subjects`` is a DataFrame with the covariates that the model needs.
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
    rows = _visits(df, picked, own.covariates if subjects is None else ())
    if subjects is not None:
        rows = rows.join(subjects.selectExpr(_id(picked.id), *map(_quoted, own.covariates)), "id", "left")
    spread = rows.repartition("id") if partitions is None else rows.repartition(partitions, "id")
    sent = without_columns(own)
    nobody: dict[str, Any] = {name: [] for name in ("id", "time", *own.covariates)}
    nobody |= {f"value_{k}": [] for k in range(1, len(own.parts) + 1)}
    names = embed_table(sent, nobody, **reading(sent), suspects=suspects)
    kinds = ("string" if name == "id" else "bigint" if re.match("visits(_|$)|suspects$", name) else "double" for name in names)
    schema = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip(names, kinds))
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
    **options: Any,
) -> Fit:
    """Fits a map to a DataFrame of visits: statistics on Spark, the fit here by `dtm fit --statistics`, places on Spark.

    Basis, centre and noise are chosen on about ``sample`` individuals, with those among them who were seen first and last.
    ``folder`` is where Spark writes the statistics, which must not exist yet and must be in reach of this machine, as ``local_folder``
    if it is called otherwise here; without one they are collected (148 bytes an individual and marker). ``options`` are the flags of `dtm
    statistics` and `dtm fit` with underscores: ``transform="log", noise="level", dim=1``; for several markers
    ``markers=["bili:log", "albumin"]``, with ``value`` and ``marker_column`` for a long table.
    """
    picked = _picked(id, time, value, markers, marker_column, df.columns)
    rows = _visits(df, picked)
    about = {name: options.pop(name) for name in _FLAGS_OF_STATISTICS if name in options}
    if "seed" in options:
        about["seed"] = options["seed"]
    listed = None if markers is None else markers if isinstance(markers, str) else ",".join(markers)
    about |= {"id": id, "time": time, "markers": listed, "marker_column": marker_column, "keep_repeats": keep_repeats}
    about["value"] = picked.values[0] if listed is None or marker_column is not None else None
    keep = tempfile.TemporaryDirectory(prefix="trajectory-maps-")
    scratch = Path(keep.name)
    count, chosen = _sampled(rows, len(picked.values), sample)
    write_csv(_as_table(chosen, picked), scratch / "sample.csv")
    run("statistics", str(scratch / "sample.csv"), out=str(scratch / "plan.parquet"), **about)
    (scratch / "sample.csv").unlink()
    plan = Plan.of(scratch / "plan.parquet")
    taken = statistics(df, plan, shards=shards or _shards_for(count), partitions=partitions, keep_repeats=keep_repeats)
    if folder is None:
        source = scratch / "statistics.parquet"
        write_statistics(source, (row.asDict() for row in taken.toLocalIterator()))
    else:
        taken.write.mode("error").option("compression", "snappy").parquet(folder)
        source = Path(local_folder or re.sub(r"^file:/*", "/", folder))
        if not source.is_dir():
            raise TrajectoryMapsError(
                "file",
                f"fit: expected {folder}, where Spark wrote the statistics, as {source} on this machine, received no such folder. "
                "Name it as it is called here: local_folder=...",
            )
    to = scratch / "run" if out is None else Path(os.fspath(out))
    summary = run("fit", statistics=str(source), out=str(to), **options)
    for file in (scratch / "statistics.parquet", scratch / "plan.parquet"):
        file.unlink(missing_ok=True)
    model = load_model(to)
    return Fit(model, to, summary, embed(df, model, partitions=partitions, keep_repeats=keep_repeats), keep)


# Rows as workers read them: id, time, value_1, value_2, ..., and covariates.


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    """A text in SQL, however quotes and backslashes are set to be read."""
    return f"decode(unbase64('{base64.b64encode(text.encode()).decode()}'), 'UTF-8')"


def _id(name: str) -> str:
    return f"trim(cast({_quoted(name)} as string)) as id"


def _visits(df: Any, picked: Picked, covariates: Sequence[str] = ()) -> Any:
    """The visits of a DataFrame, checked by their types; rows without a value are left out."""
    types = dict(df.dtypes)
    _check(types, picked.id, "ids", _IDS, "Cast it to string")
    _check(
        types, picked.time, "times", _NUMBERS, "Count days, months or years from a common start: datediff(...) / 365.25"
    )
    columns = [_id(picked.id), f"cast({_quoted(picked.time)} as double) as time"]
    for k, (name, level) in enumerate(zip(picked.values, picked.levels), 1):
        cell = "null"
        if name is not None:
            _check(types, name, "values", _NUMBERS, "Cast it, after a look at what is no number")
            cell = f"nanvl(cast({_quoted(name)} as double), cast(null as double))"
            if picked.marker is not None:
                cell = f"case when trim(cast({_quoted(picked.marker)} as string)) = {_literal(level)} then {cell} end"
        columns.append(f"cast({cell} as double) as value_{k}")
    seen = " or ".join(f"value_{k} is not null" for k in range(1, len(picked.values) + 1))
    return df.selectExpr(*columns, *map(_quoted, covariates)).where(seen)


def _check(types: Mapping[str, str], name: str, what: str, wanted: Sequence[str], remedy: str) -> None:
    if types[name].split("(")[0] not in wanted:
        raise TrajectoryMapsError(
            "not-a-number" if wanted is _NUMBERS else "option",
            f'expected {what} as {", ".join(wanted)} in column "{name}", received {types[name]}. {remedy}.',
        )


def _number_of_ids(rows: Any) -> int:
    return int(rows.selectExpr("approx_count_distinct(id) as n").collect()[0]["n"])


def _shards_for(individuals: int) -> int:
    return max(1, math.ceil(individuals / _PER_SHARD))


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
        chosen = f"{chosen} or id in ({', '.join(map(_literal, seen))})"
    return count, rows.where(chosen).collect()


def _as_table(rows: Sequence[Any], picked: Picked) -> dict[str, list[Any]]:
    """Collected rows as a table in the form of the DataFrame that they come from."""
    if picked.marker is None:
        head = {picked.id: [row["id"] for row in rows], picked.time: [row["time"] for row in rows]}
        return head | {str(name): [row[f"value_{k}"] for row in rows] for k, name in enumerate(picked.values, 1)}
    cells = [
        (row["id"], row["time"], level, row[f"value_{k}"])
        for row in rows
        for k, level in enumerate(picked.levels, 1)
        if row[f"value_{k}"] is not None
    ]
    names = (picked.id, picked.time, picked.marker, str(picked.values[0]))
    return dict(zip(names, map(list, zip(*cells)))) if cells else {name: [] for name in names}
