"""A map as a mixture of Gaussians over coefficients, one component per node, and individuals under it, by the kernels.

The order of things is that of models/mixture of the TypeScript library, so that numbers agree to rounding.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable

import numpy as np

from ._kernels import Context, to_tiles
from ._model import Part, SparseMap
from ._noise import Levels
from ._observed import Observed, load, observe

Array = np.ndarray[Any, Any]

_LOG_2PI = float(np.log(2 * np.pi))
_LIGHT, _LIGHT_COMPONENT = 1e-9, 1e-5
_STRIDES = (4, 3, 2, 1)
_LEAST_SD, _LARGEST_STEP = 0.9, 0.5
_LIGHT_END, _NO_SHARE, _NARROW = 3e-4, float(np.exp(-20)), 0.4


def kernel_factor(own: SparseMap) -> Array:
    """L of the kernel matrix of the inducing points, by columns, [p,p]."""
    K = _kernel(own, own.inducing, own.inducing)
    K[np.diag_indices(len(K))] += own.signal_variance * own.jitter
    for k in range(len(K)):
        K[k, k] = np.sqrt(K[k, k])
        K[k + 1 :, k] /= K[k, k]
        K[k + 1 :, k + 1 :] -= np.outer(K[k + 1 :, k], K[k + 1 :, k])
    return np.tril(K)


def _kernel(own: SparseMap, X: Array, Z: Array) -> Array:
    squares = sum(((X[:, c, None] - Z[None, :, c]) / own.lengthscales[c]) ** 2 for c in range(X.shape[1]))
    return own.signal_variance * np.exp(-0.5 * squares)


def map_moments(own: SparseMap, factor: Array, X: Array) -> tuple[Array, Array]:
    """Mean [n,d] and covariance [n,d,d] of the coefficients at places X [n,q] of the fit's frame."""
    a = _kernel(own, X, own.inducing).T.copy()
    for i in range(len(a)):
        a[i] = (a[i] - factor[i, :i] @ a[:i]) / factor[i, i]
    means = (own.mean @ a).T
    d = len(own.mean)
    covariances = np.empty((len(X), d, d))
    for k in range(d):
        for l in range(k + 1):
            covariances[:, k, l] = covariances[:, l, k] = np.einsum("jn,jn->n", a, own.covariance[k, :, l, :] @ a)
    covariances[:, np.arange(d), np.arange(d)] += np.maximum(own.signal_variance - (a * a).sum(0), 0)[:, None]
    return means, covariances


def outside_places(own: SparseMap, X: Array) -> Array:
    """Whether places lie further than a length-scale from every inducing point."""
    scaled = (X[:, None, :] - own.inducing[None]) / own.lengthscales
    return (scaled**2).sum(2).min(1) > 1 + 1e-12


@dataclass(frozen=True)
class Tables:
    """The mixture of one marker on the nodes."""

    means: Array  # [G,d]
    factors: Array  # [G,d,d]


def make_tables(part: Part, nodes: Array) -> Tables:
    means, covariances = map_moments(part.map, kernel_factor(part.map), nodes)
    covariances += part.residual
    d = part.basis.size
    covariances[:, np.arange(d), np.arange(d)] += 1e-10 * np.trace(covariances, axis1=1, axis2=2)[:, None]
    try:
        factors = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariances)
        factors = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    return Tables(means, factors)


@dataclass(frozen=True)
class Rule:
    """Noise levels to look at, and the logarithms of what each counts."""

    stride: int
    levels: Array
    log_counts: Array


