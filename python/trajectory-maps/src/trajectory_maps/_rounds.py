"""Rounds of a fit that `dtm fit --rounds` asks for (docs/rounds.md): the sums of a shard of statistics, by the kernels of the library.

The bits are those of the library: kernels do the arithmetic, logarithms among it, and what is added here is added in its order
(packages/core/src/wasm/expectation.ts).
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from ._cli import run
from ._kernels import Context, to_tiles
from ._packed import Plan
from ._statistics import band

Array = np.ndarray[Any, Any]

_LOG_2PI = math.log(2 * math.pi)
#: individuals a call; results do not depend on it
_BLOCK = 512
_POLL = 0.01
_kept = threading.local()


@dataclass(frozen=True)
class Question:
    """A round: the node table [stride,nodes], log weights of the nodes, and parameters of each marker."""

    table: Array
    log_weights: Array
    markers: list[dict[str, Any]]

    @staticmethod
    def of(text: bytes) -> Question:
        raw = json.loads(text)
        log_weights = _floats(raw["logWeights"])
        markers = [
            {
                "mean": _floats(own["mean"]),
                "variance": float(own["variance"]),
                "root": None if own["root"] is None else _floats(own["root"]),
                "roots": [_floats(root) for root in own["roots"]],
            }
            for own in raw["markers"]
        ]
        return Question(_floats(raw["table"]).reshape(-1, len(log_weights)), log_weights, markers)


def _floats(text: str) -> Array:
    return np.frombuffer(base64.b64decode(text), "<f8")


def checksum(*parts: bytes) -> str:
    """Sixteen hexadecimal digits by which what belongs together knows each other."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def add_to_pairs(pairs: Array, terms: Array) -> Array:
    """Pairs [2,n] of sums with numbers [n], or pairs, added to them (packages/core/src/numeric/pair-sum.ts)."""
    low = terms[1] if terms.ndim == 2 else 0.0
    a, b = pairs[0], terms[0] if terms.ndim == 2 else terms
    s = a + b
    part = s - a
    e = a - (s - part) + (b - part) + pairs[1] + low
    high = s + e
    return np.stack([high, e - (high - s)])


