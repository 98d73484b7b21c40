"""Forecasts of a placed individual: values, rates of change and times to a threshold, on the marker's own scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from ._basis import apply, undo_slope
from ._distributions import Sums, mixture_cdf, quantiles, transformed_moments
from ._draws import crossing_grid, draw_coefficients, draw_values, first_crossings, measurements, simultaneous_band
from ._checks import refuse_fault
from ._errors import TrajectoryMapsError
from ._frames import as_numbers
from ._mixture import Posterior
from ._model import Part
from ._place import MarkerPlacement, Placement

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Series:
    """Summary of a quantity at each time."""

    mean: Array
    sd: Array
    median: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Prediction(Series):
    """Values at times: distribution summaries, and what was asked for beside them.

    >>> from trajectory_maps import example_model, load_model, place
    >>> someone = place(load_model(example_model()), [0, 1], [82, 79])
    >>> someone.predict([2, 4], rate=True).to_dict().keys()
    dict_keys(['time', 'mean', 'sd', 'median', 'lower', 'upper', 'extrapolated', 'rate', 'rate_lower', 'rate_upper'])
    """

    times: Array
    level: float
    interval: str
    #: whether a time lies outside the times of training, where the curve is held constant
    extrapolated: Array
    rate: Series | None = None
    simultaneous: tuple[Array, Array] | None = None
    #: the limit of detection and the probability of a measurement below it
    below_limit: tuple[float, Array] | None = None

    def to_dict(self) -> dict[str, Array]:
        """Columns, one row for each time; any table library takes them."""
        columns = {"time": self.times, "mean": self.mean, "sd": self.sd, "median": self.median}
        columns |= {"lower": self.lower, "upper": self.upper, "extrapolated": self.extrapolated}
        if self.rate is not None:
            columns |= {"rate": self.rate.median, "rate_lower": self.rate.lower, "rate_upper": self.rate.upper}
        if self.simultaneous is not None:
            columns |= dict(zip(("simultaneous_lower", "simultaneous_upper"), self.simultaneous))
        if self.below_limit is not None:
            columns["below_limit"] = self.below_limit[1]
        return columns


@dataclass(frozen=True)
class Crossing:
    """When the noise-free curve first crosses a threshold."""

    threshold: float
    start: float
    direction: str
    #: probability and time; None where that share has not crossed by the last time of training
    quantiles: tuple[tuple[float, float | None], ...]
    #: probability that it is beyond the threshold at the start
    already: float
    #: probability of no crossing within the times of training
    none: float


def predict(
    placement: Placement,
    times: Sequence[float],
    *,
    level: float = 0.9,
    interval: str = "observation",
    simultaneous: bool = False,
    rate: bool = False,
    marker: str | None = None,
    draws: int = 2000,
    seed: int = 1,
) -> Prediction:
    """Values of a placed individual at any times: median and band.

    ``interval`` is "observation" (a new measurement), "curve" (without noise) or "conformal" (as calibrated by `dtm calibrate`).

    >>> from trajectory_maps import example_model, load_model, place
    >>> someone = place(load_model(example_model()), [0, 1], [82, 79])
    >>> p = predict(someone, [2, 4, 6])
    >>> bool((p.lower < p.median).all() and (p.median < p.upper).all())
    True
    """
    refuse_fault("predict", placement.fault)
    k = placement.model.part(marker)
    part, own = placement.model.parts[k], placement.markers[k]
    _check_level("predict", level)
    _check_draws("predict", draws)
    if interval not in ("curve", "observation", "conformal"):
        raise TrajectoryMapsError(
            "option",
            f'predict: expected interval "curve", "observation" or "conformal", received {interval!r}. Use "observation" for the band of a new measurement.',
        )
    at = _check_times("predict", times)
    measured = interval != "curve"
    rows, shift, variance, _ = measurements(part, own, at, measured)
    series, values = _summaries(part, own.posterior, rows, shift, variance if measured else None, level, part.marker)
    lower, upper = series.lower, series.upper
    if interval == "conformal":
        lower, upper = _conformal(placement, part, own, at, level, series, (rows, shift, variance))
    below = None
    limit = part.noise.lower_limit if measured else None
    if limit is not None:
        probability = np.array([mixture_cdf(own.posterior.shares, m, s, limit) for m, s in zip(*values)])
        below = (float(part.marker.value(limit)), probability)
    whole = None
    if simultaneous:
        low, high = simultaneous_band(draw_values(part, own, at, draws, seed, measured), level)
        whole = part.marker.value(low), part.marker.value(high)
    first, last = part.basis.domain
    return Prediction(
        series.mean, series.sd, series.median, lower, upper, at, level, interval, (at < first) | (at > last),
        _rates(part, own, at, level, draws, seed) if rate else None, whole, below,
    )  # fmt: skip


def crossing(
    placement: Placement,
    threshold: float,
    *,
    start: float | None = None,
    direction: str | None = None,
    probabilities: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95),
    marker: str | None = None,
    draws: int = 4000,
    seed: int = 1,
) -> Crossing:
    """When the noise-free curve of an individual first crosses a threshold, as a distribution over draws.

    ``start`` is the last visit by default, ``direction`` ("up" or "down") away from the present side.

    >>> from trajectory_maps import example_model, load_model, place
    >>> someone = place(load_model(example_model()), [0, 1], [82, 79])
    >>> crossing(someone, 60, draws=200).direction
    'down'
    """
    refuse_fault("crossing", placement.fault)
    k = placement.model.part(marker)
    part, own = placement.model.parts[k], placement.markers[k]
    level = float(apply(part.marker.transform, as_numbers([threshold], "the threshold"))[0])
    if not np.isfinite(level):
        raise TrajectoryMapsError(
            "option",
            f'crossing: expected a threshold in the domain of transform "{part.marker.transform}", received {threshold}. Give it on the marker\'s own scale.',
        )
    _check_draws("crossing", draws)
    for probability in probabilities:
        _check_level("crossing", probability)
    first, last = part.basis.domain
    begin = max(own.last_time, first) if start is None else float(start)
    if begin > last:
        raise TrajectoryMapsError(
            "extrapolation",
            f"crossing: expected a start of at most {last} (the last time of training), received {begin}. Nothing is known of later times.",
        )
    grid = crossing_grid(part, begin)
    rows = part.basis.rows(grid)
    means, sds = _functionals(part, own.posterior, rows[:1], np.zeros(1), None)
    if direction is None:
        direction = "up" if mixture_cdf(own.posterior.shares, means[0], sds[0], level) > 0.5 else "down"
    if direction not in ("up", "down"):
        raise TrajectoryMapsError(
            "option",
            f'crossing: expected direction "up" or "down", received {direction!r}. Leave it out to look away from the present side.',
        )
    sign = 1 if direction == "up" else -1
    coefficients, _, _ = draw_coefficients(part, own.posterior, draws, seed)
    found = np.sort(first_crossings(part, coefficients, level, sign, grid, rows))
    quantiles = []
    for probability in probabilities:
        time = found[min(draws - 1, int(np.floor(probability * draws)))]
        quantiles.append((probability, float(time) if np.isfinite(time) else None))
    reached = float(np.isfinite(found).sum())
    return Crossing(
        threshold, begin, direction, tuple(quantiles), float((found <= grid[0]).sum()) / draws, 1 - reached / draws
    )


def _functionals(
    part: Part, posterior: Posterior, rows: Array, shift: Array, variance: Array | None
) -> tuple[Array, Array]:
    """Means and deviations of the components of each value, [T,C]; with the noise of a measurement where a variance is given."""
    means = (rows @ part.mean + shift)[:, None] + rows @ posterior.means.T
    S = posterior.covariances
    squares = np.empty((len(rows), len(S)))
    for t, row in enumerate(rows):
        active = np.flatnonzero(row)
        b = row[active]
        squares[t] = np.einsum("kab,a,b->k", S[:, active[:, None], active], b, b)
    if variance is not None:
        squares = squares + variance[:, None] * posterior.noise_variances[None]
    return means, np.sqrt(np.maximum(squares, 1e-300))


def _summaries(
    part: Part, posterior: Posterior, rows: Array, shift: Array, variance: Array | None, level: float, marker: Any
):
    """Summaries on the scale of `marker` (the model's own without one), and means and deviations of components."""
    means, sds = _functionals(part, posterior, rows, shift, variance)
    weights = posterior.shares
    sums = Sums(weights)
    out = Series(*(np.empty(len(rows)) for _ in range(5)))
    scores: list[float | None] = [None, None, None]
    for t in range(len(rows)):
        mean, spread, found = quantiles(sums, weights, means[t], sds[t], _band(level), scores)
        if marker is not None and marker.transform != "identity":
            mean, spread = transformed_moments(marker.transform, weights, means[t], sds[t])
        if marker is not None:
            low, high = marker.ends()
            mean = min(max(mean, low), high)
            found = [float(marker.value(y)) for y in found]
        out.mean[t], out.sd[t] = mean, spread
        out.median[t], out.lower[t], out.upper[t] = found
    return out, (means, sds)


def _band(level: float) -> tuple[float, float, float]:
    return 0.5, 0.5 * (1 - level), 0.5 * (1 + level)


def _conformal(
    placement: Placement, part: Part, own: MarkerPlacement, at: Array, level: float, series: Series, measured: Any
):
    """The calibrated band after the last visit; before, the model's own stands."""
    calibration = part.calibration
    if calibration is None:
        raise TrajectoryMapsError(
            "option",
            'predict: expected a calibrated model for interval "conformal", received one without a calibration. Calibrate it first (dtm calibrate).',
        )
    rows, shift, variance = measured
    base, _ = _summaries(part, own.posterior, rows, shift, variance, 0.9, None)
    lower, upper = series.lower.copy(), series.upper.copy()
    for k, t in enumerate(at):
        if own.visits == 0 or t <= own.last_time:
            continue
        below, above = _factors(calibration, own.visits, t - own.last_time, level)
        m = base.median[k]
        lower[k] = min(series.median[k], float(part.marker.value(m - below * (m - base.lower[k]))))
        upper[k] = max(series.median[k], float(part.marker.value(m + above * (base.upper[k] - m))))
    return lower, upper


def _factors(calibration: Any, known: int, horizon: float, level: float) -> tuple[float, float]:
    levels = calibration["levels"]
    if level not in levels:
        raise TrajectoryMapsError(
            "option",
            f"predict: expected one of the calibrated levels {', '.join(map(str, levels))}, received {level}. Choose one of them.",
        )
    class_of = lambda begins, x: max([k for k, b in enumerate(begins) if x >= b], default=0)  # noqa: E731
    position = class_of(calibration["knownFrom"], known) * len(calibration["horizonFrom"]) + class_of(
        calibration["horizonFrom"], horizon
    )
    own = calibration["classes"][position]
    below, above = own["lower"][levels.index(level)], own["upper"][levels.index(level)]
    if below is None or above is None:
        raise TrajectoryMapsError(
            "option",
            f"predict: expected a level that {calibration['numIndividuals']} calibration individuals can tell, received {level}. Use a lower level.",
        )
    return below, above


def _rates(part: Part, own: MarkerPlacement, at: Array, level: float, draws: int, seed: int) -> Series:
    """Rates of change: exact for an untransformed marker, by draws otherwise."""
    slopes = part.basis.slopes(at)
    if part.marker.transform == "identity":
        # The mean of a rate has no centre and no limits.
        return _summaries(part, own.posterior, slopes, np.zeros(len(at)), None, level, None)[0]
    coefficients, _, _ = draw_coefficients(part, own.posterior, draws, seed)
    drawn = undo_slope(part.marker.transform, coefficients @ part.basis.rows(at).T) * (coefficients @ slopes.T)
    mean = drawn.mean(0)
    sd = np.sqrt(((drawn - mean) ** 2).sum(0) / (draws - 1))
    return Series(mean, sd, *np.quantile(drawn, _band(level), axis=0))


def _check_level(where: str, level: float) -> None:
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise TrajectoryMapsError(
            "option", f"{where}: expected a level between 0 and 1, received {level}. Use 0.9 for a 90% band."
        )


def _check_draws(where: str, draws: int) -> None:
    if int(draws) != draws or not 10 <= draws <= 10_000_000:
        raise TrajectoryMapsError(
            "option", f"{where}: expected draws as a whole number from 10 to 10,000,000, received {draws}. Use 2000."
        )


def _check_times(where: str, times: Sequence[float]) -> Array:
    at = as_numbers(times, f"the times of {where}")
    if not np.isfinite(at).all():
        raise TrajectoryMapsError("not-finite", f"{where}: expected finite times, received {at[~np.isfinite(at)][0]}.")
    return at
