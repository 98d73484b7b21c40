"""Model files: one JSON document as `dtm fit` writes it, checked and as plain arrays."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from ._basis import Basis, Marker
from ._canonical import checksum
from ._covariates import encode
from ._errors import TrajectoryMapsError
from ._noise import Noise, log_sum_exp

Array = np.ndarray[Any, Any]
FORMAT = "disease-trajectory-map"
NEWEST = 4


@dataclass(frozen=True)
class SparseMap:
    """The map from places to coefficients: a Gaussian process on inducing points."""

    signal_variance: float
    lengthscales: Array  # [q]
    jitter: float
    inducing: Array  # [p,q]
    mean: Array  # [d,p]
    covariance: Array  # [d,p,d,p]


@dataclass(frozen=True)
class Measured:
    """How visits of one marker become statistics."""

    marker: Marker
    basis: Basis
    noise: Noise
    center: float
    columns: Mapping[str, str] | None
    #: the same as the file has it
    source: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def of(part: Mapping[str, Any]) -> Measured:
        """From the part of a model file, or of the plan of statistics, that is about a marker."""
        basis = Basis(part["basis"]["degree"], part["basis"]["numBasis"], np.array(part["basis"]["knots"], float))
        if len(basis.knots) != basis.size + basis.degree + 1:
            raise ValueError(f"{len(basis.knots)} knots")
        noise, marker = part["noise"], part["marker"]
        correlation, limits = noise.get("correlation"), marker.get("limits")
        return Measured(
            marker=Marker(
                marker["name"],
                marker["unit"],
                marker["timeUnit"],
                marker["transform"],
                None if limits is None else (limits[0], limits[1]),
            ),
            basis=basis,
            noise=Noise(
                noise["kind"],
                noise["variance"],
                noise.get("spread", 0.0),
                None if correlation is None else (correlation["range"], correlation["whiteShare"]),
                noise.get("limits", {}).get("lower"),
                "limits" in noise,
            ),
            center=float(part["center"]),
            columns=part.get("columns"),
            source={name: part[name] for name in ("marker", "columns", "basis", "noise", "center") if name in part},
        )


@dataclass(frozen=True)
class Part(Measured):
    """What a model holds of one marker."""

    mean: Array  # [d]
    map: SparseMap
    residual: Array  # [d,d]
    calibration: Mapping[str, Any] | None = None
    effects: Array | None = None  # [P,h]


@dataclass(frozen=True)
class Model:
    """A fitted map. Read it with :func:`load_model`; place people with :func:`place` or :func:`embed`.

    >>> model = load_model(example_model())
    >>> model
    <trajectory map of fvc: 2 dimensions, 60 individuals, white noise>
    >>> model.markers
    ('fvc',)
    """

    parts: tuple[Part, ...]
    dimensions: int
    orientation: Array  # [q,q]
    nodes: Array  # [G,q]
    log_weights: Array  # [G]
    own_nodes: bool
    cell: float
    record: Mapping[str, Any]
    coding: Mapping[str, Any] | None = None
    shift: Array | None = None  # [q,columns that shift places]
    effect_form: str | None = None
    #: where it was loaded from
    file: Path | None = field(default=None, repr=False, compare=False)
    #: tables that every model for an individual shares
    _shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def markers(self) -> tuple[str, ...]:
        """Names of the markers."""
        return tuple(part.marker.name for part in self.parts)

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates that placing needs; none for most models."""
        return () if self.coding is None else tuple(own["name"] for own in self.coding["covariates"])

    def part(self, marker: str | None = None) -> int:
        """Position of a marker by its name; of the only one without a name."""
        if marker is None and len(self.parts) == 1:
            return 0
        if marker in self.markers:
            return self.markers.index(marker)
        raise TrajectoryMapsError(
            "option",
            f"expected one of the markers {', '.join(self.markers)}, received {marker or 'none'}. Name one of them.",
        )

    def for_covariates(self, row: Mapping[str, Any] | None) -> Model:
        """The model as it is for an individual with these covariates: the prior of its place and its mean course."""
        unknown = [name for name in row or () if name not in self.covariates]
        if unknown:
            has = ", ".join(self.covariates) or "none"
            raise TrajectoryMapsError(
                "unknown-covariate",
                f'place: expected covariates of the model ({has}), received "{unknown[0]}". Leave it out.',
            )
        if self.coding is None:
            return self
        z = encode(self.coding, row or {})
        coding = self.coding
        weights, parts = self.log_weights, self.parts
        if self.shift is not None:
            prior = weights + self.nodes @ (self.shift @ z[_columns_with(coding, "places")])
            weights = prior - log_sum_exp(prior)
        if self.effect_form is not None:
            own = z[_columns_with(coding, self.effect_form)]
            parts = tuple(
                replace(part, mean=part.mean + effect_columns(self.effect_form, part.basis) @ (own @ part.effects))
                for part in parts
            )
        return replace(self, parts=parts, log_weights=weights, coding=None, shift=None, effect_form=None)

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(part.noise.kind for part in self.parts))
        count = self.record["numIndividuals"]
        return f"<trajectory map of {', '.join(self.markers)}: {self.dimensions} dimensions, {count} individuals, {kinds} noise>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_shared": {}}


