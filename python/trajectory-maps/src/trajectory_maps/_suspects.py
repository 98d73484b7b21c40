"""Visits that are probably wrong given what is usual (docs/math/noise.md, section 5), such as 800 typed for 80.

Coefficients are N(beta, Omega) over all places of the model and a visit is wrong with probability 0.01, which makes its variance 400
times larger. Of every individual the sets of visits that may be wrong are weighed against each other; serial correlation is left aside.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ._basis import undo
from ._mixture import Tables
from ._model import Part
from ._noise import log_sum_exp

Array = np.ndarray[Any, Any]

_SHARE, _LEAST, _FACTOR = 0.01, 0.5, 400.0
#: log odds above which a visit is a candidate, how many there are at most, and how many are looked at in each round
_CANDIDATE, _MOST, _SCREENED = -4.0, 5, 4


@dataclass(frozen=True)
class Suspect:
    """A value that is wrong with a probability of a half or more."""

    marker: str
    time: float
    value: float
    #: what the other visits let expect
    expected: float
    probability: float


def usual(tables: Tables, log_weights: Array) -> tuple[Array, Array]:
    """Mean [d], about that of the model, and covariance [d,d] of the coefficients of anybody."""
    weights = np.exp(log_weights)
    shift = weights @ tables.means
    between = tables.means - shift
    inside = np.einsum("g,gab,gcb->ac", weights, tables.factors, tables.factors, optimize=True)
    return shift, inside + (weights[:, None] * between).T @ between


def suspects(part: Part, shift: Array, covariance: Array, times: Array, values: Array) -> tuple[Suspect, ...]:
    """Visits of one individual that are probably wrong; values on the scale of the model."""
    n = len(times)
    if n == 0:
        return ()
    rows = part.basis.rows(times)
    beta = part.mean + shift
    away = values - rows @ beta
    spread = rows @ covariance @ rows.T
    levels = part.noise.levels()

    def evidence(weights: Array) -> float:
        whole = spread + levels.variances[:, None, None] * np.diag(1 / weights)
        factors = np.linalg.cholesky(whole)
        white = np.linalg.solve(factors, np.broadcast_to(away[:, None], (len(factors), n, 1)))[:, :, 0]
        log_dets = 2 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(1)
        own = -0.5 * (n * np.log(2 * np.pi) + log_dets + (white * white).sum(1))
        return log_sum_exp(levels.log_weights + own)

    def course(weights: Array) -> Array:
        """Coefficients of the individual's course, given visits of these weights."""
        whole = spread + part.noise.variance * np.diag(1 / weights)
        return beta + covariance @ rows.T @ np.linalg.solve(whole, away)

    candidates = _candidates(evidence, (values - rows @ course(np.ones(n))) ** 2)
    if not candidates:
        return ()
    sets = [set(own) for size in range(len(candidates) + 1) for own in combinations(candidates, size)]
    prior = [len(own) * np.log(_SHARE) + (n - len(own)) * np.log1p(-_SHARE) for own in sets]
    joint = np.array([log + evidence(_weights(n, own)) for log, own in zip(prior, sets)])
    total = log_sum_exp(joint)
    likeliest = sets[int(np.argmax(joint))]
    found = []
    for j in sorted(candidates):
        probability = float(np.exp(log_sum_exp(joint[[j in own for own in sets]]) - total))
        if probability >= _LEAST:
            expected = part.marker.value(float(rows[j] @ course(_weights(n, likeliest | {j}))))
            measured = undo(part.marker.transform, values[j])
            found.append(Suspect(part.marker.name, float(times[j]), float(measured), float(expected), probability))
    return tuple(found)


def _weights(n: int, wrong: set[int]) -> Array:
    return np.array([1 / _FACTOR if j in wrong else 1.0 for j in range(n)])


def _candidates(evidence: Any, errors: Array) -> list[int]:
    """Visits that may be wrong: the likeliest is accepted and the search repeated, so that one does not hide another."""
    n = len(errors)
    log_odds = np.log(_SHARE) - np.log1p(-_SHARE)
    wrong: set[int] = set()
    found: list[int] = []
    while len(found) < _MOST and len(wrong) < min(_MOST, n):
        before = evidence(_weights(n, wrong))
        doubt = np.where([j in wrong for j in range(n)], -1.0, errors)
        screened = [j for j in np.argsort(-doubt, kind="stable")[:_SCREENED].tolist() if j not in wrong]
        odds = {j: log_odds + evidence(_weights(n, wrong | {j})) - before for j in screened}
        found += [j for j in screened if odds[j] > _CANDIDATE and j not in found]
        best = max(odds, key=lambda j: odds[j])
        if not odds[best] >= 0:
            break
        wrong.add(best)
    return found[:_MOST]
