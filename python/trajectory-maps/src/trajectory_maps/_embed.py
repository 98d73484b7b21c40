"""Whole tables of visits: places and forecasts of everybody, as a table of the same kind."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ._checks import place_fault
from ._frames import like
from ._model import Model
from ._place import place, place_many, prepared
from ._statistics import Statistics, statistics, transformed
from ._suspects import suspects as suspect_visits
from ._suspects import usual
from ._visits import Cohort, read_visits

Array = np.ndarray[Any, Any]
_Z90 = 1.6448536269514722
_BLOCK = 4096
#: individuals up to which suspect values are looked for
_LOOKED_THROUGH = 100_000


def embed(
    model: Model,
    visits: Any,
    *,
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
    subjects: Any = None,
    origin: str | None = None,
    keep_repeats: bool = False,
    suspects: bool | None = None,
    reason: bool = True,
) -> Any:
    """Places everybody in a table of visits; the result is a table of the same kind with a row for each individual.

    Columns are those that the model was fitted to unless they are named; ``value`` may be a dict from markers to columns, ``marker`` the
    column that names the marker of a row, ``subjects`` a second table with covariates. Times may be dates: they are counted as those of the
    fit were, or from ``origin`` ("first", "column:NAME" or "date:2010-01-31"). A table may lack some of several markers. A row that
    repeats another exactly counts once unless ``keep_repeats``. ``suspects`` counts values that are probably wrong, such as 800 typed for
    80; they are used as given. They are looked for in up to 100,000 individuals unless ``suspects`` says otherwise. Somebody without any value stands where the model expects anybody,
    with 0 ``visits``. Of whom nothing can be computed has no numbers; where there is one, a column ``reason`` says why, unless ``reason`` is False.

    >>> from trajectory_maps import example_model, load_model
    >>> visits = {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": [82, 79, 60]}
    >>> placed = embed(load_model(example_model()), visits, id="id", time="time", value="fvc")
    >>> placed["id"].tolist(), placed["visits"].tolist()
    (['a', 'b'], [2, 1])
    """
    named = {"id": id, "time": time, "value": value, "marker": marker, "subjects": subjects, "origin": origin}
    cohort = read_visits(model, visits, **named, keep_repeats=keep_repeats)
    m, q = len(cohort.ids), model.dimensions
    counts = sum(np.diff(offsets) for offsets, _, _ in cohort.series)
    blocks = []
    for start in range(0, m, _BLOCK):
        stop = min(start + _BLOCK, m)
        own = [_block(part, series, start, stop) for part, series in zip(model.parts, cohort.series)]
        blocks.append(place_many(model, own, cohort.covariates[start:stop] if cohort.covariates else None))
    join = lambda name: np.concatenate([getattr(block, name) for block in blocks]) if blocks else np.empty(0)  # noqa: E731
    location, covariance = join("location").reshape(m, q), join("covariance").reshape(m, q, q)
    visited = np.asarray(counts) if m else np.empty(0)
    reasons = [place_fault(*found) for found in zip(location, covariance, join("log_likelihood"), visited)]
    failed = np.array([reason is not None for reason in reasons], dtype=bool)
    location[failed], covariance[failed] = np.nan, np.nan
    first, last = _spans(cohort, m)
    columns: dict[str, Any] = {"id": cohort.ids}
    columns |= {f"x{a + 1}": location[:, a] for a in range(q)}
    columns |= {f"var{a + 1}{b + 1}": covariance[:, a, b] for a in range(q) for b in range(a, q)}
    columns |= {"visits": counts, "first_time": first, "last_time": last}
    if len(model.parts) > 1:
        columns |= {f"visits_{name}": np.diff(own[0]) for name, own in zip(model.markers, cohort.series)}
    for k, part in enumerate(model.parts):
        if part.noise.spread == 0:
            continue
        found = [block.noise_level[k] for block in blocks]
        mean, sd = (np.concatenate([np.empty(0), *(own[j] for own in found if own is not None)]) for j in (0, 1))
        end = "" if len(model.parts) == 1 else f"_{part.marker.name}"
        for name, score in (("", 0.0), ("_lower", -_Z90), ("_upper", _Z90)):
            columns[f"noise_ratio{name}{end}"] = np.exp(0.5 * (mean + score * sd))
    for name in ("log_likelihood", "area50", "area90", "outside_mass"):
        columns[name] = np.where(failed, np.nan, join(name))
    if failed.any() and reason:
        columns["reason"] = [found or "" for found in reasons]
    if m <= _LOOKED_THROUGH if suspects is None else suspects:
        columns["suspects"] = _suspect_counts(model, cohort)
    return like(visits, columns)


def _suspect_counts(model: Model, cohort: Cohort) -> Array:
    m = len(cohort.ids)
    counts = np.zeros(m, int)
    for k, (kernel, (offsets, times, values)) in enumerate(zip(prepared(model), cohort.series)):
        anybody = usual(kernel.tables, model.log_weights)
        scaled = transformed(model.parts[k], values)
        for i in range(m):
            part = (model.for_covariates(cohort.covariates[i]) if cohort.covariates else model).parts[k]
            own = slice(offsets[i], offsets[i + 1])
            counts[i] += len(suspect_visits(part, *anybody, times[own], scaled[own]))
    return counts


def _block(part: Any, series: tuple[Array, Array, Array], start: int, stop: int) -> Statistics:
    offsets, times, values = series
    own = slice(offsets[start], offsets[stop])
    return statistics(part, offsets[start : stop + 1] - offsets[start], times[own], transformed(part, values[own]))


def _spans(cohort: Cohort, m: int) -> tuple[Array, Array]:
    first, last = np.full(m, np.inf), np.full(m, -np.inf)
    for offsets, times, _ in cohort.series:
        seen = np.flatnonzero(np.diff(offsets))
        first[seen] = np.minimum(first[seen], times[offsets[seen]])
        last[seen] = np.maximum(last[seen], times[offsets[seen + 1] - 1])
    return first, last


def forecast(
    model: Model,
    visits: Any,
    times: Sequence[float],
    *,
    id: str | None = None,
    time: str | None = None,
    value: str | Mapping[str, str] | None = None,
    marker: str | None = None,
    subjects: Any = None,
    origin: str | None = None,
    keep_repeats: bool = False,
    **options: Any,
) -> Any:
    """Forecasts of everybody in a table of visits at the same times: a tidy table with a row for each individual, marker and time.

    ``options`` are those of :func:`predict`.

    >>> from trajectory_maps import example_model, load_model
    >>> visits = {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": [82, 79, 60]}
    >>> rows = forecast(load_model(example_model()), visits, [2, 4], id="id", time="time", value="fvc")
    >>> rows["id"].tolist(), rows["time"].tolist()
    (['a', 'a', 'b', 'b'], [2.0, 4.0, 2.0, 4.0])
    """
    named = {"id": id, "time": time, "value": value, "marker": marker, "subjects": subjects, "origin": origin}
    cohort = read_visits(model, visits, **named, keep_repeats=keep_repeats)
    columns: dict[str, list[Any]] = {}
    reasons: dict[Any, str] = {}
    for i, own in enumerate(cohort.ids):
        given = {
            part.marker.name: (t[offsets[i] : offsets[i + 1]], y[offsets[i] : offsets[i + 1]])
            for part, (offsets, t, y) in zip(model.parts, cohort.series)
        }
        placement = place(model, markers=given, covariates=cohort.covariates[i] if cohort.covariates else None)
        for name in model.markers:
            if placement.fault is None:
                found = placement.predict(times, marker=name, **options).to_dict()
            else:
                # A row with a reason: what is computed of others says which columns there are.
                anybody = place(model, covariates=cohort.covariates[i] if cohort.covariates else None)
                found = anybody.predict(times, marker=name, **options).to_dict()
                found = {key: cells if key == "time" else np.full(len(times), np.nan) for key, cells in found.items()}
                reasons[own] = placement.fault
            head = {"id": [own] * len(times)} | ({"marker": [name] * len(times)} if len(model.markers) > 1 else {})
            for key, cells in (head | found).items():
                columns.setdefault(key, []).extend(cells.tolist() if hasattr(cells, "tolist") else cells)
    if reasons:
        columns["reason"] = [reasons.get(own, "") for own in columns["id"]]
    return like(visits, columns)
