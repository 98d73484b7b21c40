"""Forecasts of a placed individual: values, rates of change and times to a threshold, on the marker's own scale."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from math import erfc
from statistics import NormalDist
from typing import Any, Sequence

import numpy as np

from ._basis import apply, logistic, undo_slope
from ._errors import TrajectoryMapsError
from ._kernels import Context
from ._mixture import Posterior
from ._model import Part
from ._noise import given_noise
from ._place import MarkerPlacement, Placement
from ._random import Random

Array = np.ndarray[Any, Any]
_quantile = NormalDist().inv_cdf
_LOG_2PI = float(np.log(2 * np.pi))


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
    k = placement.model.part(marker)
    part, own = placement.model.parts[k], placement.markers[k]
    _check_level("predict", level)
    _check_draws("predict", draws)
    if interval not in ("curve", "observation", "conformal"):
        raise TrajectoryMapsError("option", f'predict: expected interval "curve", "observation" or "conformal", received {interval!r}. Use "observation" for the band of a new measurement.')
    at = _check_times("predict", times)
    measured = interval != "curve"
    rows, shift, variance, _ = _measurements(part, own, at, measured)
    series, values = _summaries(part, own.posterior, rows, shift, variance if measured else None, level, part.marker)
    lower, upper = series.lower, series.upper
    if interval == "conformal":
        lower, upper = _conformal(placement, part, own, at, level, series, (rows, shift, variance))
    below = None
    limit = part.noise.lower_limit if measured else None
    if limit is not None:
        probability = np.array([_cdf(own.posterior.shares, *value, limit) for value in zip(*values)])
        below = (float(part.marker.value(limit)), probability)
    whole = None
    if simultaneous:
        drawn = _draw_values(part, own, at, draws, seed, measured)
        whole = tuple(part.marker.value(band) for band in _simultaneous(drawn, level))
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
    k = placement.model.part(marker)
    part, own = placement.model.parts[k], placement.markers[k]
    level = float(apply(part.marker.transform, threshold))
    if not np.isfinite(level):
        raise TrajectoryMapsError("option", f'crossing: expected a threshold in the domain of transform "{part.marker.transform}", received {threshold}. Give it on the marker\'s own scale.')
    _check_draws("crossing", draws)
    for probability in probabilities:
        _check_level("crossing", probability)
    first, last = part.basis.domain
    begin = max(own.last_time, first) if start is None else float(start)
    if begin > last:
        raise TrajectoryMapsError("extrapolation", f"crossing: expected a start of at most {last} (the last time of training), received {begin}. Nothing is known of later times.")
    grid = _crossing_grid(part, begin)
    rows = part.basis.rows(grid)
    means, sds = _functionals(part, own.posterior, rows[:1], np.zeros(1), None)
    if direction is None:
        direction = "up" if _cdf(own.posterior.shares, means[0], sds[0], level) > 0.5 else "down"
    if direction not in ("up", "down"):
        raise TrajectoryMapsError("option", f'crossing: expected direction "up" or "down", received {direction!r}. Leave it out to look away from the present side.')
    sign = 1 if direction == "up" else -1
    coefficients, _, _ = _draw_coefficients(part, own.posterior, draws, seed)
    found = np.sort(_first_crossings(part, coefficients, level, sign, grid, rows))
    quantiles = []
    for probability in probabilities:
        time = found[min(draws - 1, int(np.floor(probability * draws)))]
        quantiles.append((probability, float(time) if np.isfinite(time) else None))
    reached = float(np.isfinite(found).sum())
    return Crossing(threshold, begin, direction, tuple(quantiles), float((found <= grid[0]).sum()) / draws, 1 - reached / draws)


def _measurements(part: Part, own: MarkerPlacement, at: Array, measured: bool, jointly: bool = False):
    """Rows [T,d], shift [T] and variance [T] of values, and for draws what each takes of those before it, [T,T]."""
    rows = part.basis.rows(at)
    count, d = rows.shape
    correlation = part.noise.correlation
    if not measured or correlation is None or (len(own.times) == 0 and not jointly):
        return rows, np.zeros(count), np.ones(count), None
    visits = np.column_stack([part.basis.rows(own.times), own.values - part.center])
    new = np.column_stack([rows, np.zeros(count)]) if jointly else None
    mean, variance = given_noise(own.times, visits, correlation, at, new)
    shift = mean[:, d] + part.center * mean[:, :d].sum(1)
    return rows - mean[:, :d], shift, variance, mean[:, d + 1 :] if jointly else None


def _functionals(part: Part, posterior: Posterior, rows: Array, shift: Array, variance: Array | None) -> tuple[Array, Array]:
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


_kept = threading.local()


class _Sums:
    """Distribution function and density of mixtures of normals, by the kernel."""

    def __init__(self, weights: Array) -> None:
        self.tiles, self._count = -(-len(weights) // 4), len(weights)
        room = getattr(_kept, "room", 0)
        if self.tiles > room:
            _kept.room = max(256, self.tiles)
            _kept.context = Context("Course", numBasis=1, numTiles=_kept.room)
            _kept.context.run("fillNormals")
        self._context = _kept.context
        buffers = self._context.buffers
        for name, rest in (("weights", 0), ("centers", 0), ("inverses", 1)):
            buffers[name][self._count : 4 * self.tiles] = rest
        buffers["weights"][: self._count] = weights

    def load(self, means: Array, sds: Array) -> None:
        self._context.buffers["centers"][: self._count] = means
        self._context.buffers["inverses"][: self._count] = 1 / sds

    def at(self, y: float) -> tuple[float, float]:
        self._context.run("sumNormals", self.tiles, y)
        below, density = self._context.buffers["sums"]
        return float(below), float(density)


def _cdf(weights: Array, means: Array, sds: Array, y: float) -> float:
    return float(weights @ normal_cdf((y - means) / sds))


def normal_cdf(u: Array) -> Array:
    """The standard normal distribution function."""
    return np.array([0.5 * erfc(-x / np.sqrt(2)) for x in np.ravel(u)]).reshape(np.shape(u))


def _quantiles(sums: _Sums, weights: Array, means: Array, sds: Array, levels: Sequence[float], scores: list[float | None]):
    """Quantiles of one mixture by Newton steps between Cantelli's bounds; `scores` are where to look and are left for the next."""
    mean = float(weights @ means)
    spread = float(np.sqrt(weights @ ((means - mean) ** 2 + sds**2)))
    smallest = min(spread, float(sds[weights > 0].min()))
    tolerance = 1e-11 * spread
    last = max(tolerance, min(np.sqrt(0.25 * tolerance * smallest), 1e-3 * smallest))
    sums.load(means, sds)
    found = []
    for j, p in enumerate(levels):
        low = mean - 1.001 * spread * np.sqrt((1 - p) / p)
        high = mean + 1.001 * spread * np.sqrt(p / (1 - p))
        score = scores[j]
        y = min(max(mean + (_quantile(p) if score is None else score) * spread, low), high)
        for _ in range(200):
            if high - low <= tolerance:
                break
            below, density = sums.at(y)
            excess = below - p
            if excess > 0:
                high = y
            else:
                low = y
            newton = excess / density if density > 0 else np.inf
            if abs(newton) <= last:
                y -= newton
                break
            y = y - newton if low < y - newton < high else 0.5 * (low + high)
        scores[j] = (y - mean) / spread if spread > 0 else None
        found.append(y)
    return mean, spread, found


