"""A session of Spark as DTM_SPARK_MODE says: local, cluster (two executors in processes of their own) or connect."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

MODE = os.environ.get("DTM_SPARK_MODE", "local")
TESTS = Path(__file__).parents[1] / "tests"
FIXTURES = TESTS / "fixtures"
#: what workers import: the package, and what its tests share
SOURCE = os.pathsep.join([str(Path(__file__).parents[1] / "src"), str(TESTS)])


def pytest_configure(config):
    config.addinivalue_line("markers", "modes(*names): the modes in which a test says something of its own")


def pytest_collection_modifyitems(config, items):
    """Takes the tests of this mode."""
    others = [item for item in items if MODE not in next(item.iter_markers("modes"), pytest.mark.modes(MODE)).args]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def spark():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = SOURCE
    os.environ["TRAJECTORY_MAPS_DTM"] = str(Path(__file__).parents[3] / "packages" / "cli" / "bin" / "dtm.mjs")
    from pyspark.sql import SparkSession

    builder = {
        "local": lambda own: own.master("local[2]"),
        "cluster": lambda own: own.master("local-cluster[2,1,1024]"),
        "connect": lambda own: own.remote("local[2]"),
    }[MODE](SparkSession.builder)
    settings = {
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executorEnv.PYTHONPATH": SOURCE,
        "spark.sql.shuffle.partitions": "4",
        # Small batches, so that shards and individuals are spread over several.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, setting in settings.items():
        if MODE != "connect" or name.startswith(("spark.sql.", "spark.executorEnv.")):
            builder = builder.config(name, setting)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def visits():
    """Columns of visits, some of them without a value or twice; ids of several alphabets and such as spreadsheets would run."""
    random = np.random.default_rng(3)
    rows = {"id": [], "time": [], "fvc": []}
    for i in range(400):
        level, slope = random.normal(80, 8), random.choice([0, -3])
        for t in np.sort(random.uniform(0, 10, 1 + i % 7)):
            rows["id"].append(f"{('p', '-', 'é', '𝛼', '=')[i % 5]}{i:03}")
            rows["time"].append(round(float(t), 3))
            rows["fvc"].append(round(float(level + slope * t + random.normal(0, 2)), 3))
    for name, cell in (("id", rows["id"][5]), ("time", rows["time"][5]), ("fvc", rows["fvc"][5])):
        rows[name].append(cell)
    for name, cell in (("id", "p000"), ("time", 3.0), ("fvc", None)):
        rows[name].append(cell)
    order = random.permutation(len(rows["id"]))
    return {name: [cells[k] for k in order] for name, cells in rows.items()}


@pytest.fixture(scope="session")
def frame(spark, visits):
    rows = list(zip(*visits.values()))
    return spark.createDataFrame(rows, "id string, time double, fvc double")


def of(table, ids):
    """The rows of some individuals."""
    wanted = set(ids)
    return {name: [cell for cell, own in zip(cells, table["id"]) if own in wanted] for name, cells in table.items()}


def killing(file):
    """Hands batches on; the first task that has handed one on kills the executor that it runs in."""

    def pass_on(batches):
        import os
        import signal
        import subprocess

        for batch in batches:
            yield batch
            try:
                os.close(os.open(file, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            pid = os.getpid()
            while True:
                asked = ["ps", "-o", "ppid=,command=", "-p", str(pid)]
                parent, _, command = subprocess.check_output(asked, text=True).strip().partition(" ")
                if "CoarseGrainedExecutorBackend" in command:
                    break
                pid = int(parent)
            with open(file, "w") as told:
                told.write(str(pid))
            os.kill(pid, signal.SIGKILL)

    return pass_on
