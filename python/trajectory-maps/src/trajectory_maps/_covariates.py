"""Covariates of individuals as coded columns, as the model codes them."""

from __future__ import annotations

import math
from typing import Any, Mapping

import numpy as np

from ._canonical import js_number
from ._errors import TrajectoryMapsError
from ._frames import is_missing

Array = np.ndarray[Any, Any]


def encode(coding: Mapping[str, Any], row: Mapping[str, Any]) -> Array:
    """Covariates of one individual as coded columns, [P]."""
    z = np.empty(len(coding["columns"]))
    for c, covariate in enumerate(coding["covariates"]):
        name, kind = covariate["name"], covariate["kind"]
        value = row.get(name)
        text = "" if value is None or (isinstance(value, float) and math.isnan(value)) else _text(value)
        unknown = is_missing(text)
        x = 0.0
        if unknown and not covariate["hasUnknown"]:
            raise TrajectoryMapsError(
                "missing-covariate",
                f"place: expected a value of {name}, received none. The model needs it: covariates={{{name!r}: ...}}.",
            )
        if kind == "number" and not unknown:
            try:
                x = float(text)
            except ValueError:
                x = math.nan
            if not math.isfinite(x):
                raise TrajectoryMapsError(
                    "not-a-number", f"place: expected a number as {name}, received {text!r}. Mend it."
                )
        if kind == "category" and not unknown and text not in covariate["levels"]:
            raise TrajectoryMapsError(
                "unknown-level",
                f"place: expected {name} among {', '.join(covariate['levels'])}, received {text!r}. The model has not seen this level.",
            )
        level = "unknown" if unknown else text
        for p, column in enumerate(coding["columns"]):
            if column["covariate"] != c:
                continue
            if column["level"] is None:
                coded = column["center"] if unknown else x
            else:
                coded = float(unknown if kind == "number" else level == column["level"])
            z[p] = (coded - column["center"]) / column["scale"]
    return z


def _text(value: Any) -> str:
    """A cell as JavaScript writes it: 1.0 of a table is 1."""
    if isinstance(value, (float, np.floating)):
        return js_number(float(value))
    return str(value).strip()