def _summaries(part: Part, posterior: Posterior, rows: Array, shift: Array, variance: Array | None, level: float, marker: Any):
    """Summaries on the scale of `marker` (the model's own without one), and means and deviations of components."""
    means, sds = _functionals(part, posterior, rows, shift, variance)
    weights = posterior.shares
    sums = _Sums(weights)
    out = Series(*(np.empty(len(rows)) for _ in range(5)))
    scores: list[float | None] = [None, None, None]
    for t in range(len(rows)):
        mean, spread, found = _quantiles(sums, weights, means[t], sds[t], _band(level), scores)
        if marker is not None and marker.transform != "identity":
            mean, spread = _transformed(marker.transform, weights, means[t], sds[t])
        if marker is not None:
            low, high = marker.ends()
            mean = min(max(mean, low), high)
            found = [float(marker.value(y)) for y in found]
        out.mean[t], out.sd[t] = mean, spread
        out.median[t], out.lower[t], out.upper[t] = found
    return out, (means, sds)


def _band(level: float) -> tuple[float, float, float]:
    return 0.5, 0.5 * (1 - level), 0.5 * (1 + level)


@lru_cache(maxsize=1)
def _gauss_hermite() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    return nodes, weights / weights.sum()


def _transformed(transform: str, weights: Array, m: Array, s: Array) -> tuple[float, float]:
    """Mean and sd of the undone transform, in closed form but for logit."""
    v = s * s
    if transform in ("log", "log1p"):
        first = np.exp(m + 0.5 * v)
        second = np.expm1(v) * first * first
        if transform == "log1p":
            first = first - 1
    elif transform == "sqrt":
        below = normal_cdf(m / s)
        density = s * np.exp(-0.5 * (m / s) ** 2 - 0.5 * _LOG_2PI)
        first = (m * m + v) * below + m * density
        second = (m**4 + 6 * m * m * v + 3 * v * v) * below + (m**3 + 5 * m * v) * density - first * first
    else:
        first, second = _logit_moments(m, s)
    mean = float(weights @ first)
    return mean, float(np.sqrt(max(weights @ (second + (first - mean) ** 2), 0)))