def blocks(individuals: int) -> Iterator[slice]:
    """The blocks that the library divides so many individuals into (packages/core/src/models/shards.ts)."""
    size = min(max(-(-individuals // (32 * 64)) * 64, 256), 4096)
    for start in range(0, individuals, size):
        yield slice(start, min(start + size, individuals))


def fit_by_rounds(sums: Callable[[bytes], Array], rounds: Path, **options: Any) -> Any:
    """`dtm fit --statistics --by-file` with these options, whose rounds are answered here: ``sums`` makes pairs [2,n] of a question's text."""
    with ThreadPoolExecutor(1) as pool:
        fitting = pool.submit(run, "fit", by_file=True, rounds=str(rounds), **options)
        for number in count(1):
            asked = rounds / "questions" / f"{number:06}.json"
            while not asked.exists():
                if fitting.done():
                    return fitting.result()
                time.sleep(_POLL)
            try:
                text = asked.read_bytes()
                _write(rounds / "totals" / f"{number:06}.sums", _total_file(number, text, sums(text)[0]))
            except BaseException as error:
                _write(rounds / "totals" / f"{number:06}.failed", f"{type(error).__name__} of whom answers".encode())
                raise


def _total_file(number: int, question: bytes, sums: Array) -> bytes:
    """The file of a total (docs/rounds.md#files-of-sums)."""
    numbers = sums.astype("<f8").tobytes()
    head = {"format": "trajectory-maps-sums", "agreement": "", "before": "", "round": number, "what": "map"}
    head |= {"state": checksum(question), "numbers": len(sums), "place": "all", "checksum": checksum(numbers)}
    return json.dumps(head).encode() + b"\n" + numbers


def _write(path: Path, content: bytes) -> None:
    """Renamed into place, so that nobody reads half a file."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def shard_sums(question: Question, plan: Plan, row: Mapping[str, Any]) -> Array:
    """Pairs [2,n] of the sums that a round asks for, of a row of statistics."""
    shard = _unpacked(plan, row)
    pairs: Array | None = None
    for block in blocks(row["individuals"]):
        own = _block_sums(question, [{name: cells[block] for name, cells in part.items()} for part in shard], plan)
        pairs = add_to_pairs(np.zeros((2, len(own))) if pairs is None else pairs, own)
    assert pairs is not None
    return pairs


def _unpacked(plan: Plan, row: Mapping[str, Any]) -> list[dict[str, Array]]:
    """Columns of each marker, with a row for each individual."""
    m = row["individuals"]
    out: list[dict[str, Array]] = [{} for _ in plan.parts]
    for name, width, kind in plan.width():
        if width == 0:
            continue
        column, _, k = name.rpartition("_")
        cells = np.frombuffer(row[name], kind).astype(float)
        out[int(k) - 1][column] = cells.reshape(m, width) if column in ("gram", "cross") else cells
    for own in out:
        own.setdefault("counts", own["visits"])
        own.setdefault("logDets", np.zeros(m))
    return out


def _stride(d: int) -> int:
    packed = d + d * (d + 1) // 2
    return packed + packed % 2


def _context(sizes: tuple[int, ...], nodes: int, stride: int) -> Context:
    """The context of a pass over markers of so many coefficients, kept for the next shard."""
    known: dict[Any, Context] = _kept.__dict__.setdefault("known", {})
    key = sizes, nodes, stride
    if key not in known:
        d = max(sizes)
        known[key] = Context(
            **{"name": "Pass", "numBasis": d, "numBand": d * (d + 1) // 2, "stride": stride, "numTiles": -(-nodes // 4)},
            **{"hasResidual": 0, "block": _BLOCK, "numTerms": 5, "numLevels": 1, "rowStart": 0, "recordStart": 0},
            recordSize=0,
        )
        known[key].buffers["logPrior"][:] = -np.inf
    return known[key]


def _log(values: Array) -> Array:
    """Logarithms as the library has them, by the kernel that transforms values."""
    if not hasattr(_kept, "log"):
        _kept.log = Context("Visits", numBasis=0, degree=0, numBand=0, block=1, numVisits=_BLOCK, transform=1)
    room = _kept.log.buffers["values"]
    room[: len(values)] = values
    _kept.log.run("transformVisits", len(values))
    return np.where(values == 0, -np.inf, room[: len(values)])


def _total(terms: Array) -> Any:
    """A sum of rows, one after the other."""
    return np.add.accumulate(terms, axis=0)[-1]


class _Marker:
    """Columns of a block of one marker in a context, at parameters."""

    def __init__(self, context: Context, part: Any, columns: Mapping[str, Array], own: Mapping[str, Any], start: int) -> None:
        self.context, self.columns = context, columns
        self.d, self.root, self.variance = part.basis.size, own["root"], own["variance"]
        self.mean, self.start = own["mean"] - part.center, start
        self.band = band(part, part.noise.correlation is not None)
        self.log_variance = float(_log(np.array([self.variance]))[0])

    def load(self, chunk: slice, padded: int) -> None:
        """Parameters, and statistics of some individuals with zeros after them."""
        buffers, (row, column) = self.context.buffers, self.band
        residual = 0 if self.root is None else 1
        self.context.resize(numBasis=self.d, numBand=len(row), hasResidual=residual, rowStart=self.start)
        buffers["bandRow"][: len(row)], buffers["bandColumn"][: len(row)] = row, column
        buffers["mean"][: self.d] = self.mean
        if self.root is not None:
            buffers["root"][: self.d**2] = self.root
        buffers["noise"][0] = self.variance
        for name, to in (("gram", "gram"), ("cross", "cross"), ("sumSquares", "squares")):
            _put(buffers[to], self.columns[name][chunk], padded)

    def constants(self, chunk: slice) -> Array:
        """Of each packed individual what does not depend on its place."""
        buffers, count = self.context.buffers, chunk.stop - chunk.start
        prior = self.d * self.log_variance
        log_det = np.full(count, prior)
        if self.root is not None:
            product = buffers["products"][:count].copy()
            log_det = 2 * _log(product)
            for b in np.flatnonzero(~((product > 1e-280) & (product < 1e280))):
                diagonal = buffers["diagonals"].reshape(-1, self.d, 2)[b >> 1, :, b & 1].copy()
                log_det[b] = _total(2 * _log(diagonal))
        each = -0.5 * (_LOG_2PI + self.log_variance)
        of_noise = self.columns["counts"][chunk] * each - 0.5 * self.columns["logDets"][chunk]
        return of_noise - 0.5 * (log_det - prior + buffers["rests"][:count] / self.variance)


def _put(to: Array, rows: Array, padded: int) -> None:
    width = rows.shape[1] if rows.ndim == 2 else 1
    to[: rows.size] = rows.ravel()
    to[rows.size : padded * width] = 0


def _chunks(individuals: int) -> Iterator[tuple[slice, int]]:
    for start in range(0, individuals, _BLOCK):
        chunk = slice(start, min(start + _BLOCK, individuals))
        yield chunk, -(-(chunk.stop - start) // 4) * 4


def _block_sums(question: Question, block: list[dict[str, Array]], plan: Plan) -> Array:
    """All numbers of the answer of a block, in the order of the library."""
    sizes = tuple(part.basis.size for part in plan.parts)
    stride, nodes = question.table.shape
    strides = [_stride(d) for d in sizes]
    starts = np.cumsum([0, *strides])
    m = len(block[0]["sumSquares"])
    context = _context(sizes, nodes, stride)
    buffers = context.buffers
    to_tiles(np.ascontiguousarray(question.table.T), buffers["table"])
    buffers["logPrior"][:nodes] = question.log_weights
    buffers["nodeSums"][:] = 0
    markers = [
        _Marker(context, part, columns, own, int(start))
        for part, columns, own, start in zip(plan.parts, block, question.markers, starts)
    ]
    contributions = np.empty(m)
    moments = [np.empty((m, width)) for width in strides]
    for chunk, padded in _chunks(m):
        count = chunk.stop - chunk.start
        constant = np.zeros(count)
        for own in markers:
            own.load(chunk, padded)
            context.run("packBlock", padded)
            constant += own.constants(chunk)
        context.run("expectBlock", padded, 1, 1)
        contributions[chunk] = constant + (buffers["maxima"][:count] + _log(buffers["sums"][:count].copy()))
        found = buffers["moments"][: count * stride].reshape(count, stride)
        for rows, start in zip(moments, starts):
            rows[chunk] = found[:, start : start + rows.shape[1]]
    tiles = buffers["nodeSums"].reshape(-1, stride, 4)[:, : starts[-1]]
    node_sums = tiles.transpose(1, 0, 2).reshape(starts[-1], -1)[:, :nodes]
    out = [[_total(contributions)], node_sums.ravel()]
    for part, columns, own, rows in zip(plan.parts, block, question.markers, moments):
        out += _maximization(part, columns, own, rows)
        out.append([_residual(part, columns, {**own, "root": root}, rows) for root in own["roots"]])
    return np.concatenate(out)


def _maximization(part: Any, columns: Mapping[str, Array], own: Mapping[str, Any], moments: Array) -> list[Any]:
    """Sums that mean and noise follow from."""
    d = part.basis.size
    context = _context((d,), 0, moments.shape[1])
    marker = _Marker(context, part, columns, own, 0)
    context.buffers["totals"][:] = 0
    for chunk, padded in _chunks(len(moments)):
        marker.load(chunk, padded)
        _put(context.buffers["moments"], moments[chunk], padded)
        context.run("maximizeBlock", padded)
    row, column = marker.band
    gram = np.zeros((d, d))
    gram[row, column] = gram[column, row] = _total(columns["gram"])
    lanes = context.buffers["totals"][: 2 * (2 * d + 3)]
    totals = lanes[::2] + lanes[1::2]
    # The last is what a free residual covariance would read.
    return [[_total(columns["counts"])], gram.ravel(), totals, np.zeros(d * d)]


def _residual(part: Any, columns: Mapping[str, Array], own: Mapping[str, Any], moments: Array) -> float:
    """Q at a root."""
    context = _context((part.basis.size,), 0, moments.shape[1])
    marker = _Marker(context, part, columns, own, 0)
    terms = np.empty(len(moments))
    for chunk, padded in _chunks(len(moments)):
        marker.load(chunk, padded)
        _put(context.buffers["moments"], moments[chunk], padded)
        context.run("packBlock", padded)
        context.run("residualBlock", padded)
        terms[chunk] = marker.constants(chunk) + context.buffers["sums"][: chunk.stop - chunk.start]
    return float(_total(terms))
