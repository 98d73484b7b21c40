"""The interactive map in Jupyter, an anywidget: pip install 'trajectory-maps[jupyter]'. Nothing is asked of any network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

try:
    import anywidget
    import traitlets
except ImportError:
    raise ImportError(
        "trajectory_maps.widget: expected anywidget, received none. Install it: pip install 'trajectory-maps[jupyter]'."
    ) from None

from ._cli import Fit, Study
from ._errors import TrajectoryMapsError
from ._frames import column, is_missing, names, read_csv
from ._model import Model, load_model
from ._packed import id_text

SCRIPT = Path(__file__).parent / "static" / "trajectory-map.mjs"
THEMES = ("light", "dark", "system")


class MapWidget(anywidget.AnyWidget):
    """The map of a run or of a model. Point at it to see courses, click on a dot to open an individual, press L or B and draw to select.

    >>> from trajectory_maps import embed, example_model
    >>> visits = {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": [82, 79, 60]}
    >>> model = load_model(example_model())
    >>> shown = MapWidget(model, embed(model, visits, id="id", time="time", value="fvc"))
    >>> shown.opened = "a"                      # the map follows; a click on a dot sets it, too
    >>> shown.selection
    []
    >>> shown.opened = "c"
    Traceback (most recent call last):
    trajectory_maps._errors.TrajectoryMapsError: MapWidget: expected ids of individuals on the map in opened, received c. Ids are text: opened="a".

    ``run_or_model`` is what :func:`fit` returned, the folder of a run, a model, or the path of its file; ``placements`` are
    rows as :func:`embed` gives them, those of the run unless they are given. ``colour`` holds a value for each row of them, or is a dict
    from ids to values: numbers get a scale, all else is taken as categories. ``groups`` is what :func:`groups` returned; they
    give colours and names. ``terrain`` is the surface beneath, such as ``{"kind": "slope", "time": 2}``. The page of a notebook
    that was saved with the map in it holds ids and places: it is as private as the data.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _data = traitlets.Dict().tag(sync=True)
    _height = traitlets.Int(560).tag(sync=True)
    #: ids of the selected individuals
    selection = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: id of the opened individual
    opened = traitlets.Unicode(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        run_or_model: Fit | Model | str | os.PathLike[str],
        placements: Any = None,
        *,
        colour: Any = None,
        title: str | None = None,
        groups: Study | None = None,
        terrain: Mapping[str, Any] | None = None,
        theme: str | None = None,
        height: int = 560,
    ) -> None:
        if theme is not None and theme not in THEMES:
            raise TrajectoryMapsError("option", f"MapWidget: expected a theme of {', '.join(THEMES)}, received {theme}.")
        model, text, rows = _source(run_or_model, placements)
        places = _places(rows, model.dimensions)
        data: dict[str, Any] = {"model": text, "places": places, "terrain": terrain}
        if theme is not None:
            data["theme"] = theme
        if groups is not None:
            data["colour"] = _groups_colour(groups, places["ids"])
            data["groups"] = {"labels": data["colour"]["labels"], "groups": data["colour"]["categories"]}
        elif colour is not None:
            data["colour"] = _colour(colour, places["ids"], title or "Colour")
        super().__init__(_esm=_script(), _data=data, _height=height)

    @traitlets.validate("selection", "opened")
    def _known(self, proposal: Any) -> Any:
        given, name = proposal["value"], proposal["trait"].name
        known = self._data["places"]["ids"]
        missing = sorted({given} - {None, *known} if name == "opened" else set(given) - set(known))
        if missing:
            example = f'opened="{known[0]}"' if name == "opened" else f'selection=["{known[0]}"]'
            raise TrajectoryMapsError(
                "unknown-individual",
                f"MapWidget: expected ids of individuals on the map in {name}, received {', '.join(missing[:5])}. Ids are text: {example}.",
            )
        return given


def _script() -> str:
    if not SCRIPT.exists():
        raise TrajectoryMapsError(
            "no-widget",
            f"MapWidget: expected the script of the map in {SCRIPT}, received none. In the clone run npm run build:python, then install the package again.",
        )
    return SCRIPT.read_text(encoding="utf-8")


def _source(run_or_model: Any, placements: Any) -> tuple[Model, str, Any]:
    """The model, the text of its file, and rows of places."""
    file: Path | None
    if isinstance(run_or_model, Fit):
        model, file = run_or_model.model, run_or_model.folder / "model.json"
        placements = run_or_model.placements if placements is None else placements
    elif isinstance(run_or_model, Model):
        model, file = run_or_model, run_or_model.file
    else:
        model = load_model(run_or_model)
        file = model.file
        own = Path(run_or_model) / "placements.csv"
        placements = read_csv(own, {}) if placements is None and own.exists() else placements
    if file is None or not file.exists():
        raise TrajectoryMapsError(
            "missing-file",
            f"MapWidget: expected the file that the model was loaded from, received {file or 'a model without one'}. Give the path of a model file or the folder of a run.",
        )
    if placements is None:
        raise TrajectoryMapsError(
            "option",
            "MapWidget: expected places of individuals, received a model alone, which holds none. Give them: placements=embed(model, visits).",
        )
    return model, file.read_text(encoding="utf-8-sig"), placements


def _floats(rows: Any, name: str) -> Any:
    """A column of places; times of individuals without visits are infinite."""
    return np.array(column(rows, name), float)


def _known(values: Any) -> list[float | None]:
    """Numbers with None for what JSON cannot hold."""
    return [float(value) if np.isfinite(value) else None for value in values]


def _places(rows: Any, q: int) -> dict[str, Any]:
    """Places as the script reads them: locations and covariances row by row."""
    location = np.stack([_floats(rows, f"x{a + 1}") for a in range(q)], 1)
    variances = [_floats(rows, f"var{min(a, b) + 1}{max(a, b) + 1}") for a in range(q) for b in range(q)]
    m = len(location)
    area = _floats(rows, "area50") if "area50" in names(rows) else np.full(m, np.nan)
    return {
        "ids": [id_text(cell) for cell in column(rows, "id")],
        "location": location.ravel().tolist(),
        "covariance": np.stack(variances, 1).ravel().tolist(),
        "visits": [int(count) for count in column(rows, "visits")],
        "firstTime": _known(_floats(rows, "first_time")),
        "lastTime": _known(_floats(rows, "last_time")),
        "area50": _known(area),
    }


def _colour(colour: Any, ids: Sequence[str], title: str) -> dict[str, Any]:
    if isinstance(colour, Mapping):
        by_id = {id_text(key): value for key, value in colour.items()}
        cells = [by_id.get(id) for id in ids]
    else:
        cells = list(colour)
    if len(cells) != len(ids):
        raise TrajectoryMapsError(
            "shape",
            f"MapWidget: expected a colour for each of {len(ids)} individuals, received {len(cells)}. It follows the rows of placements, or is a dict from ids to values.",
        )
    present = [cell for cell in cells if not is_missing(cell)]
    if all(isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool) for cell in present):
        values = [np.nan if is_missing(cell) else float(cell) for cell in cells]
        return {"kind": "number", "title": title, "values": _known(values)}
    # The order of a categorical column of pandas is kept, all else is sorted.
    order = getattr(getattr(colour, "cat", None), "categories", None)
    levels = [str(level) for level in (sorted(set(map(str, present))) if order is None else order)]
    return _categories(title, levels, [{"name": level} for level in levels], cells)


def _groups_colour(groups: Study, ids: Sequence[str]) -> dict[str, Any]:
    found = groups.summary["groups"]
    of = dict(zip(map(id_text, column(groups.table, "id")), column(groups.table, "group")))
    named = [{"name": own["name"], "letter": own["letter"]} for own in found]
    return _categories("Group", [own["letter"] for own in found], named, [of.get(id) for id in ids])


def _categories(
    title: str, levels: Sequence[str], named: Sequence[Mapping[str, str]], cells: Sequence[Any]
) -> dict[str, Any]:
    position = {level: k for k, level in enumerate(levels)}
    labels = [-1 if is_missing(cell) else position.get(str(cell), -1) for cell in cells]
    return {"kind": "category", "title": title, "labels": labels, "categories": list(named)}
