"""Placements and predictions are those of the TypeScript library (npm run oracle -- --python writes the fixtures)."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from trajectory_maps import embed, example_model, load_model, place

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in FIXTURES.glob("*.expected.json"))
TOLERANCE = 1e-9


def close(found, expected, what="", unit=1e-300):
    """To 1e-9 of the largest magnitude, or of the unit where that is larger."""
    a, b = np.asarray(found, float).ravel(), np.array([float(v) for v in np.ravel(expected)])
    assert a.shape == b.shape, what
    finite = np.isfinite(b)
    assert (a[~finite] == b[~finite]).all(), what
    if finite.any():
        scale = max(np.abs(b[finite]).max(), unit)
        assert np.abs(a[finite] - b[finite]).max() <= TOLERANCE * scale, (what, np.abs(a - b).max() / scale)


def case_of(name):
    path = example_model() if name == "one-marker" else FIXTURES / f"{name}.model.json"
    return load_model(path), json.loads((FIXTURES / f"{name}.expected.json").read_text())


SERIES = ("mean", "sd", "median", "lower", "upper")


@pytest.mark.parametrize("name", NAMES)
def test_places_and_predictions_are_those_of_the_library(name):
    model, expected = case_of(name)
    for case in expected["cases"]:
        given = {marker: (visits["times"], visits["values"]) for marker, visits in case["markers"].items()}
        placed = place(model, markers=given, covariates=case["covariates"])
        close(placed.location, case["location"], "location", unit=1)
        close(placed.covariance, case["covariance"], "covariance", unit=1)
        close(placed.log_likelihood, case["logLikelihood"], "log-likelihood", unit=1)
        assert abs(placed.outside_mass - case["outsideMass"]) < TOLERANCE
        assert placed.visits == case["numObservations"]
        assert placed.visits_outside == case["numOutsideTimes"]
        assert [own.marker for own in placed.suspects] == [own["marker"] for own in case["suspects"]]
        for found, wanted in zip(placed.suspects, case["suspects"]):
            close([found.time, found.value, found.expected], [wanted["time"], wanted["value"], wanted["expected"]], "suspect")
            close(found.probability, wanted["probability"], "suspect", unit=1)
        for forecast in case["forecasts"]:
            check_forecast(placed, forecast)


def check_forecast(placed, forecast):
    marker = forecast["marker"]
    wanted = forecast["observation"]
    found = placed.predict(wanted["times"], marker=marker, draws=200, simultaneous=True, rate=True)
    for name in SERIES:
        close(getattr(found, name), wanted[name], f"{marker} {name}")
        close(getattr(found.rate, name), wanted["rate"][name], f"{marker} rate {name}")
    close(found.simultaneous[0], wanted["simultaneous"]["lower"], "simultaneous")
    close(found.simultaneous[1], wanted["simultaneous"]["upper"], "simultaneous")
    assert found.extrapolated.astype(int).tolist() == wanted["extrapolated"]
    for kind, level in (("curve", 0.5), ("conformal", 0.9)):
        if kind in forecast:
            found = placed.predict(wanted["times"], marker=marker, interval=kind, level=level)
            for name in SERIES:
                close(getattr(found, name), forecast[kind][name], f"{marker} {kind} {name}")
    wanted = forecast["crossing"]
    found = placed.crossing(forecast["threshold"], start=forecast["start"], marker=marker, draws=200)
    assert (found.start, found.direction) == (wanted["from"], wanted["direction"])
    close([found.already, found.none], [wanted["probabilityAlready"], wanted["probabilityNone"]], "crossing")
    for (probability, time), quantile in zip(found.quantiles, wanted["quantiles"]):
        assert probability == quantile["probability"]
        assert (time is None) == (quantile["time"] is None)
        if time is not None:
            close(time, quantile["time"], "crossing")


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("covariates")])
def test_embed_gives_the_places_of_the_library(name):
    model, expected = case_of(name)
    rows, placed = expected["embedded"]["rows"], expected["embedded"]["placed"]
    table = {"who": [], "when": []} | {part: [] for part in model.markers}
    for marker, own in zip(model.markers, rows):
        for who, when, value in zip(own["ids"], own["times"], own["values"]):
            table["who"].append(who)
            table["when"].append(when)
            for part in model.markers:
                table[part].append(value if part == marker else None)
    found = embed(model, table, id="who", time="when", value={name: name for name in model.markers})
    order = [list(found["id"]).index(own) for own in placed["ids"]]
    q = model.dimensions
    close(np.stack([found[f"x{a + 1}"] for a in range(q)], 1)[order], placed["location"], "location")
    close(found["log_likelihood"][order], placed["logLikelihood"], "log-likelihood")
    close(found["area50"][order], placed["area50"], "area50")
    close(found["area90"][order], placed["area90"], "area90")
    assert np.abs(found["outside_mass"][order] - np.array(placed["outsideMass"], float)).max() < TOLERANCE
    assert found["visits"][order].tolist() == placed["numObservations"]
    for marker, counts in zip(model.markers, placed.get("visitsOfMarkers", [])):
        assert found[f"visits_{marker}"][order].tolist() == counts
    levels = placed.get("noiseLevel") or (placed.get("noiseLevels") or [None])[0]
    if levels is not None:
        end = "" if len(model.markers) == 1 else f"_{model.markers[0]}"
        close(found[f"noise_ratio{end}"][order], [math.exp(0.5 * v) for v in levels["mean"]], "noise ratio")


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_value_is_told(name):
    _, expected = case_of(name)
    assert any(case["suspects"] for case in expected["cases"])