def _logit_moments(m: Array, s: Array) -> tuple[Array, Array]:
    first, second = np.empty(len(m)), np.empty(len(m))
    for k, (center, sd) in enumerate(zip(m, s)):
        if sd > 2:
            step = max(1 / sd, 1 / 256)
            n = int(np.ceil(8.5 / step))
            nodes = np.arange(-n, n + 1) * step
            shares = step * np.exp(-0.5 * nodes * nodes - 0.5 * _LOG_2PI)
        else:
            nodes, shares = _gauss_hermite()
        y = logistic(center + sd * nodes)
        first[k] = shares @ y
        second[k] = shares @ (y * y) - first[k] ** 2
    return first, second


def _conformal(placement: Placement, part: Part, own: MarkerPlacement, at: Array, level: float, series: Series, measured: Any):
    """The calibrated band after the last visit; before, the model's own stands."""
    calibration = part.calibration
    if calibration is None:
        raise TrajectoryMapsError("option", 'predict: expected a calibrated model for interval "conformal", received one without a calibration. Calibrate it first (dtm calibrate).')
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
        raise TrajectoryMapsError("option", f"predict: expected one of the calibrated levels {', '.join(map(str, levels))}, received {level}. Choose one of them.")
    class_of = lambda begins, x: max([k for k, b in enumerate(begins) if x >= b], default=0)  # noqa: E731
    position = class_of(calibration["knownFrom"], known) * len(calibration["horizonFrom"]) + class_of(calibration["horizonFrom"], horizon)
    own = calibration["classes"][position]
    below, above = own["lower"][levels.index(level)], own["upper"][levels.index(level)]
    if below is None or above is None:
        raise TrajectoryMapsError("option", f"predict: expected a level that {calibration['numIndividuals']} calibration individuals can tell, received {level}. Use a lower level.")
    return below, above


def _rates(part: Part, own: MarkerPlacement, at: Array, level: float, draws: int, seed: int) -> Series:
    """Rates of change: exact for an untransformed marker, by draws otherwise."""
    slopes = part.basis.slopes(at)
    if part.marker.transform == "identity":
        # The mean of a rate has no centre and no limits.
        return _summaries(part, own.posterior, slopes, np.zeros(len(at)), None, level, None)[0]
    coefficients, _, _ = _draw_coefficients(part, own.posterior, draws, seed)
    drawn = undo_slope(part.marker.transform, coefficients @ part.basis.rows(at).T) * (coefficients @ slopes.T)
    mean = drawn.mean(0)
    sd = np.sqrt(((drawn - mean) ** 2).sum(0) / (draws - 1))
    return Series(mean, sd, *np.quantile(drawn, _band(level), axis=0))


