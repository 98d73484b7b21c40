"""Rounds of a fit that are answered here: the bytes of a fit in one process."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

import trajectory_maps as tm
from trajectory_maps._cli import run
from trajectory_maps._frames import write_csv
from trajectory_maps._packed import write_statistics
from trajectory_maps._rounds import Question, add_to_pairs, fit_by_rounds, shard_sums

FITTING = {"restarts": 0, "tolerance": 0.3}
KINDS = {
    "white noise": ({"value": "a"}, {}),
    "correlated visits": ({"value": "a", "noise": "serial"}, {"dim": 1}),
    "several markers": ({"markers": "a,b"}, {"dim": 1}),
    "no residual effects": ({"value": "a"}, {"dim": 1, "residual": "none"}),
}


def visits(individuals):
    """Visits of two markers, which not everybody has both of."""
    random = np.random.default_rng(5)
    rows = {"id": [], "time": [], "a": [], "b": []}
    for i in range(individuals):
        level, slope = random.normal(80, 8), random.choice([0, -3])
        for t in np.sort(random.uniform(0, 10, 1 + i % 6)):
            y = level + slope * t + random.normal(0, 2)
            rows["id"].append(f"p{i:04}")
            rows["time"].append(round(float(t), 3))
            rows["a"].append(round(float(y), 3))
            rows["b"].append(round(float(100 - y + random.normal(0, 3)), 3) if i % 7 else None)
    return rows


def shards(kind, folder):
    """A folder with two shards, of several blocks and of one, their plan and rows, and how to fit them."""
    columns, options = KINDS[kind]
    table = visits(321)
    write_csv(table, folder / "visits.csv")
    columns = {"noise": "white"} | columns
    run("statistics", str(folder / "visits.csv"), id="id", time="time", out=str(folder / "plan.parquet"), **columns)
    plan = tm.Plan.of(folder / "plan.parquet")
    parts = folder / "parts"
    parts.mkdir()
    rows = []
    for shard, (first, last) in enumerate([(0, 261), (261, 321)]):
        chosen = [first <= int(own[1:]) < last for own in table["id"]]
        own = {name: [cell for cell, keep in zip(cells, chosen) if keep] for name, cells in table.items()}
        rows.append(tm.statistics(own, plan, shard=shard))
        write_statistics(parts / f"{shard}.parquet", rows[-1:])
    return parts, plan, rows, FITTING | options


@pytest.mark.parametrize("kind", KINDS)
def test_rounds_answered_here_have_the_bytes_of_one_process(kind, tmp_path):
    parts, plan, rows, options = shards(kind, tmp_path)
    asked = []

    def sums(text):
        asked.append(text)
        question = Question.of(text)
        return reduce(add_to_pairs, (shard_sums(question, plan, row) for row in rows))

    fit_by_rounds(sums, tmp_path / "rounds", statistics=str(parts), out=str(tmp_path / "rounded"), **options)
    run("fit", statistics=str(parts), by_file=True, out=str(tmp_path / "whole"), **options)
    assert len(asked) > 20
    for name in ("model.json", "placements.csv"):
        assert (tmp_path / "rounded" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_failure_of_whom_answers_ends_the_fit(tmp_path):
    parts, _, _, options = shards("white noise", tmp_path)

    def sums(text):
        raise ValueError("no engine")

    with pytest.raises(ValueError, match="no engine"):
        fit_by_rounds(sums, tmp_path / "rounds", statistics=str(parts), out=str(tmp_path / "run"), **options)
    assert not (tmp_path / "run" / "model.json").exists()
