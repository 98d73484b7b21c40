"""Measurement noise (docs/math/noise.md): levels of individuals, and what is known of the noise of a new measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Noise:
    """Noise N(0, s R) of an individual's observations."""

    kind: str
    variance: float
    spread: float = 0.0
    #: range and white share, where visits correlate
    correlation: tuple[float, float] | None = None
    #: lower limit of detection in the training data, on the scale of the model
    lower_limit: float | None = None
    #: whether there were values below or above a limit in the training data
    has_limits: bool = False

    def levels(self) -> Levels:
        """The levels s_k = variance exp(spread z_k), with their weights."""
        z = np.zeros(1) if self.spread == 0 else np.arange(33) * 0.25 - 4
        log_density = -0.5 * z * z
        log_weights = log_density - log_sum_exp(log_density)
        return Levels(self.spread, z, self.variance * np.exp(self.spread * z), log_weights)


@dataclass(frozen=True)
class Levels:
    spread: float
    z: Array
    variances: Array
    log_weights: Array


def log_sum_exp(x: Array) -> float:
    largest = float(np.max(x))
    return largest if largest == -np.inf else largest + float(np.log(np.sum(np.exp(x - largest))))


def _filter(times: Array, rows: Array, correlation: tuple[float, float]):
    """The filter over visits in order of time: innovations [n,c], variances, gains and carries [n]."""
    rho, kappa = correlation
    n = len(times)
    innovations = np.empty_like(rows)
    variances, gains, carries = np.empty(n), np.empty(n), np.zeros(n)
    m = np.zeros(rows.shape[1])
    p = 1 - kappa
    for j in range(n):
        if j > 0:
            phi = np.exp(-(times[j] - times[j - 1]) / rho)
            carries[j] = phi
            m = m * phi
            p = phi * phi * p + (1 - kappa) * (1 - phi * phi)
        variances[j] = p + kappa
        gains[j] = p / variances[j]
        innovations[j] = rows[j] - m
        m = m + gains[j] * innovations[j]
        p *= 1 - gains[j]
    return innovations, variances, gains, carries


def inverse_rows(times: Array, rows: Array, correlation: tuple[float, float]) -> tuple[Array, Array]:
    """Rows of R^-1 Z [n,c] and the diagonal of R^-1 [n]."""
    innovations, variances, gains, carries = _filter(times, rows, correlation)
    n, c = rows.shape
    out, diagonal = np.empty((n, c)), np.empty(n)
    r, total = np.zeros(c), 0.0
    for j in range(n - 1, -1, -1):
        phi = carries[j + 1] if j + 1 < n else 0.0
        back, q = phi * gains[j], phi * (1 - gains[j])
        own = innovations[j] / variances[j]
        out[j] = own - back * r
        r = own + q * r
        diagonal[j] = 1 / variances[j] + back * back * total
        total = 1 / variances[j] + q * q * total
    return out, diagonal


def given_noise(
    times: Array, rows: Array, correlation: tuple[float, float], at: Array, own_rows: Array | None = None
) -> tuple[Array, Array]:
    """What the noise of new measurements takes of the columns of the visits, [T,c] (and of measurements before, [T,c + T]), and its
    variance [T]."""
    n, count = len(times), len(at)
    known = rows.shape[1]
    c = known + (0 if own_rows is None else count)
    means, variances = np.empty((count, c)), np.empty(count)
    for k in range(count):
        before = 0 if own_rows is None else k
        every = np.concatenate([times, at[:before], at[k : k + 1]])
        order = np.argsort(every, kind="stable")
        z = np.zeros((n + before + 1, c))
        z[:n, :known] = rows
        if own_rows is not None:
            z[n : n + before, :known] = own_rows[:before]
            z[n + np.arange(before), known + np.arange(before)] = 1
        u, diagonal = inverse_rows(every[order], z[order], correlation)
        place = int(np.flatnonzero(order == n + before)[0])
        variances[k] = 1 / diagonal[place]
        means[k] = -u[place] * variances[k]
    return means, variances
