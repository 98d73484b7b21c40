"""The widget without a browser: what it hands to the map, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import trajectory_maps as tm
from trajectory_maps import example_model
from trajectory_maps import widget as widget_module
from trajectory_maps.widget import MapWidget

VISITS = {"id": [3, 3, 1, 3, 2], "time": [0.0, 2.0, 1.0, 5.0, 0.5], "fvc": [82.0, 79.0, 60.0, 70.0, None]}
COLUMNS = {"id": "id", "time": "time", "value": "fvc"}


@pytest.fixture(scope="module")
def model():
    return tm.load_model(example_model())


@pytest.fixture(scope="module")
def places(model):
    return tm.embed(model, pd.DataFrame(VISITS), **COLUMNS)


def test_places_are_handed_over_row_by_row(model, places):
    data = MapWidget(model, places)._data
    assert data["model"] == example_model().read_text(encoding="utf-8")
    own = data["places"]
    assert own["ids"] == ["3", "1", "2"]
    assert own["location"] == places[["x1", "x2"]].to_numpy().ravel().tolist()
    assert own["covariance"] == places[["var11", "var12", "var12", "var22"]].to_numpy().ravel().tolist()
    assert own["visits"] == [3, 1, 0]
    # Nobody has seen number 2: JSON has no infinity.
    assert own["firstTime"] == [0.0, 1.0, None]
    assert own["area50"] == places.area50.tolist()


def test_ids_are_text_as_the_command_line_writes_them(model, places):
    with_gaps = places.assign(id=places.id.astype(float))
    assert MapWidget(model, with_gaps)._data["places"]["ids"] == ["3", "1", "2"]


def test_numbers_get_a_scale_and_all_else_categories(model, places):
    numbers = MapWidget(model, places, colour=[1, np.nan, 2.5], title="Age")._data["colour"]
    assert numbers == {"kind": "number", "title": "Age", "values": [1.0, None, 2.5]}
    by_id = MapWidget(model, places, colour={1: "yes", 3: "no"})._data["colour"]
    assert by_id["labels"] == [0, 1, -1]
    assert by_id["categories"] == [{"name": "no"}, {"name": "yes"}]
    ordered = pd.Series(["low", "high", "low"], dtype=pd.CategoricalDtype(["low", "high"]))
    assert MapWidget(model, places, colour=ordered)._data["colour"]["categories"] == [{"name": "low"}, {"name": "high"}]
    truth = MapWidget(model, places, colour=[True, False, None])._data["colour"]
    assert (truth["kind"], truth["labels"]) == ("category", [1, 0, -1])


def test_groups_give_colours_and_names(model, places):
    table = {"id": ["1", "3"], "group": ["B", "A"]}
    found = tm.Study({"groups": [{"letter": "A", "name": "stable"}, {"letter": "B", "name": "falls"}]}, table)
    data = MapWidget(model, places, groups=found)._data
    assert data["colour"]["labels"] == data["groups"]["labels"] == [0, 1, -1]
    assert data["groups"]["groups"] == [{"name": "stable", "letter": "A"}, {"name": "falls", "letter": "B"}]


def test_traits_take_known_ids(model, places):
    shown = MapWidget(model, places)
    shown.selection = ["1", "2"]
    shown.opened = "3"
    shown.opened = None
    with pytest.raises(tm.TrajectoryMapsError, match="received 7, 9"):
        shown.selection = ["1", "7", "9"]
    assert shown.selection == ["1", "2"]


def test_refusals_name_the_remedy(model, places, monkeypatch, tmp_path):
    with pytest.raises(tm.TrajectoryMapsError, match=r"placements=embed\(model, visits\)"):
        MapWidget(model)
    with pytest.raises(tm.TrajectoryMapsError, match="each of 3 individuals, received 2"):
        MapWidget(model, places, colour=[1, 2])
    with pytest.raises(tm.TrajectoryMapsError, match="light, dark, system"):
        MapWidget(model, places, theme="blue")
    monkeypatch.setattr(widget_module, "SCRIPT", tmp_path / "none.mjs")
    with pytest.raises(tm.TrajectoryMapsError, match="npm run build:python"):
        MapWidget(model, places)


def test_a_run_brings_its_places(dtm, tmp_path):
    rng = np.random.default_rng(1)
    level, slope = rng.normal(80, 10, 40), rng.normal(-1, 1, 40)
    rows = [(i, t, level[i] + slope[i] * t + rng.normal(0, 2)) for i in range(40) for t in (0, 1, 2, 4)]
    visits = pd.DataFrame(rows, columns=["id", "time", "value"])
    run = tm.fit(visits, out=tmp_path / "run", restarts=0)
    of_run, of_folder = MapWidget(run)._data, MapWidget(tmp_path / "run")._data
    assert len(of_run["places"]["ids"]) == 40
    assert of_run == of_folder
    assert of_run["places"]["area50"] == [None] * 40
