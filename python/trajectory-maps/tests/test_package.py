"""Files that are refused, tables of each kind, the estimator, and finding the command."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import trajectory_maps as tm
from trajectory_maps import _cli, example_model
from trajectory_maps._canonical import checksum
from trajectory_maps._cli import find_command
from trajectory_maps._model import read_model


def example(name: str) -> Path:
    return Path(__file__).parent / "fixtures" / f"{name}.model.json"


VISITS = {"id": [3, 3, 1, 3, 2], "time": [0.0, 2.0, 1.0, 5.0, 0.5], "fvc": [82.0, 79.0, 60.0, 70.0, None]}
COLUMNS = {"id": "id", "time": "time", "value": "fvc"}


@pytest.fixture(scope="module")
def model():
    return tm.load_model(example_model())


def raw():
    return json.loads(example_model().read_text())


@pytest.mark.parametrize(
    "change, code",
    [
        (lambda file: file.update(format="other"), "not-a-model"),
        (lambda file: file.update(formatVersion=5), "newer-format"),
        (lambda file: file.update(formatVersion=1), "old-format"),
        (lambda file: file["model"]["orientation"].__setitem__(0, 0.5), "checksum"),
    ],
)
def test_files_are_refused_by_name(change, code):
    file = raw()
    change(file)
    with pytest.raises(tm.TrajectoryMapsError) as caught:
        read_model(file)
    assert caught.value.code == code


def test_other_kinds_of_model_are_refused_with_the_remedy():
    file = raw()
    file["model"]["kind"] = "dtm-paper"
    file["checksum"] = checksum({"model": file["model"], "probe": file["probe"]})
    with pytest.raises(tm.TrajectoryMapsError, match="command line"):
        read_model(file)


def test_a_probe_that_does_not_come_out_is_refused(tmp_path):
    file = raw()
    file["probe"]["median"][2] += 0.1
    file["checksum"] = checksum({"model": file["model"], "probe": file["probe"]})
    path = tmp_path / "model.json"
    path.write_text(json.dumps(file))
    with pytest.raises(tm.TrajectoryMapsError) as caught:
        tm.load_model(path)
    assert caught.value.code == "probe"


def test_a_file_that_was_formatted_anew_is_the_same_model(tmp_path, model):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(raw(), indent=2, sort_keys=True))
    assert repr(tm.load_model(tmp_path)) == repr(model)


@pytest.mark.parametrize(
    "times, values, code",
    [([0, 1], [80], "shape"), ([0], [float("nan")], "not-finite"), ([float("inf")], [80], "not-finite")],
)
def test_visits_that_cannot_be_placed_are_refused(model, times, values, code):
    with pytest.raises(tm.TrajectoryMapsError) as caught:
        tm.place(model, times, values)
    assert caught.value.code == code


def test_values_outside_the_transform_are_refused():
    with pytest.raises(tm.TrajectoryMapsError) as caught:
        tm.place(tm.load_model(example("log-level")), [0], [0])
    assert caught.value.code == "transform-domain"


def test_masked_and_missing_cells_are_no_numbers_and_dates_are_refused(model):
    masked = np.ma.array([82.0, 1e9], mask=[False, True])
    with pytest.raises(tm.TrajectoryMapsError, match="finite values"):
        tm.place(model, [0, 1], masked)
    table = {"id": ["a", "a"], "time": [0, 1], "fvc": masked}
    assert tm.embed(model, table, **COLUMNS)["visits"].tolist() == [1]
    dates = np.array(["2020-01-01", "2021-01-01"], "datetime64[ns]")
    for times in (dates, list(dates), [d.item() for d in dates.astype("datetime64[D]")]):
        with pytest.raises(tm.TrajectoryMapsError, match="common start"):
            tm.place(model, times, [82, 80])
    with pytest.raises(tm.TrajectoryMapsError, match="common start"):
        tm.embed(model, {"id": ["a"], "time": [0], "fvc": dates[:1]}, **COLUMNS)
    for cell in ("1_000", "inf", "0x10", "<3", "1e999", 1e200, float("inf")):
        with pytest.raises(tm.TrajectoryMapsError):
            tm.embed(model, {"id": ["a"], "time": [0], "fvc": [cell]}, **COLUMNS)


def test_rows_that_repeat_another_count_once(model):
    table = {"id": ["a", "a", "a"], "time": [0, 0, 1], "fvc": [82, 82, 79]}
    assert tm.embed(model, table, **COLUMNS)["visits"].tolist() == [2]
    assert tm.embed(model, table, **COLUMNS, keep_repeats=True)["visits"].tolist() == [3]


def test_a_table_may_lack_one_of_several_markers():
    model = tm.load_model(example("two-markers"))
    lacks = {"id": ["a", "a"], "time": [0, 1], "bili": [1.1, 2.0]}
    whole = lacks | {"albumin": [None, None]}
    a, b = (tm.embed(model, table, id="id", time="time") for table in (lacks, whole))
    assert a["x1"].tolist() == b["x1"].tolist() and a["visits_albumin"].tolist() == [0]
    with pytest.raises(tm.TrajectoryMapsError, match="value of bili"):
        tm.embed(model, {"id": ["a"], "time": [0]}, id="id", time="time")
    with pytest.raises(tm.TrajectoryMapsError) as caught:
        tm.embed(model, whole, id="id", time="time", value={"bilirubin": "bili"})
    assert caught.value.code == "other-marker"


def test_an_empty_table_gives_an_empty_one():
    for name in ("log-level", "two-markers"):
        model = tm.load_model(example(name))
        empty = {"id": [], "time": []} | {own: [] for own in model.markers}
        value = {own: own for own in model.markers}
        assert len(tm.embed(model, empty, id="id", time="time", value=value)["id"]) == 0


def test_covariates_are_asked_for():
    model = tm.load_model(example("covariates-places"))
    for row, code in (
        ({}, "missing-covariate"),
        ({"age": "x", "sex": "f"}, "not-a-number"),
        ({"age": 5, "sex": "q"}, "unknown-level"),
    ):
        with pytest.raises(tm.TrajectoryMapsError) as caught:
            tm.place(model, [0], [80], covariates=row)
        assert caught.value.code == code
    plain = tm.load_model(example_model())
    for own, row in ((model, {"age": 5, "sex": "f", "weight": 80}), (plain, {"age": 5})):
        with pytest.raises(tm.TrajectoryMapsError) as caught:
            tm.place(own, [0], [80], covariates=row)
        assert caught.value.code == "unknown-covariate"
    with pytest.raises(tm.TrajectoryMapsError, match="subjects"):
        tm.embed(plain, VISITS, **COLUMNS, subjects={"id": [3]})


def test_options_out_of_range_are_refused(model):
    someone = tm.place(model, [0], [80])
    for call in (
        lambda: someone.predict([1], level=1),
        lambda: someone.predict([1], interval="band"),
        lambda: someone.predict([float("nan")]),
        lambda: someone.predict([1], marker="other"),
        lambda: someone.predict([1], interval="conformal", level=0.8),
        lambda: someone.crossing(60, start=99),
        lambda: someone.crossing(60, direction="left"),
        lambda: tm.place_at(model, [1]),
    ):
        with pytest.raises(tm.TrajectoryMapsError):
            call()


def test_what_is_no_number_or_no_file_is_refused_in_words(model, tmp_path):
    someone = tm.place(model, [0], [80])
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{")
    for call in (
        lambda: tm.load_model(tmp_path / "none.json"),
        lambda: tm.load_model(tmp_path),
        lambda: tm.load_model(tmp_path / "bytes.json"),
        lambda: tm.place(model, ["a"], [1]),
        lambda: tm.place(model, markers=[1]),
        lambda: tm.place(model, markers={"fvc": [1, 2, 3]}),
        lambda: someone.predict(["a"]),
        lambda: someone.predict([1], level="x"),
        lambda: someone.crossing("x"),
        lambda: tm.place_at(model, ["a", "b"]),
        lambda: tm.place_at(model, None),
        lambda: tm.embed(model, {"id": ["a", "b"], "time": [0], "fvc": [1, 2]}, **COLUMNS),
        lambda: tm.embed(model, {"id": [["a"]], "time": [0], "fvc": [1]}, **COLUMNS),
        lambda: tm.forecast(model, VISITS, ["x"], **COLUMNS),
    ):
        with pytest.raises(tm.TrajectoryMapsError, match="expected"):
            call()


def table_of(kind):
    library = pytest.importorskip(kind)
    return {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[kind], library


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_come_back_as_they_came(model, kind):
    name, library = table_of(kind)
    table = getattr(library, name)(VISITS)
    plain = tm.embed(model, VISITS, **COLUMNS)
    found = tm.embed(model, table, **COLUMNS)
    assert type(found) is type(table)
    columns = found.to_pydict() if kind == "pyarrow" else {name: list(found[name]) for name in found.columns}
    assert columns["id"] == [3, 1, 2]
    assert columns["visits"] == [3, 1, 0]
    for axis in ("x1", "x2"):
        assert np.allclose(columns[axis], plain[axis], atol=0, rtol=0)
    rows = tm.forecast(model, table, [6, 7], **COLUMNS)
    assert type(rows) is type(table)


def test_missing_cells_of_pandas_are_no_visits(model):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(VISITS).convert_dtypes()
    assert table["fvc"].isna().sum() == 1
    assert tm.embed(model, table, **COLUMNS)["visits"].tolist() == [3, 1, 0]


def test_a_table_of_another_kind_and_a_missing_column_are_refused(model):
    with pytest.raises(tm.TrajectoryMapsError, match="pandas or polars"):
        tm.embed(model, [1, 2])
    with pytest.raises(tm.TrajectoryMapsError, match="Name it"):
        tm.embed(model, VISITS, id="who", time="time", value="fvc")


def test_long_tables_with_a_column_for_the_marker():
    model = tm.load_model(example("two-markers"))
    wide = {"id": ["a", "a", "a"], "time": [0, 1, 2], "bili": [1.1, 2.0, None], "albumin": [80.0, None, 76.0]}
    long = {
        "id": ["a"] * 4,
        "time": [0, 1, 0, 2],
        "what": ["bili", "bili", "albumin", "albumin"],
        "value": [1.1, 2.0, 80.0, 76.0],
    }
    a = tm.embed(model, wide, id="id", time="time", value={"bili": "bili", "albumin": "albumin"})
    b = tm.embed(model, long, id="id", time="time", value="value", marker="what")
    assert a["x1"].tolist() == b["x1"].tolist()
    assert a["visits"].tolist() == [4]


def test_covariates_come_from_a_second_table():
    model = tm.load_model(example("covariates-places"))
    visits = {"id": ["a", "b"], "time": [0, 0], "fvc": [80, 80]}
    subjects = {"id": ["b", "a"], "age": [40, 70], "sex": ["m", "f"]}
    placed = tm.embed(model, visits, id="id", time="time", value="fvc", subjects=subjects)
    one = tm.place(model, [0], [80], covariates={"age": 70, "sex": "f"})
    assert np.allclose([placed["x1"][0], placed["x2"][0]], one.location, atol=1e-7)
    assert placed["x1"][0] != placed["x1"][1]


def test_models_and_placements_can_be_sent_elsewhere(model):
    someone = tm.place(model, [0, 1], [82, 79])
    again = pickle.loads(pickle.dumps(someone))
    assert again.predict([3]).median.tolist() == someone.predict([3]).median.tolist()
    assert pickle.loads(pickle.dumps(model)).markers == model.markers


def test_threads_give_the_same_places(model):
    from concurrent.futures import ThreadPoolExecutor

    work = lambda k: tm.place(model, [0, 1 + k % 3], [82, 70 + k % 5]).predict([4]).median[0]  # noqa: E731
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(24))) == [work(k) for k in range(24)]


def test_the_estimator_has_the_habits_of_scikit_learn():
    base = pytest.importorskip("sklearn.base")
    estimator = tm.TrajectoryMap(**COLUMNS, model=example_model())
    copied = base.clone(estimator)
    assert copied.get_params() == estimator.get_params() and copied is not estimator
    assert estimator.set_params(seed=3) is estimator and estimator.seed == 3
    with pytest.raises(ValueError, match="parameters among"):
        estimator.set_params(sead=1)
    places = estimator.transform(VISITS)
    assert places.shape == (3, 2)
    assert estimator.predict(VISITS, [6, 8], what="upper").shape == (3, 2)
    assert estimator.get_feature_names_out().tolist() == ["x1", "x2"]
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    assert make_pipeline(copy.deepcopy(estimator), StandardScaler().fit(places)).transform(VISITS).shape == (3, 2)
    with pytest.raises(tm.TrajectoryMapsError, match="Call fit"):
        tm.TrajectoryMap().transform(VISITS)


def test_without_a_command_fitting_says_what_to_do(monkeypatch):
    monkeypatch.delenv("TRAJECTORY_MAPS_DTM", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("trajectory_maps._cli._wheel", lambda: None)
    with pytest.raises(tm.TrajectoryMapsError, match="need no Node"):
        find_command()


def visits_of(count):
    random = np.random.default_rng(3)
    rows = {"id": [], "time": [], "fvc": []}
    for i in range(count):
        level, slope = random.normal(80, 8), random.choice([0, -3])
        for t in np.sort(random.uniform(0, 10, 4)):
            rows["id"].append(f"p{i:03}")
            rows["time"].append(round(float(t), 3))
            rows["fvc"].append(round(float(level + slope * t + random.normal(0, 2)), 3))
    return rows


def test_fit_compare_groups_and_associate_by_the_command_line(dtm, tmp_path):
    visits = visits_of(40)
    visits["id"] = [f"-{own}" if own == "p003" else own for own in visits["id"]]
    fitted = tm.fit(visits, out=tmp_path / "run", **COLUMNS, noise="white", restarts=0)
    assert fitted.model.markers == ("fvc",) and fitted.verdict
    placed = tm.embed(fitted.model, visits)
    assert set(fitted.placements["id"]) == set(visits["id"])
    order = [list(placed["id"]).index(own) for own in fitted.placements["id"]]
    assert np.abs(placed["x1"][order] - fitted.placements["x1"]).max() < 1e-9
    found = tm.groups(fitted, stability=0)
    assert len(found.table["id"]) == 40 and found.summary["numGroups"] >= 1
    subjects = {"id": sorted(set(visits["id"])), "ill": [k % 2 for k in range(40)]}
    tests = tm.associate(fitted, subjects, "ill", draws=99)
    assert tests.table["outcome"].tolist() == ["ill"] and 0 < tests.table["p"][0] <= 1
    compared = tm.compare(visits, **COLUMNS, models=["lmm", "locf"], folds=2, noise="white")
    assert compared.table["model"].tolist() == ["lmm", "locf"]


def test_a_model_that_was_fitted_holds_no_time_of_a_visit(dtm, tmp_path):
    visits = visits_of(40)
    visits["time"][0] = 10.3791
    tm.fit(visits, out=tmp_path / "run", **COLUMNS, noise="white", restarts=0, dim=1)
    part = json.loads((tmp_path / "run" / "model.json").read_text())["model"]["markers"][0]
    knots = part["basis"]["knots"]
    assert knots[-1] >= 10.3791 and not set(knots) & {t for t in visits["time"] if round(t, 2) != t}
    assert part["center"] == round(part["center"], 1)


def test_the_estimator_fits(dtm):
    visits = visits_of(30)
    estimator = tm.TrajectoryMap(**COLUMNS, noise="white", restarts=0)
    assert estimator.fit_transform(visits).shape == (30, 2)
    assert estimator.n_features_in_ == 2


@pytest.mark.parametrize(
    "line", ['{"event": "error", "text": "expected a marker"}', "expected a marker"], ids=["as an event", "as words"]
)
def test_what_npm_says_beside_an_error_of_the_command_is_left_out(monkeypatch, line):
    program = f"import sys; print('npm warn Unknown user config', {line!r}, sep=chr(10), file=sys.stderr); sys.exit(2)"
    monkeypatch.setattr(_cli, "find_command", lambda: [sys.executable, "-c", program])
    with pytest.raises(tm.TrajectoryMapsError, match="^dtm fit ended with 2: expected a marker$"):
        _cli.run("fit")


def test_refusals_and_warnings_of_the_command_are_told_of_the_table(dtm):
    with pytest.raises(tm.TrajectoryMapsError, match="dtm fit ended with"):
        tm.fit({"id": ["a"], "time": [0], "fvc": [1]}, **COLUMNS)
    with pytest.raises(tm.TrajectoryMapsError, match='dtm fit ended with 3: visits.csv, line 3, column "fvc"'):
        tm.fit({"id": ["a", "a"], "time": [0, 1], "fvc": [1, "high"]}, **COLUMNS)
    visits = visits_of(30)
    visits["fvc"][1] = 5000
    with pytest.warns(UserWarning, match="^visits.csv, line 3, .*slip of the pen"):
        tm.compare(visits, **COLUMNS, models=["lmm", "locf"], folds=2, noise="white")


def test_nothing_in_place_of_a_model_is_refused_in_words():
    for call in (lambda: tm.load_model(None), lambda: tm.place(None, [0], [80])):
        with pytest.raises(tm.TrajectoryMapsError, match="received NoneType"):
            call()


def test_suspect_values_are_counted_by_embed(model):
    visits = {"id": ["a"] * 5 + ["b"] * 2, "time": [0, 1, 2, 3, 4, 0, 1], "fvc": [82, 81, 80, 800, 79, 70, 69]}
    assert tm.embed(model, visits, **COLUMNS)["suspects"].tolist() == [1, 0]


def test_impossible_values_are_rows_with_a_reason(model):
    visits = {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": [82, 1e30, 60]}
    placed = tm.embed(model, visits, **COLUMNS)
    assert np.isnan(placed["x1"][0]) and np.isfinite(placed["x1"][1]) and (placed["var11"][1] > 0)
    assert "too far" in placed["reason"][0] and placed["reason"][1] == ""
    rows = tm.forecast(model, visits, [2], **COLUMNS)
    assert np.isnan(rows["median"][0]) and np.isfinite(rows["median"][1]) and "too far" in rows["reason"][0]
    with pytest.raises(tm.TrajectoryMapsError) as caught:
        tm.place(model, [0, 1], [82, 1e30]).predict([2])
    assert caught.value.code == "not-computable"
    assert "reason" not in tm.embed(model, VISITS, **COLUMNS)


def test_a_place_on_one_node_has_the_variance_of_its_cell(model):
    someone = tm.place(model, [0, 1], [82, 8000])
    assert (np.diag(someone.covariance) > 0).all() and someone.fault is None


def test_codes_of_statistical_programs_are_missing(model):
    with pytest.warns(UserWarning, match="Stata or SPSS"):
        coded = tm.embed(model, {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": [82, 8.98846567431158e307, 60]}, **COLUMNS)
    assert coded["visits"].tolist() == [1, 1]
    spelled = tm.embed(model, {"id": ["a", "a", "b"], "time": [0, 1, 0], "fvc": ["82", ".a", "60"]}, **COLUMNS)
    assert spelled["visits"].tolist() == [1, 1]
