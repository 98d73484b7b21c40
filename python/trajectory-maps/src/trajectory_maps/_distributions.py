"""Mixtures of normals, the distribution of a value at one time: sums by the kernel, quantiles by Newton steps, moments of the undone
transform."""

from __future__ import annotations

import threading
from functools import lru_cache
from math import erfc, sqrt
from statistics import NormalDist
from typing import Any, Sequence

import numpy as np

from ._basis import logistic
from ._kernels import Context

Array = np.ndarray[Any, Any]
_quantile = NormalDist().inv_cdf
_LOG_2PI = float(np.log(2 * np.pi))

_kept = threading.local()


class Sums:
    """Distribution function and density of mixtures of normals, by the kernel."""

    def __init__(self, weights: Array) -> None:
        self.tiles, self._count = -(-len(weights) // 4), len(weights)
        room = getattr(_kept, "room", 0)
        if self.tiles > room:
            _kept.room = max(256, self.tiles)
            _kept.context = Context("Course", numBasis=1, numTiles=1, numActive=_kept.room)
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


def mixture_cdf(weights: Array, means: Array, sds: Array, y: float) -> float:
    return float(weights @ normal_cdf((y - means) / sds))


def normal_cdf(u: Array) -> Array:
    """The standard normal distribution function."""
    return np.array([0.5 * erfc(-x / sqrt(2)) for x in np.ravel(u)]).reshape(np.shape(u))


def quantiles(
    sums: Sums, weights: Array, means: Array, sds: Array, levels: Sequence[float], scores: list[float | None]
):
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


@lru_cache(maxsize=1)
def _gauss_hermite() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    return nodes, weights / weights.sum()


def transformed_moments(transform: str, weights: Array, m: Array, s: Array) -> tuple[float, float]:
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
