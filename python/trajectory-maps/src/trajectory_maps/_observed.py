"""What the observations of one individual say, in as few numbers as they have rank, as the placing kernels read it.

G of rank r is determined by r of its rows and columns P. With F = G_PP^-1 G_P. [r,d]: F w + N(0, N) = h, h = G_PP^-1 g_P,
N = s G_PP^-1; where G_PP is close to singular or noise has levels, F = R with G = R'R and N = s I take their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_RANK_TOLERANCE = 1e-13
_LEAST_RATIO = 1e-3
_QUAD = 32


@dataclass(frozen=True)
class Observed:
    rank: int
    functionals: Array  # F [r,d]
    heights: Array  # h [r]
    noise: Array  # N, packed lower rows
    floors: Array  # pivots of N [r]
    rest: float  # what no curve explains, in units of the noise


def observe(gram: Array, g: Array, rho: float, visits: int, variance: float, plain: bool) -> Observed:
    """The functionals behind statistics, with N = s I if it must be plain."""
    d = len(g)
    G = gram.copy()
    most = min(visits, d)
    R: Array = np.zeros((most, d))
    h: Array = np.zeros(most)
    pivots: Array = np.zeros(most, int)
    first, r = 0.0, 0
    while r < most:
        p = int(np.argmax(np.diagonal(G)))
        pivot = G[p, p]
        if r == 0:
            first = pivot
        if not pivot > _RANK_TOLERANCE * first:
            break
        R[r] = G[p] * (1 / np.sqrt(pivot))
        R[r, pivots[:r]] = 0
        pivots[r] = p
        h[r] = (g[p] - R[:r, p] @ h[:r]) / R[r, p]
        G -= np.outer(R[r], R[r])
        G[pivots[: r + 1], pivots[: r + 1]] = 0
        r += 1
    R, h, pivots = R[:r], h[:r], pivots[:r]
    rest = max(rho - float(h @ h), 0.0) / variance
    if not plain and r > 0 and R[r - 1, pivots[r - 1]] >= _LEAST_RATIO * R[0, pivots[0]]:
        F, h, N = _inverted(R, h, pivots, variance)
        floors = np.diagonal(np.linalg.cholesky(N)) ** 2
        return Observed(r, F, h, N[np.tril_indices(r)], floors, rest)
    return Observed(r, R, h, (variance * np.eye(r))[np.tril_indices(r)], np.full(r, variance), rest)


def _inverted(R: Array, h: Array, pivots: Array, variance: float) -> tuple[Array, Array, Array]:
    """F = R_P^-1 R, h = R_P^-1 h and N = s T T', T = R_P^-1; R_P is upper triangular in the order of pivots."""
    r = len(h)
    F, h, T = R.copy(), h.copy(), np.eye(r)
    for a in range(r - 1, -1, -1):
        for b in range(a + 1, r):
            x = F[a, pivots[b]]
            h[a] -= x * h[b]
            F[a] -= x * F[b]
            T[a] -= x * T[b]
        diagonal = R[a, pivots[a]]
        h[a] /= diagonal
        F[a] /= diagonal
        T[a] /= diagonal
        F[a, pivots] = 0
        F[a, pivots[a]] = 1
    return F, h, variance * (T @ T.T)


@lru_cache(maxsize=64)
def _terms_order(d: int, r: int):
    """Where the terms of each entry come from, in the order of the kernel: e_a and then V_a0..V_aa, for a = 0..r-1."""
    row, column = np.tril_indices(d)
    packed = len(row)
    pairs = [(a, b) for a in range(r) for b in range(a + 1)]
    order: list[int] = []
    offsets: list[int] = []
    entries: list[int] = []
    entry, pair = 0, 0
    for a in range(r):
        order.extend(range(a * d, (a + 1) * d))
        offsets.extend(range(d))
        entries.extend([entry] * d)
        entry += 1
        for _ in range(a + 1):
            start = r * d + pair * packed
            order.extend(range(start, start + packed))
            offsets.extend(range(packed))
            entries.extend([entry] * packed)
            entry += 1
            pair += 1
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return (
        row,
        column,
        first,
        second,
        np.array(order, np.int64),
        np.array(offsets, np.int32) * _QUAD,
        np.array(entries, np.int64),
        entry,
    )


def load(buffers: dict[str, Array], observed: Observed) -> None:
    """Writes an individual into the memory of the placing kernels."""
    r, F = observed.rank, observed.functionals
    d = F.shape[1]
    row, column, first, second, order, offsets, entries, count = _terms_order(d, r)
    A, B = F[first], F[second]
    products = A[:, row] * B[:, column]
    products[:, row != column] += (A[:, column] * B[:, row])[:, row != column]
    values = np.concatenate([F.ravel(), products.ravel()])[order]
    kept = values != 0
    number = int(kept.sum())
    buffers["heights"][:r] = observed.heights
    buffers["noise"][: len(observed.noise)] = observed.noise
    buffers["floors"][:r] = observed.floors
    buffers["offsets"][:number] = offsets[kept]
    buffers["terms"][:number] = values[kept]
    buffers["ends"][:count] = 4 * np.cumsum(np.bincount(entries[kept], minlength=count))
