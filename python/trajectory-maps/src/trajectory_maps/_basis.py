"""B-splines and scales of markers, as docs/math/basis.md and the TypeScript library have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Basis:
    """Clamped B-splines: ``size`` functions of a degree on a full knot vector [size + degree + 1]."""

    degree: int
    size: int
    knots: Array

    @property
    def domain(self) -> tuple[float, float]:
        """First and last time of training."""
        return float(self.knots[self.degree]), float(self.knots[self.size])

    def rows(self, times: Array) -> Array:
        """All functions at the times, [T,d]; times outside the domain are moved to its ends."""
        degree, size, knots = self.degree, self.size, self.knots
        t = np.clip(np.asarray(times, dtype=float), knots[degree], knots[size])
        first = _interval(self, t) - degree
        active = np.zeros((len(t), degree + 1))
        active[:, 0] = 1
        for r in range(1, degree + 1):
            carry = np.zeros(len(t))
            for j in range(r):
                right = knots[first + degree + 1 + j]
                left = knots[first + degree + 1 + j - r]
                width = right - left
                share = np.divide(active[:, j], width, out=np.zeros(len(t)), where=width > 0)
                active[:, j] = carry + (right - t) * share
                carry = (t - left) * share
            active[:, r] = carry
        out = np.zeros((len(t), size))
        for j in range(degree + 1):
            out[np.arange(len(t)), first + j] = active[:, j]
        return out

    def slopes(self, times: Array) -> Array:
        """Their derivatives, [T,d]; zero outside the domain, where curves are constant."""
        degree, size, knots = self.degree, self.size, self.knots
        t = np.asarray(times, dtype=float)
        lower = Basis(degree - 1, size - 1, knots[1 : size + degree]).rows(t)
        out = np.zeros((len(t), size))
        for j in range(size - 1):
            width = knots[j + 1 + degree] - knots[j + 1]
            if width > 0:
                slope = degree * lower[:, j] / width
                out[:, j + 1] += slope
                out[:, j] -= slope
        out[(t < knots[degree]) | (t > knots[size])] = 0
        return out

    def abscissae(self) -> Array:
        """Means of ``degree`` knots, [d]: coefficients of the straight line t."""
        return np.array([self.knots[j + 1 : j + 1 + self.degree].sum() / self.degree for j in range(self.size)])


def _interval(basis: Basis, t: Array) -> Array:
    """The knot interval s with knots[s] <= t < knots[s+1]; the last time belongs to the last that is not empty."""
    last = basis.size - 1
    while last > basis.degree and basis.knots[last] == basis.knots[last + 1]:
        last -= 1
    inner = basis.knots[basis.degree + 1 : basis.size + 1]
    return np.minimum(basis.degree + np.searchsorted(inner, t, side="right"), last)


_DOMAINS = {
    "identity": (-np.inf, np.inf),
    "log": (0.0, np.inf),
    "log1p": (-1.0, np.inf),
    "sqrt": (0.0, np.inf),
    "logit": (0.0, 1.0),
}
TRANSFORMS = tuple(_DOMAINS)


@dataclass(frozen=True)
class Marker:
    """What is measured, and on which scale it is modelled."""

    name: str
    unit: str = ""
    time_unit: str = ""
    transform: str = "identity"
    limits: tuple[float | None, float | None] | None = None

    def ends(self) -> tuple[float, float]:
        """Lowest and highest value, as given and as the transform implies."""
        low, high = _DOMAINS[self.transform]
        given = self.limits or (None, None)
        return (low if given[0] is None else max(low, given[0]), high if given[1] is None else min(high, given[1]))

    def value(self, z: Any) -> Any:
        """From the scale of the model to the marker's, within its limits."""
        low, high = self.ends()
        return np.minimum(np.maximum(undo(self.transform, z), low), high)


def apply(transform: str, values: Any) -> Array:
    """Values on the scale of the model; NaN outside the domain."""
    y = np.asarray(values, dtype=float)
    with np.errstate(all="ignore"):
        if transform == "log":
            return np.where(y > 0, np.log(y), np.nan)
        if transform == "log1p":
            return np.where(y > -1, np.log1p(y), np.nan)
        if transform == "sqrt":
            return np.where(y >= 0, np.sqrt(y), np.nan)
        if transform == "logit":
            return np.where((y > 0) & (y < 1), np.log(y) - np.log1p(-y), np.nan)
    return y


def undo(transform: str, z: Any) -> Any:
    """Values on the original scale."""
    if transform == "log":
        return np.exp(z)
    if transform == "log1p":
        return np.expm1(z)
    if transform == "sqrt":
        return np.maximum(z, 0) ** 2
    if transform == "logit":
        return logistic(z)
    return z


def undo_slope(transform: str, z: Any) -> Any:
    """Change of the marker per unit of the model's scale."""
    if transform in ("log", "log1p"):
        return np.exp(z)
    if transform == "sqrt":
        return 2 * np.maximum(z, 0)
    if transform == "logit":
        p = logistic(z)
        return p * (1 - p)
    return np.ones_like(z)


def logistic(z: Any) -> Any:
    """1/(1 + exp(-z)), without loss of digits on either side."""
    e = np.exp(-np.abs(z))
    return np.where(np.asarray(z) >= 0, 1, e) / (1 + e)
