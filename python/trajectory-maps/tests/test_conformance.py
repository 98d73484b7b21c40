"""The conformance set of the kernels (docs/kernels.md): the same bytes as in Node and in a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conformance import run_file

from trajectory_maps._kernels import CONTRACT, kernel_bytes, module

SET = Path(__file__).parents[3] / "fixtures" / "kernels"
FILES = sorted(SET.glob("*.json"))


def test_there_is_a_file_for_each_layout():
    assert {json.loads(path.read_text())["layout"] for path in FILES} == set(module().layouts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_kernels_give_the_same_bytes(path):
    file = json.loads(path.read_text())
    assert file["contract"] == CONTRACT
    calls, otherwise = run_file(file)
    assert calls > 0 and otherwise == []


def test_the_module_is_that_of_the_library():
    built = SET.parents[1] / "packages" / "core" / "dist" / "kernels.wasm"
    if built.exists():
        assert built.read_bytes() == kernel_bytes()
