"""Visits as statistics, by the kernel: all that a model reads of an individual."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._basis import TRANSFORMS
from ._errors import TrajectoryMapsError
from ._kernels import Context
from ._model import Measured, Part

Array = np.ndarray[Any, Any]


_contexts = threading.local()


def _context(d: int, degree: int, band: int, individuals: int, visits: int) -> Context:
    """A context of this thread with room for so much, kept for the next call unless it is large."""
    room = max(8, individuals), max(64, visits)
    known = _contexts.__dict__.setdefault("known", {})
    small = room == (8, 64)
    if small and (d, degree, band) in known:
        return known[d, degree, band]
    context = Context("Visits", numBasis=d, degree=degree, numBand=band, block=room[0], numVisits=room[1], transform=0)
    if small:
        known[d, degree, band] = context
    return context


@dataclass(frozen=True)
class Statistics:
    """Of individuals, whitened where visits correlate; values on the scale of the model, about the centre."""

    gram: Array  # [m,d,d]
    cross: Array  # [m,d]
    squares: Array  # [m]
    log_dets: Array  # [m]
    counts: Array  # [m]

    def about(self, part: Part, i: int) -> tuple[Array, Array, float]:
        """G, g and rho of an individual about the mean curve."""
        beta = part.mean - part.center
        g = self.cross[i] - self.gram[i] @ beta
        rho = self.squares[i] - float(beta @ (self.cross[i] + g))
        return self.gram[i], g, max(rho, 0.0)


def transformed(part: Measured, values: Array) -> Array:
    """Values on the scale of the model."""
    context = _context(0, 0, 0, 0, len(values))
    context.resize(transform=TRANSFORMS.index(part.marker.transform))
    context.buffers["values"][: len(values)] = values
    context.run("transformVisits", len(values))
    out = context.buffers["values"][: len(values)].copy()
    if not np.isfinite(out).all():
        bad = values[~np.isfinite(out)][0]
        raise TrajectoryMapsError(
            "transform-domain",
            f'place: expected values of {part.marker.name} in the domain of transform "{part.marker.transform}", received {bad}. Leave it out.',
        )
    return out


@dataclass(frozen=True)
class Columns:
    """Statistics as the kernel leaves them; of G the entries k <= l <= k + degree by rows, all k <= l where visits correlate."""

    gram: Array  # [m,band]
    cross: Array  # [m,d]
    squares: Array  # [m]
    log_dets: Array  # [m]


def columns(part: Measured, offsets: Array, times: Array, values: Array, serial: bool) -> Columns:
    """Columns of individuals, whose visits offsets[i]..offsets[i+1] are in order of time, values on the scale of the model."""
    m, d = len(offsets) - 1, part.basis.size
    count = len(band(part, serial)[0])
    context = _context(d, part.basis.degree, count, m, len(times))
    buffers = context.buffers
    buffers["knots"][:] = part.basis.knots
    buffers["center"][0] = part.center
    buffers["offsets"][: m + 1] = offsets
    buffers["times"][: len(times)] = times
    buffers["values"][: len(times)] = values
    if serial:
        buffers["correlation"][:] = part.noise.correlation
    context.run("whitenVisits" if serial else "sumVisits", m)
    return Columns(
        buffers["gram"][: m * count].reshape(m, count).copy(),
        buffers["cross"][: m * d].reshape(m, d).copy(),
        buffers["squares"][:m].copy(),
        buffers["logDets"][:m].copy() if serial else np.zeros(m),
    )


def statistics(part: Measured, offsets: Array, times: Array, values: Array) -> Statistics:
    """Statistics of individuals, as :func:`columns` takes them."""
    m, d = len(offsets) - 1, part.basis.size
    serial = part.noise.correlation is not None
    own = columns(part, offsets, times, values, serial)
    row, column = band(part, serial)
    gram = np.zeros((m, d, d))
    gram[:, row, column] = own.gram
    gram[:, column, row] = own.gram
    return Statistics(gram, own.cross, own.squares, own.log_dets, np.diff(offsets))


def band(part: Measured, serial: bool) -> tuple[Array, Array]:
    """Rows and columns of the entries of G that are kept."""
    d = part.basis.size
    degree = d - 1 if serial else part.basis.degree
    pairs = [(k, l) for k in range(d) for l in range(k, min(k + degree, d - 1) + 1)]
    row, column = zip(*pairs)
    return np.array(row), np.array(column)
