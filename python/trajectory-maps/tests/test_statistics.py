"""Statistics of shards: the bytes of `dtm statistics`, for each kind of plan."""

from __future__ import annotations

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

import trajectory_maps as tm
from trajectory_maps._cli import run
from trajectory_maps._frames import write_csv
from trajectory_maps._spark_work import pieces

pytestmark = pytest.mark.usefixtures("dtm")


def visits_of(count, seed=5, low=0.0):
    random = np.random.default_rng(seed)
    rows = {"id": [], "time": [], "y": [], "z": []}
    for i in range(count):
        level, slope = random.normal(20, 4), random.normal(0, 0.8)
        for k, t in enumerate(np.sort(random.uniform(low, 10, 1 + i % 6))):
            rows["id"].append(f"{'é' if i % 7 == 0 else '-' if i % 5 == 0 else 'p'}{i}")
            rows["time"].append(round(float(t), 3))
            rows["y"].append(round(float(abs(level + slope * t + random.normal(0, 1))) + 0.1, 3))
            rows["z"].append(round(float(50 - slope * t + random.normal(0, 1)), 3) if k % 2 else None)
    # A row that repeats another exactly, and a second value at the same time.
    for name, cell in (("id", rows["id"][1]), ("time", rows["time"][1]), ("y", rows["y"][1]), ("z", rows["z"][1])):
        rows[name] += [cell, rows[name][2] if name != "y" else rows["y"][2] + 1]
    return rows


def columns_of(path):
    return parquet.read_table(path).to_pylist()


def text_in(path):
    return parquet.read_metadata(path).metadata[b"trajectory-maps"].decode()


PLANS = [
    {"value": "y", "noise": "white"},
    {"value": "y", "transform": "log", "noise": "level", "basis": 6, "degree": 3},
    {"value": "y", "transform": "sqrt", "noise": "serial"},
    {"value": "y", "transform": "log1p", "noise": "level+serial"},
    {"markers": "y:log,z", "noise": "white"},
]


@pytest.mark.parametrize("options", PLANS, ids=lambda own: "-".join(map(str, own.values())))
def test_bytes_are_those_of_the_command_line(tmp_path, options):
    first, others = visits_of(80), visits_of(60, seed=9, low=-1)
    for name, table in (("first", first), ("others", others)):
        write_csv(table, tmp_path / f"{name}.csv")
    plan = tmp_path / "plan.parquet"
    run("statistics", str(tmp_path / "first.csv"), out=str(plan), **options)
    run("statistics", str(tmp_path / "others.csv"), like=str(plan), out=str(tmp_path / "others.parquet"))
    (expected,) = columns_of(tmp_path / "others.parquet")
    found = tm.statistics(others, plan)
    assert found.pop("plan") == tm.Plan.of(plan).text == text_in(plan)
    assert found == expected
    own = tmp_path / "own.parquet"
    assert tm.write_statistics(own, [tm.statistics(others, plan)]) == 1
    assert own.stat().st_mode & 0o077 == 0
    assert tm.Plan.of(own).text == text_in(plan)


def test_a_model_with_limits_of_detection_counts_visits(tmp_path):
    table = visits_of(80)
    table["y"] = [f"<{12}" if own < 12 else own for own in table["y"]]
    write_csv(table, tmp_path / "visits.csv")
    plan, out = tmp_path / "plan.parquet", tmp_path / "out.parquet"
    run("statistics", str(tmp_path / "visits.csv"), value="y", noise="white", out=str(plan))
    with pytest.raises(tm.TrajectoryMapsError, match="command line"):
        tm.statistics(table, plan)
    above = {
        name: [cell for cell, own in zip(cells, table["y"]) if not isinstance(own, str)]
        for name, cells in table.items()
    }
    write_csv(above, tmp_path / "above.csv")
    run("statistics", str(tmp_path / "above.csv"), like=str(plan), out=str(out))
    (expected,) = columns_of(out)
    assert {"counts_1", "logDets_1", "design_1"} <= set(expected)
    found = tm.statistics(above, plan)
    del found["plan"]
    assert found == expected


def test_shards_of_one_cohort_are_fitted_whichever_came_first(tmp_path):
    table = visits_of(90)
    write_csv(table, tmp_path / "visits.csv")
    run("statistics", str(tmp_path / "visits.csv"), value="y", noise="white", out=str(tmp_path / "plan.parquet"))
    ids = sorted(set(table["id"]))
    shards = []
    for k in range(3):
        own = set(ids[k::3])
        part = {name: [cell for cell, id in zip(cells, table["id"]) if id in own] for name, cells in table.items()}
        shards.append(tm.statistics(part, tmp_path / "plan.parquet", shard=k))
    models = []
    for name, rows in (("a", shards), ("b", [shards[2], shards[0], shards[2], shards[1]])):
        (tmp_path / name).mkdir()
        tm.write_statistics(tmp_path / name / "part.parquet", rows)
        run("fit", statistics=str(tmp_path / name), out=str(tmp_path / f"run-{name}"), restarts=0)
        models.append((tmp_path / f"run-{name}" / "model.json").read_bytes())
    assert models[0] == models[1]


def test_what_is_no_plan_is_refused(tmp_path):
    for like, code in (
        (3, "option"),
        (tmp_path / "none.parquet", "file"),
        ({"format": "x"}, "bad-statistics"),
        ({"markers": [{}]}, "bad-statistics"),
    ):
        with pytest.raises(tm.TrajectoryMapsError) as caught:
            tm.Plan.of(like)
        assert caught.value.code == code


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize("keys", [[], [1], [1, 1, 2, 2, 2, 3, 4, 4], [7, 7, 7, 7], ["a", "b", "b", "c"]])
def test_pieces_of_batches_hold_all_rows_of_their_keys(keys, size):
    table = pyarrow.table({"key": keys, "row": pyarrow.array(range(len(keys)), pyarrow.int64())})
    for length in (1, 2, 3, 100):
        found = list(pieces(table.to_batches(max_chunksize=length), "key", size))
        assert [row for own in found for row in own["row"].to_pylist()] == list(range(len(keys)))
        owners = [key for own in found for key in set(own["key"].to_pylist())]
        assert len(owners) == len(set(owners))
        assert all(own.num_rows >= size for own in found[:-1])
        if size == 1:
            assert len(found) == len(set(keys))