def load_model(path: str | os.PathLike[str]) -> Model:
    """The map in a model file, or in the folder of a run that `dtm fit` wrote.

    The file is checked: format, version, checksum, shapes, and a prediction stored with it is computed again.

    >>> load_model(example_model()).dimensions
    2
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TrajectoryMapsError(
            "file", f"load_model: expected the path of a model file, received {type(path).__name__}. Give a path."
        )
    file = Path(path)
    if file.is_dir():
        file = file / "model.json"
    try:
        raw = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise TrajectoryMapsError(
            "file", f"load_model: expected a model file or the folder of a run, received {path}: {error.strerror}."
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TrajectoryMapsError(
            "bad-json", f"load_model: expected a model file in JSON, received {file}: {error}."
        ) from None
    model = read_model(raw)
    from ._place import check_probe

    check_probe(model, raw["probe"])
    return replace(model, file=file)


def example_model() -> Path:
    """The file of a small map of simulated lung function (percent, times in years), for trying things.

    >>> load_model(example_model()).markers
    ('fvc',)
    """
    return Path(__file__).with_name("example.model.json")


def read_model(raw: Any) -> Model:
    """The model in a parsed file, without its probe."""
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        found = raw.get("format") if isinstance(raw, dict) else type(raw).__name__
        raise TrajectoryMapsError(
            "not-a-model", f'load_model: expected format "{FORMAT}", received {found!r}. This is not a model file.'
        )
    version = raw.get("formatVersion")
    if not isinstance(version, int) or version > NEWEST:
        raise TrajectoryMapsError(
            "newer-format",
            f"load_model: expected format version {NEWEST} or older, received {version}. Update this package.",
        )
    if version < 2:
        raise TrajectoryMapsError(
            "old-format",
            "load_model: expected format version 2 or newer, received 1. Load and save the model with the JavaScript library once.",
        )
    found = checksum({"model": raw.get("model"), "probe": raw.get("probe")})
    if found != raw.get("checksum"):
        raise TrajectoryMapsError(
            "checksum",
            f"load_model: expected checksum {raw.get('checksum')}, received contents with {found}. The file was changed or damaged: use the original.",
        )
    own = raw["model"]
    if own["kind"] != "dtm":
        raise TrajectoryMapsError(
            "unknown-model",
            f"load_model: expected a model of kind dtm, received {own['kind']}. Use the command line (dtm embed, dtm predict) for other kinds.",
        )
    try:
        return _model_of(own)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, TrajectoryMapsError):
            raise
        raise TrajectoryMapsError(
            "bad-model",
            f"load_model: expected the fields of a model file, received one that lacks or mistakes some: {error}.",
        ) from None


def _model_of(own: Mapping[str, Any]) -> Model:
    q = own["mapDimension"]
    nodes = np.array(own["nodes"]["locations"]).reshape(-1, q)
    effects = own.get("effects")
    coding = own.get("covariates")
    form = None if effects is None else effects["form"]
    parts = tuple(_part_of(part, q, form) for part in own["markers"])
    own_nodes = own["markers"][0]["residual"]["kind"] != "none"
    shift = own.get("shift")
    if shift is not None and not own_nodes:
        raise TrajectoryMapsError(
            "unknown-model",
            "load_model: expected residual effects in a map with covariates that shift places, received none. Use the command line.",
        )
    calibration = own.get("calibration")
    if calibration is not None and len(parts) == 1:
        parts = (replace(parts[0], calibration=calibration),)
    log_weights = np.array(own["nodes"]["logWeights"])
    if not own_nodes:
        nodes, log_weights = _fine_nodes(q)
    return Model(
        parts=parts,
        dimensions=q,
        orientation=np.array(own["orientation"]).reshape(q, q),
        nodes=nodes,
        log_weights=log_weights,
        own_nodes=own_nodes,
        cell=_cell_area(nodes),
        record=own["record"],
        coding=coding,
        shift=None if shift is None else np.array(shift["loadings"]).reshape(q, -1),
        effect_form=form,
    )


def _part_of(part: Mapping[str, Any], q: int, form: str | None) -> Part:
    measured, own = Measured.of(part), part["map"]
    d = measured.basis.size
    if own["kernel"]["kind"] != "rbf":
        raise ValueError(f"kernel {own['kernel']['kind']}")
    p = own["numInducing"]
    return Part(
        **measured.__dict__,
        mean=np.array(part["mean"]["coefficients"]).reshape(d),
        map=SparseMap(
            own["kernel"]["signalVariance"],
            np.array(own["kernel"]["lengthscales"]).reshape(q),
            own["kernel"]["jitter"],
            np.array(own["inducingLocations"]).reshape(p, q),
            np.array(own["inducingMean"]).reshape(d, p),
            np.array(own["inducingCovariance"]).reshape(d, p, d, p),
        ),
        residual=np.array(part["residual"]["covariance"]).reshape(d, d),
        calibration=part.get("calibration"),
        effects=None
        if form is None
        else np.array(part["effects"]).reshape(-1, effect_columns(form, measured.basis).shape[1]),
    )


def _fine_nodes(q: int) -> tuple[Array, Array]:
    """The lattice for maps without residual effects, whose density is too narrow for the fit's own."""
    step = 0.02 if q == 1 else 0.1
    count = round(10 / step) + 1
    axis = -5 + 10 * np.arange(count) / (count - 1)
    nodes = axis[:, None] if q == 1 else np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    log_density = -0.5 * (nodes**2).sum(1)
    return nodes, log_density - log_sum_exp(log_density)


def _cell_area(nodes: Array) -> float:
    """Area of a cell of the lattice, whose nodes of one row stand one after the other."""
    q = nodes.shape[1]
    same = np.ones(len(nodes) - 1, bool) if q == 1 else nodes[1:, 0] == nodes[:-1, 0]
    g = int(np.flatnonzero(same)[0])
    return float(abs(nodes[g + 1, q - 1] - nodes[g, q - 1]) ** q)


def effect_columns(form: str, basis: Basis) -> Array:
    """The columns by which an effect of a covariate moves the mean, [d,h]."""
    d = basis.size
    if form == "curve":
        return np.eye(d)
    if form == "level":
        return np.ones((d, 1))
    first, last = basis.domain
    line = (basis.abscissae() - (first + last) / 2) / ((last - first) / 2)
    return np.stack([np.ones(d), line], 1)


def _columns_with(coding: Mapping[str, Any], effect: str) -> list[int]:
    return [
        p for p, column in enumerate(coding["columns"]) if coding["covariates"][column["covariate"]]["effect"] == effect
    ]
