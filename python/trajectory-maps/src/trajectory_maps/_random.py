"""Draws with the same numbers as the TypeScript library: xoroshiro128+ from a hashed seed, normals by inversion."""

from __future__ import annotations

import struct
from statistics import NormalDist

import numpy as np

_MASK = 0xFFFFFFFF
_quantile = NormalDist().inv_cdf


def _hash(start: int, values: list[float]) -> int:
    h = start
    for (word,) in struct.iter_unpack("<I", struct.pack(f"<{len(values)}d", *values)):
        h = ((h ^ word) * 0x85EBCA6B) & _MASK
        h = ((h ^ (h >> 13)) * 0xC2B2AE35) & _MASK
        h ^= h >> 16
    return h


class Random:
    """A seeded generator.

    >>> random = Random(1)
    >>> round(random.uniform(), 12) == round(Random(1).uniform(), 12)
    True
    """

    def __init__(self, seed: float) -> None:
        hashed = _hash(0x9E3779B9, [seed])
        self._state = (_MASK, ~hashed & _MASK, hashed, 0)
        for _ in range(64):
            self._next()

    def _next(self) -> int:
        s01, s00, s11, s10 = self._state
        a0, a1 = s10 ^ s00, s11 ^ s01
        self._state = (
            ((s01 << 24) ^ (s00 >> 8) ^ a1 ^ ((a1 << 16) | (a0 >> 16))) & _MASK,
            ((s00 << 24) ^ (s01 >> 8) ^ a0 ^ (a0 << 16)) & _MASK,
            ((a0 << 5) ^ (a1 >> 27)) & _MASK,
            ((a1 << 5) ^ (a0 >> 27)) & _MASK,
        )
        return (s00 + s10) & _MASK

    def uniform(self) -> float:
        """Uniform on [0, 1)."""
        first, second = self._next() & 0x3FFFFFF, self._next() & 0x7FFFFFF
        return first * 2.0**-26 + second * 2.0**-53

    def normal(self) -> float:
        """Standard normal."""
        u = self.uniform()
        while u == 0:
            u = self.uniform()
        return _quantile(u)

    def categorical(self, cumulative: np.ndarray) -> int:
        """Index drawn with the weights whose running sums are given."""
        u = self.uniform() * cumulative[-1]
        return min(int(np.searchsorted(cumulative, u, side="right")), len(cumulative) - 1)