def _draw_coefficients(part: Part, posterior: Posterior, draws: int, seed: int, extra: int = 0) -> tuple[Array, Array, Array]:
    """Coefficients of curves [S,d], standard normals beside each [S,extra] and noise deviations [S]."""
    random, d = Random(seed), part.basis.size
    cumulative = np.cumsum(posterior.shares)
    chosen, z = np.empty(draws, int), np.empty((draws, d + extra))
    for s in range(draws):
        chosen[s] = random.categorical(cumulative)
        z[s] = [random.normal() for _ in range(d + extra)]
    used, where = np.unique(chosen, return_inverse=True)
    S = posterior.covariances[used].copy()
    S[:, np.arange(d), np.arange(d)] += 1e-12 * np.trace(S, axis1=1, axis2=2)[:, None] + 5e-324
    factors = np.linalg.cholesky(S)[where]
    coefficients = posterior.means[chosen] + np.einsum("sab,sb->sa", factors, z[:, :d]) + part.mean
    return coefficients, z[:, d:], np.sqrt(posterior.noise_variances[chosen])


def _draw_values(part: Part, own: MarkerPlacement, at: Array, draws: int, seed: int, measured: bool) -> Array:
    """Draws of values at the times on the scale of the model, [S,T]."""
    rows, shift, variance, carried = _measurements(part, own, at, measured, jointly=True)
    coefficients, z, sds = _draw_coefficients(part, own.posterior, draws, seed, len(at) if measured else 0)
    out = coefficients @ rows.T
    for t in range(len(at)):
        if measured:
            out[:, t] += np.sqrt(variance[t]) * sds * z[:, t] + shift[t]
        if carried is not None:
            out[:, t] += (out[:, :t] - part.center) @ carried[t, :t]
    return out


def _simultaneous(draws: Array, level: float) -> tuple[Array, Array]:
    """The band that holds `level` of whole curves, [S,T]."""
    count = len(draws)
    order = np.argsort(draws, axis=0, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(count)[:, None], axis=0)
    extreme = np.sort(np.minimum(ranks, count - 1 - ranks).min(1))
    k = extreme[min(count - 1, int(np.floor((1 - level) * count)))]
    ordered = np.sort(draws, axis=0)
    return ordered[k], ordered[count - 1 - k]


def _crossing_grid(part: Part, start: float) -> Array:
    first, last = part.basis.domain
    breaks = [max(start, first)]
    for knot in part.basis.knots:
        if breaks[-1] < knot <= last:
            breaks.append(float(knot))
    times = [breaks[0]]
    for before, after in zip(breaks, breaks[1:]):
        times.extend(after if j == 24 else before + (after - before) * j / 24 for j in range(1, 25))
    return np.array(times)


def _first_crossings(part: Part, coefficients: Array, level: float, sign: int, grid: Array, rows: Array) -> Array:
    beyond = sign * (coefficients @ rows.T - level) >= 0
    first = np.where(beyond.any(1), beyond.argmax(1), -1)
    out = np.full(len(coefficients), np.inf)
    out[first == 0] = grid[0]
    own = np.flatnonzero(first > 0)
    low, high = grid[first[own] - 1].copy(), grid[first[own]].copy()
    for _ in range(40):
        middle = 0.5 * (low + high)
        there = sign * ((part.basis.rows(middle) * coefficients[own]).sum(1) - level) >= 0
        high, low = np.where(there, middle, high), np.where(there, low, middle)
    out[own] = high
    return out


def _check_level(where: str, level: float) -> None:
    if not 0 < level < 1:
        raise TrajectoryMapsError("option", f"{where}: expected a level between 0 and 1, received {level}. Use 0.9 for a 90% band.")


def _check_draws(where: str, draws: int) -> None:
    if int(draws) != draws or not 10 <= draws <= 10_000_000:
        raise TrajectoryMapsError("option", f"{where}: expected draws as a whole number from 10 to 10,000,000, received {draws}. Use 2000.")


def _check_times(where: str, times: Sequence[float]) -> Array:
    at = np.asarray(times, dtype=float).ravel()
    if not np.isfinite(at).all():
        raise TrajectoryMapsError("not-finite", f"{where}: expected finite times, received {at[~np.isfinite(at)][0]}.")
    return at
