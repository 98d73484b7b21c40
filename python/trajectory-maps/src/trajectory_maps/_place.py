"""Placing individuals on a map without refitting it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np

from ._checks import place_fault, within_cell
from ._errors import TrajectoryMapsError
from ._frames import as_numbers
from ._mixture import Individual, Marker, Posterior, kernel_factor, map_moments, outside_places
from ._model import Model
from ._statistics import Statistics, statistics, transformed
from ._suspects import Suspect, suspects, usual

if TYPE_CHECKING:
    from ._predict import Crossing, Prediction

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class MarkerPlacement:
    """What a placement holds of one marker."""

    visits: int
    last_time: float
    times: Array
    values: Array  # on the scale of the model
    posterior: Posterior


@dataclass(frozen=True)
class Placement:
    """One individual, placed: where it stands, and all that its forecasts need.

    >>> from trajectory_maps import example_model, load_model, place
    >>> someone = place(load_model(example_model()), times=[0, 1.5], values=[82, 79])
    >>> someone.visits, someone.location.shape
    (2, (2,))
    >>> someone.predict([3, 5]).median.shape
    (2,)
    """

    id: str
    #: mean of the place, [q]
    location: Array
    #: its covariance, [q,q]
    covariance: Array
    log_likelihood: float
    visits: int
    last_time: float
    #: visits outside the times of training, which were moved to the first or last of them
    visits_outside: int
    #: probability that the place lies where the map says nothing
    outside_mass: float
    model: Model = field(repr=False)
    markers: tuple[MarkerPlacement, ...] = field(repr=False)
    #: visits that are probably wrong; they are used as given
    suspects: tuple[Suspect, ...] = ()
    #: why nothing can be said of the individual, None where all is well; predictions refuse it
    fault: str | None = None

    def predict(self, times: Sequence[float], **options: Any) -> Prediction:
        """Same as :func:`predict` for this individual."""
        from ._predict import predict

        return predict(self, times, **options)

    def crossing(self, threshold: float, **options: Any) -> Crossing:
        """Same as :func:`crossing` for this individual."""
        from ._predict import crossing

        return crossing(self, threshold, **options)


def prepared(model: Model) -> list[Marker]:
    """Tables of the model, made at the first call and shared by its variants for covariates."""
    shared = model._shared
    if "markers" not in shared:
        shared["markers"] = [Marker(part, model.nodes) for part in model.parts]
        shared["outside"] = outside_places(model.parts[0].map, model.nodes)
    return shared["markers"]


def marker_priors(model: Model, individuals: Sequence[Individual]) -> list[Array]:
    """For each marker the log prior of its nodes that holds what the other markers say."""
    kernels = prepared(model)
    if len(kernels) == 1:
        return [model.log_weights]
    said = []
    for own, individual in zip(kernels, individuals):
        with own.lock:
            said.append(own.densities(individual))
    return [model.log_weights + sum(s for l, s in enumerate(said) if l != k) for k in range(len(said))]


def place(
    model: Model,
    times: Sequence[float] | None = None,
    values: Sequence[float] | None = None,
    *,
    markers: Mapping[str, tuple[Any, Any]] | None = None,
    covariates: Mapping[str, Any] | None = None,
    id: str = "new",
) -> Placement:
    """Places one individual by its visits; no visits give the prior.

    Values are on the marker's own scale. For several markers give ``markers={"bili": (times, values), ...}``; what an individual lacks
    may be left out. A model with covariates needs those of the individual.

    >>> from trajectory_maps import example_model, load_model
    >>> model = load_model(example_model())
    >>> steady, falling = place(model, [0, 2, 4], [82, 81, 82]), place(model, [0, 2, 4], [82, 76, 71])
    >>> bool(falling.predict([8]).median[0] < steady.predict([8]).median[0])
    True
    """
    if not isinstance(model, Model):
        raise TrajectoryMapsError(
            "option", f"place: expected a model, received {type(model).__name__}. Read one with load_model."
        )
    given = _given(model, times, values, markers)
    own = model.for_covariates(covariates)
    parts = []
    individuals = []
    outside = 0
    for part in own.parts:
        t, z = _series(part, *given.get(part.marker.name, ((), ())))
        individuals.append(Individual.of(part, statistics(part, np.array([0, len(t)]), t, z), 0))
        first, last = part.basis.domain
        outside += int(((t < first) | (t > last)).sum())
        parts.append((t, z))
    priors = marker_priors(own, individuals)
    placed = [
        MarkerPlacement(
            len(t), float(t[-1]) if len(t) else -np.inf, t, z, kernel.posterior(individual, prior, own.nodes)
        )
        for kernel, individual, prior, (t, z) in zip(prepared(own), individuals, priors, parts)
    ]
    shown = placed[0].posterior
    mean = shown.weights @ shown.locations
    deviations = shown.locations - mean
    covariance = own.orientation.T @ within_cell((shown.weights[:, None] * deviations).T @ deviations, own.cell)
    covariance = covariance @ own.orientation
    location = own.orientation.T @ mean
    visits = sum(p.visits for p in placed)
    return Placement(
        id=id,
        location=location,
        covariance=covariance,
        fault=place_fault(location, covariance, shown.log_likelihood, visits),
        log_likelihood=shown.log_likelihood,
        visits=visits,
        last_time=max(p.last_time for p in placed),
        visits_outside=outside,
        outside_mass=float(shown.weights @ own._shared["outside"][shown.nodes]),
        model=own,
        markers=tuple(placed),
        suspects=tuple(
            found
            for kernel, part, (t, z) in zip(prepared(own), own.parts, parts)
            for found in suspects(part, *usual(kernel.tables, own.log_weights), t, z)
        ),
    )


def _given(model: Model, times: Any, values: Any, markers: Any) -> Mapping[str, tuple[Any, Any]]:
    if markers is None:
        if times is None and values is None:
            return {}
        if len(model.parts) > 1:
            raise TrajectoryMapsError(
                "several-markers",
                f"place: expected visits by marker for {', '.join(model.markers)}, received one list. Use markers={{name: (times, values)}}.",
            )
        return {model.markers[0]: (times, values)}
    if not isinstance(markers, Mapping):
        raise TrajectoryMapsError(
            "shape", f"place: expected markers={{name: (times, values)}}, received {type(markers).__name__}."
        )
    unknown = [name for name in markers if name not in model.markers]
    pairs = all(isinstance(own, Sequence) and not isinstance(own, str) and len(own) == 2 for own in markers.values())
    if not unknown and not pairs:
        raise TrajectoryMapsError(
            "shape", "place: expected a pair (times, values) for each marker, received something else."
        )
    if unknown or times is not None or values is not None:
        found = f'"{unknown[0]}"' if unknown else "times and values beside markers"
        raise TrajectoryMapsError(
            "other-marker", f"place: expected visits of {', '.join(model.markers)}, received {found}."
        )
    return markers


def _series(part: Any, times: Any, values: Any) -> tuple[Array, Array]:
    """Visits in order of time, values on the scale of the model."""
    t = as_numbers(() if times is None else times, f"times of {part.marker.name}")
    y = as_numbers(() if values is None else values, f"values of {part.marker.name}")
    if len(t) != len(y):
        raise TrajectoryMapsError(
            "shape", f"place: expected as many values as times, received {len(t)} times and {len(y)} values."
        )
    for name, column in (("times", t), ("values", y)):
        if not np.isfinite(column).all():
            raise TrajectoryMapsError(
                "not-finite",
                f"place: expected finite {name} of {part.marker.name}, received {column[~np.isfinite(column)][0]}. Leave such visits out.",
            )
    order = np.lexsort((y, t))
    return t[order], transformed(part, y[order])


def place_at(model: Model, location: Sequence[float], covariates: Mapping[str, Any] | None = None) -> Placement:
    """A placement exactly at a place as shown: the courses that belong there, ready for predictions.

    >>> from trajectory_maps import example_model, load_model
    >>> middle = place_at(load_model(example_model()), [0, 0])
    >>> middle.predict([0, 5, 9], interval="curve").median.shape
    (3,)
    """
    own = model.for_covariates(covariates)
    shown = as_numbers(location, "the place")
    if len(shown) != own.dimensions or not np.isfinite(shown).all():
        raise TrajectoryMapsError(
            "shape", f"place_at: expected a place of {own.dimensions} finite coordinates, received {shown.tolist()}."
        )
    x = own.orientation @ shown
    placed = []
    for part in own.parts:
        means, covariances = map_moments(part.map, kernel_factor(part.map), x[None])
        covariances = covariances + part.residual
        levels = part.noise.levels()
        count = len(levels.z)
        moments = np.repeat(means, count, 0), np.repeat(covariances, count, 0)
        shares = np.exp(levels.log_weights)
        posterior = Posterior(
            np.zeros(1, int), np.ones(1), x[None], 0.0, shares, levels.variances, partial(_same, moments)
        )
        placed.append(MarkerPlacement(0, -np.inf, np.empty(0), np.empty(0), posterior))
    outside = float(outside_places(own.parts[0].map, x[None])[0])
    q = own.dimensions
    return Placement("place", shown, np.zeros((q, q)), 0.0, 0, -np.inf, 0, outside, own, tuple(placed))


def _same(moments: tuple[Array, Array]) -> tuple[Array, Array]:
    return moments


def check_probe(model: Model, probe: Mapping[str, Any]) -> None:
    """Computes again the prediction that is stored with a model."""
    if model.effect_form is not None or model.coding is not None:
        # The file's probe is of the model without covariates: z = 0.
        model = replace(model, coding=None, shift=None, effect_form=None)
    placement = place_at(model, probe["location"])
    for name, stored in zip(model.markers, [probe, *probe.get("others", [])]):
        found = placement.predict(stored["times"], marker=name)
        for what, now in (("median", found.median), ("upper", found.upper)):
            then = np.array(stored[what])
            if not (np.abs(now - then) <= 1e-8 * np.abs(then).max()).all():
                raise TrajectoryMapsError(
                    "probe",
                    f"load_model: expected {then} for the probe's {what}, received {now}. This package computes another prediction than the one that saved the model: update it.",
                )


@dataclass(frozen=True)
class Places:
    """Places of many individuals as columns."""

    location: Array  # [m,q]
    covariance: Array  # [m,q,q]
    log_likelihood: Array  # [m]
    area50: Array  # [m]
    area90: Array  # [m]
    outside_mass: Array  # [m]
    noise_level: list[tuple[Array, Array] | None]  # mean and sd of log lambda of each marker with levels


def place_many(model: Model, own: Sequence[Statistics], covariates: Sequence[Mapping[str, Any]] | None) -> Places:
    """Places of all individuals of statistics, one for each marker."""
    m, q = len(own[0].counts), model.dimensions
    kernels = prepared(model)
    levels_of = [(np.empty(m), np.empty(m)) if len(k.levels.z) > 1 else None for k in kernels]
    location, covariance = np.empty((m, q)), np.empty((m, q, q))
    out = Places(location, covariance, np.empty(m), np.empty(m), np.empty(m), np.empty(m), levels_of)
    outside = model._shared["outside"]
    for i in range(m):
        variant = model if model.coding is None else model.for_covariates(covariates[i] if covariates else None)
        individuals = [Individual.of(part, s, i) for part, s in zip(variant.parts, own)]
        for k, (kernel, individual, prior) in enumerate(zip(kernels, individuals, marker_priors(variant, individuals))):
            levels = out.noise_level[k]
            if k > 0 and levels is None:
                continue
            with kernel.lock:
                weighed = kernel.weigh(individual, prior)
            if levels is not None:
                log_level = kernel.levels.spread * kernel.levels.z[weighed.levels]
                middle = float(weighed.shares @ log_level)
                levels[0][i], levels[1][i] = middle, np.sqrt(weighed.shares @ (log_level - middle) ** 2)
            if k > 0:
                continue
            w = weighed.weights / weighed.total
            mean = w @ model.nodes
            S = (w[:, None] * model.nodes).T @ model.nodes - np.outer(mean, mean)
            out.location[i] = model.orientation.T @ mean
            out.covariance[i] = model.orientation.T @ within_cell(S, model.cell) @ model.orientation
            out.log_likelihood[i] = weighed.log_likelihood
            out.outside_mass[i] = w @ outside
            out.area50[i], out.area90[i] = (count * model.cell for count in _heaviest(w, (0.5, 0.9)))
    return out


def _heaviest(weights: Array, levels: Sequence[float]) -> list[int]:
    """How many of the heaviest weights hold each of the levels."""
    running = np.cumsum(np.sort(weights)[::-1])
    return [int(np.searchsorted(running, level, side="left")) + 1 for level in levels]
