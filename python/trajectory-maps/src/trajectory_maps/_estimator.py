"""A trajectory map with the habits of scikit-learn; scikit-learn itself is not needed."""

from __future__ import annotations

import inspect
from typing import Any, Sequence

import numpy as np

from ._cli import Fit, fit
from ._embed import embed, forecast
from ._errors import TrajectoryMapsError
from ._frames import column
from ._model import Model, load_model

Array = np.ndarray[Any, Any]


class TrajectoryMap:
    """A map as an estimator: ``fit`` a table of visits, ``transform`` visits into places, ``predict`` values at times.

    X is a table of visits with a row for each visit, so that rows of the result are individuals, in order of their first row.
    ``model`` gives a fitted map (a path or a Model), for ``transform`` and ``predict`` without ``fit`` and without Node.

    >>> from trajectory_maps import example_model
    >>> visits = {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": [82, 79, 60]}
    >>> estimator = TrajectoryMap(id="id", time="time", value="fvc", model=example_model())
    >>> estimator.transform(visits).shape
    (2, 2)
    >>> estimator.predict(visits, [2, 4]).shape
    (2, 2)
    """

    def __init__(
        self,
        *,
        id: str | None = None,
        time: str | None = None,
        value: Any = None,
        transform_values: str | None = None,
        noise: str | None = None,
        dim: int = 2,
        restarts: int | None = None,
        seed: int = 1,
        model: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.time = time
        self.value = value
        self.transform_values = transform_values
        self.noise = noise
        self.dim = dim
        self.restarts = restarts
        self.seed = seed
        self.model = model
        self.options = options

    @classmethod
    def _names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> TrajectoryMap:
        """Sets parameters; refuses names that there are not."""
        for name, value in params.items():
            if name not in self._names():
                raise ValueError(
                    f"TrajectoryMap: expected parameters among {', '.join(self._names())}, received {name!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name] and value != defaults[name]
        ]
        return f"TrajectoryMap({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_") or self.model is not None

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), transformer_tags=TransformerTags())

    def fit(self, X: Any, y: Any = None) -> TrajectoryMap:
        """Fits the map by the command line."""
        asked: dict[str, Any] = {
            "id": self.id,
            "time": self.time,
            "transform": self.transform_values,
            "noise": self.noise,
        }
        asked |= {"dim": self.dim, "restarts": self.restarts, "seed": self.seed}
        asked |= {"markers" if isinstance(self.value, (list, tuple)) else "value": self.value}
        self.run_: Fit = fit(X, **asked, **(self.options or {}))
        self.model_: Model = self.run_.model
        self.n_features_in_ = self.model_.dimensions
        return self

    def _fitted(self) -> Model:
        if hasattr(self, "model_"):
            return self.model_
        if self.model is None:
            raise TrajectoryMapsError(
                "not-fitted", "TrajectoryMap: expected a fitted map, received none. Call fit, or give model=."
            )
        self.model_ = self.model if isinstance(self.model, Model) else load_model(self.model)
        return self.model_

    def _columns(self) -> dict[str, Any]:
        several = isinstance(self.value, (list, tuple))
        return {"id": self.id, "time": self.time, "value": None if several else self.value}

    def transform(self, X: Any) -> Array:
        """Places of the individuals, [individuals, dim]."""
        placed = embed(self._fitted(), X, **self._columns())
        return np.column_stack([column(placed, f"x{a + 1}") for a in range(self._fitted().dimensions)]).astype(float)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fits the map and gives the places of the same individuals."""
        return self.fit(X, y).transform(X)

    def predict(self, X: Any, times: Sequence[float], *, what: str = "median", **options: Any) -> Array:
        """Values of the individuals at times, [individuals, times]: medians, or another column of :func:`forecast`."""
        rows = forecast(self._fitted(), X, times, **self._columns(), **options)
        return np.asarray(column(rows, what), dtype=float).reshape(-1, len(times))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of ``transform``."""
        return np.array([f"x{a + 1}" for a in range(self._fitted().dimensions)], dtype=object)
