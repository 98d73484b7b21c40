"""New measurements given the visits, draws of curves and values with the numbers of the TypeScript library, and what is told by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._mixture import Posterior
from ._model import Part
from ._noise import given_noise
from ._place import MarkerPlacement
from ._random import Random

Array = np.ndarray[Any, Any]


def measurements(part: Part, own: MarkerPlacement, at: Array, measured: bool, jointly: bool = False):
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


def draw_coefficients(
    part: Part, posterior: Posterior, draws: int, seed: int, extra: int = 0
) -> tuple[Array, Array, Array]:
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


def draw_values(part: Part, own: MarkerPlacement, at: Array, draws: int, seed: int, measured: bool) -> Array:
    """Draws of values at the times on the scale of the model, [S,T]."""
    rows, shift, variance, carried = measurements(part, own, at, measured, jointly=True)
    coefficients, z, sds = draw_coefficients(part, own.posterior, draws, seed, len(at) if measured else 0)
    out = coefficients @ rows.T
    for t in range(len(at)):
        if measured:
            out[:, t] += np.sqrt(variance[t]) * sds * z[:, t] + shift[t]
        if carried is not None:
            out[:, t] += (out[:, :t] - part.center) @ carried[t, :t]
    return out


def simultaneous_band(draws: Array, level: float) -> tuple[Array, Array]:
    """The band that holds `level` of whole curves, [S,T]."""
    count = len(draws)
    order = np.argsort(draws, axis=0, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(count)[:, None], axis=0)
    extreme = np.sort(np.minimum(ranks, count - 1 - ranks).min(1))
    k = extreme[min(count - 1, int(np.floor((1 - level) * count)))]
    ordered = np.sort(draws, axis=0)
    return ordered[k], ordered[count - 1 - k]


def crossing_grid(part: Part, start: float) -> Array:
    first, last = part.basis.domain
    breaks = [max(start, first)]
    for knot in part.basis.knots:
        if breaks[-1] < knot <= last:
            breaks.append(float(knot))
    times = [breaks[0]]
    for before, after in zip(breaks, breaks[1:]):
        times.extend(after if j == 24 else before + (after - before) * j / 24 for j in range(1, 25))
    return np.array(times)


def first_crossings(part: Part, coefficients: Array, level: float, sign: int, grid: Array, rows: Array) -> Array:
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
