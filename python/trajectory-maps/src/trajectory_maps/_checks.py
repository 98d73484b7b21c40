"""Whether what was computed of an individual means anything, as the library in TypeScript has it (models/result-checks.ts)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import TrajectoryMapsError

Array = np.ndarray[Any, Any]

#: squared deviations, in noise variances, beyond which nothing is left of others
_NO_DIGITS = 2.0**52
#: variances, over those of a cell, below which all mass lies on one node
_ONE_NODE = 1e-9


def within_cell(covariance: Array, cell: float) -> Array:
    """The covariance of a place on a lattice; where all mass lies on one node the place is uniform in its cell."""
    q = len(covariance)
    least = cell ** (2 / q) / 12
    out = covariance.copy()
    for a in np.flatnonzero(np.diag(covariance) < _ONE_NODE * least):
        out[a, :] = out[:, a] = 0
        out[a, a] = least
    return out


def place_fault(location: Array, covariance: Array, log_likelihood: float, visits: int) -> str | None:
    """Why a place means nothing; None if all is well."""
    if visits == 0:
        return None
    if -2 * log_likelihood > visits * _NO_DIGITS:
        return "values too far from what the model expects to be computed with"
    if not (np.isfinite(log_likelihood) and np.isfinite(location).all() and np.isfinite(covariance).all()):
        return "the place is no finite number"
    return None if (np.diag(covariance) > 0).all() else "the place has no variance"


def refuse_fault(where: str, fault: str | None) -> None:
    if fault is not None:
        raise TrajectoryMapsError(
            "not-computable",
            f"{where}: expected an individual that the model can tell something of, received one of whom it cannot: {fault}. Look up its values: another unit, or a code for missing.",
        )
