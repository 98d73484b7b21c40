"""The conformance set of the kernels (docs/kernels.md): the same bytes as in Node and in a browser."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from trajectory_maps._kernels import CONTRACT, Context, kernel_bytes, module

SET = Path(__file__).parents[3] / "fixtures" / "kernels"
FILES = sorted(SET.glob("*.json"))


def test_there_is_a_file_for_each_layout():
    assert {json.loads(path.read_text())["layout"] for path in FILES} == set(module().layouts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_kernels_give_the_same_bytes(path):
    file = json.loads(path.read_text())
    assert file["contract"] == CONTRACT
    names = module().layouts[file["layout"]].sizes
    for case in file["cases"]:
        context = Context(file["layout"], **dict(zip(names, case["sizes"])))
        for call in case["calls"]:
            if "sizes" in call:
                context.resize(**dict(zip(names, call["sizes"])))
            for buffer, text in call["write"].items():
                bytes_of = context.buffers[buffer].view(np.uint8)
                given = np.frombuffer(base64.b64decode(text), np.uint8)
                bytes_of[:] = 0
                bytes_of[: len(given)] = given
            assert context.run(call["kernel"], *call["arguments"]) == call["returns"], case["name"]
            for buffer, text in call["read"].items():
                found = context.buffers[buffer].tobytes().rstrip(b"\0")
                told = (
                    f"crc32:{zlib.crc32(found):08x}" if text.startswith("crc32:") else base64.b64encode(found).decode()
                )
                assert told == text, (case["name"], call["kernel"], buffer)


def test_the_module_is_that_of_the_library():
    built = SET.parents[1] / "packages" / "core" / "dist" / "kernels.wasm"
    if built.exists():
        assert built.read_bytes() == kernel_bytes()
