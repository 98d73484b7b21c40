"""What tests share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def dtm():
    """The command of this repository, if it is built and Node is there."""
    file = Path(__file__).parents[3] / "packages" / "cli" / "bin" / "dtm.mjs"
    if shutil.which("node") is None or not (file.parents[1] / "dist").exists():
        pytest.skip("needs Node and the built command line: node scripts/setup.mjs")
    os.environ["TRAJECTORY_MAPS_DTM"] = str(file)
    yield
    del os.environ["TRAJECTORY_MAPS_DTM"]