def _rule(log_weights: Array, stride: int) -> Rule:
    most = len(log_weights)
    levels = np.arange(((most - 1) % stride) // 2, most, stride)[: (most - 1) // stride + 1]
    counts = stride * np.exp(log_weights[levels])
    if stride > 1:
        counts[0] = counts[-1] = 0.5 * (1 - counts[1:-1].sum())
    return Rule(stride, levels, np.log(counts))


def _near(rule: Rule, levels: Array, shares: Array) -> Rule:
    """The part of a rule that lies beside levels with any share."""
    right = np.searchsorted(levels, rule.levels, side="left")
    last = len(shares) - 1
    beside = np.maximum(shares[np.clip(right - 1, 0, last)], shares[np.clip(right, 0, last)])
    kept = beside >= _NO_SHARE
    return Rule(rule.stride, rule.levels[kept], rule.log_counts[kept])


@dataclass(frozen=True)
class Weighed:
    """Nodes and levels weighed for one individual, weights up to a factor."""

    log_likelihood: float
    weights: Array  # [G]
    total: float  # what weights sum to
    levels: Array  # positions of the levels looked at, [K]
    shares: Array  # their posterior, [K]
    components: Array  # [K,G]


class Marker:
    """Kernels and tables of one marker: made once per model, used under its lock."""

    def __init__(self, part: Part, nodes: Array) -> None:
        self.tables = make_tables(part, nodes)
        self.levels: Levels = part.noise.levels()
        self.lock = threading.RLock()
        count, d = self.tables.means.shape
        self.size, self.count = d, count
        tiles, most = -(-count // 4), len(self.levels.z)
        packed = d * (d + 1) // 2
        self._nodes = Context(
            "Nodes", numBasis=d, numPacked=packed, numTiles=tiles, numColumns=0, rank=0, numLevels=most
        )
        covariances = self.tables.factors @ self.tables.factors.transpose(0, 2, 1)
        row, column = np.tril_indices(d)
        to_tiles(covariances[:, row, column], self._nodes.buffers["covariances"])
        to_tiles(self.tables.means, self._nodes.buffers["means"])
        self._nodes.buffers["logPrior"][:] = -np.inf
        self._rules = {stride: _rule(self.levels.log_weights, stride) for stride in _STRIDES}
        self._step = 0.0 if most == 1 else float(self.levels.z[1] - self.levels.z[0])

    @cached_property
    def _course(self) -> Context:
        tiles = -(-self.count // 4)
        context = Context("Course", numBasis=self.size, numTiles=tiles, numActive=tiles)
        to_tiles(self.tables.factors.reshape(self.count, -1), context.buffers["factors"])
        to_tiles(self.tables.means, context.buffers["means"])
        return context

    def _stride(self, sd: float, most: int) -> int:
        spread = self.levels.spread
        fits = (
            s
            for s in _STRIDES
            if s <= most and s * self._step * _LEAST_SD <= sd and s * self._step * spread <= _LARGEST_STEP
        )
        return next(fits, 1)

    def _load(self, individual: Individual, prior: Array) -> tuple[Observed, float]:
        self._nodes.buffers["logPrior"][: self.count] = prior
        several = len(self.levels.z) > 1
        # Where there are several levels, all is in units of the noise.
        unit, variance = (individual.variance, 1.0) if several else (1.0, individual.variance)
        observed = observe(
            individual.gram / unit,
            individual.g / unit,
            individual.rho / unit,
            individual.count,
            variance,
            plain=several,
        )
        self._nodes.resize(rank=observed.rank)
        load(self._nodes.buffers, observed)
        # Where there are several levels, they hold what is left.
        return observed, individual.constant - (0 if several else 0.5 * observed.rest)

    def _load_rule(self, rule: Rule, individual: Individual, observed: Observed) -> None:
        log_level = self.levels.spread * self.levels.z[rule.levels]
        level = np.exp(log_level)
        rows = self._nodes.buffers["levels"].reshape(-1, 2)[: len(level)]
        rows[:, 0] = level
        rows[:, 1] = rule.log_counts - 0.5 * ((individual.count - observed.rank) * log_level + observed.rest / level)
        self._nodes.resize(numLevels=len(level))

    def _weigh_at(self, rule: Rule, individual: Individual, observed: Observed, constant: float) -> Weighed:
        self._load_rule(rule, individual, observed)
        buffers, several = self._nodes.buffers, len(self.levels.z) > 1
        count = self._nodes.run("weighNodes", 0)
        number = len(rule.levels)
        if number > 1:
            self._nodes.run("sumLevels", count)
        self._nodes.run("sumNodes", count, 0)
        largest, total, kept = buffers["totals"]
        weights = buffers["weights"][: self.count].copy()
        components = weights[None]
        if number > 1:
            parts = buffers["parts"][: -(-self.count // 4) * number * 4].reshape(-1, number, 4).transpose(1, 0, 2)
            scaled = buffers["scales"][: self.count] * parts.reshape(number, -1)[:, : self.count]
            components = np.where(weights == 0, 0.0, scaled)
        shares = buffers["levelSums"][:number] / kept if several and number > 1 else np.ones(1)
        return Weighed(constant + float(largest + np.log(total)), weights, float(kept), rule.levels, shares, components)

    def weigh(self, individual: Individual, prior: Array) -> Weighed:
        """Weights of nodes and levels for an individual, at all levels that matter."""
        observed, constant = self._load(individual, prior)
        if len(self.levels.z) == 1:
            return self._weigh_at(self._rules[1], individual, observed, constant)
        spread, z = self.levels.spread, self.levels.z
        expected = 1 / np.sqrt(1 + 0.5 * individual.count * spread * spread)
        first = self._stride(expected, _STRIDES[0])
        rule = self._rules[_STRIDES[0] if first == 1 and expected < _NARROW else first]
        while True:
            weighed = self._weigh_at(rule, individual, observed, constant)
            own = z[weighed.levels]
            mean = float(weighed.shares @ own)
            sd = float(np.sqrt(weighed.shares @ (own - mean) ** 2))
            light = max(weighed.shares[0], weighed.shares[-1]) < _LIGHT_END
            stride = self._stride(sd, rule.stride if light else rule.stride - 1)
            if rule.stride == 1 or stride == rule.stride:
                return weighed
            rule = _near(self._rules[stride], weighed.levels, weighed.shares)

    def densities(self, individual: Individual) -> Array:
        """log p(y | node), summed over levels, [G]; 0 without visits."""
        if individual.count == 0:
            return np.zeros(self.count)
        observed, constant = self._load(individual, np.zeros(self.count))
        self._load_rule(self._rules[1], individual, observed)
        self._nodes.run("densityNodes")
        buffers = self._nodes.buffers
        return buffers["weights"][: self.count] + np.log(buffers["scales"][: self.count]) + constant

    def moments(self, individual: Individual, variance: float, nodes: Array) -> tuple[Array, Array]:
        """Mean [C,d] and covariance [C,d,d] of the coefficients at nodes, for a noise variance."""
        d, buffers = self.size, self._course.buffers
        tiles = np.unique(nodes >> 2)
        buffers["noises"][: len(tiles)] = variance
        buffers["gram"][:] = individual.gram.ravel()
        buffers["cross"][:] = individual.g
        buffers["active"][: len(tiles)] = tiles
        self._course.run("conditionTiles", len(tiles))
        rows = d + d * (d + 1) // 2
        own = buffers["moments"][: len(tiles) * rows * 4].reshape(-1, rows, 4)[
            np.searchsorted(tiles, nodes >> 2), :, nodes & 3
        ]
        covariances = np.empty((len(nodes), d, d))
        row, column = np.tril_indices(d)
        covariances[:, row, column] = covariances[:, column, row] = own[:, d:]
        return own[:, :d], covariances

    def posterior(self, individual: Individual, prior: Array, nodes: Array) -> Posterior:
        """The posterior of an individual's place and coefficients."""
        with self.lock:
            weighed = self.weigh(individual, prior)
        relative = weighed.components
        of_nodes = relative.sum(0) if len(relative) > 1 else relative[0]
        largest = float(relative.max())
        kept = np.flatnonzero(of_nodes >= _LIGHT * largest)
        weights = of_nodes[kept] / of_nodes[kept].sum()
        if len(relative) > 1:
            level, node = np.nonzero(relative >= _LIGHT_COMPONENT * largest)
            shares = relative[level, node] / relative[level, node].sum()
        else:
            level, node, shares = np.zeros(len(kept), int), kept, weights
        variances = self.levels.variances[weighed.levels] if len(self.levels.z) > 1 else np.array([individual.variance])

        def moments() -> tuple[Array, Array]:
            means, covariances = np.empty((len(node), self.size)), np.empty((len(node), self.size, self.size))
            with self.lock:
                for k in np.unique(level):
                    own = np.flatnonzero(level == k)
                    means[own], covariances[own] = self.moments(individual, float(variances[k]), node[own])
            return means, covariances

        return Posterior(kept, weights, nodes[kept], weighed.log_likelihood, shares, variances[level], moments)


@dataclass(frozen=True)
class Individual:
    """Statistics of one individual about the mean curve of a marker."""

    gram: Array
    g: Array
    rho: float
    count: int
    variance: float
    constant: float  # -(n log 2pi + n log s + log|R|)/2

    @classmethod
    def of(cls, part: Part, statistics: Any, i: int) -> Individual:
        gram, g, rho = statistics.about(part, i)
        n, variance = int(statistics.counts[i]), part.noise.variance
        constant = -0.5 * n * (_LOG_2PI + float(np.log(variance))) - 0.5 * float(statistics.log_dets[i])
        return cls(gram, g, rho, n, variance, constant)


class Posterior:
    """Posterior of a place (nodes and weights) and of the coefficients of one marker (components with their shares and moments)."""

    def __init__(
        self,
        nodes: Array,
        weights: Array,
        locations: Array,
        log_likelihood: float,
        shares: Array,
        noise_variances: Array,
        moments: Callable[[], tuple[Array, Array]],
    ) -> None:
        self.nodes, self.weights, self.locations = nodes, weights, locations
        self.log_likelihood, self.shares, self.noise_variances = log_likelihood, shares, noise_variances
        self._make = moments

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        return self._make()

    @property
    def means(self) -> Array:
        """E[w | y, component], [C,d]."""
        return self._moments[0]

    @property
    def covariances(self) -> Array:
        """Cov[w | y, component], [C,d,d]."""
        return self._moments[1]

    def __getstate__(self) -> dict[str, Any]:
        made = self._moments
        state = {name: value for name, value in self.__dict__.items() if name != "_make"}
        return {**state, "_moments": made}
