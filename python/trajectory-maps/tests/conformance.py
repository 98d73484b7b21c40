"""Runs files of the conformance set (docs/kernels.md), here or in the workers of an engine."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from trajectory_maps._kernels import Context, module


def run_file(file: dict[str, Any]) -> tuple[int, list[str]]:
    """How many calls the file makes, and what came out otherwise than it says."""
    calls, otherwise = 0, []
    names = module().layouts[file["layout"]].sizes
    for case in file["cases"]:
        context = Context(file["layout"], **dict(zip(names, case["sizes"])))
        for call in case["calls"]:
            calls += 1
            if "sizes" in call:
                context.resize(**dict(zip(names, call["sizes"])))
            for buffer, text in call["write"].items():
                bytes_of = context.buffers[buffer].view(np.uint8)
                given = np.frombuffer(base64.b64decode(text), np.uint8)
                bytes_of[:] = 0
                bytes_of[: len(given)] = given
            if context.run(call["kernel"], *call["arguments"]) != call["returns"]:
                otherwise.append(f"{case['name']}: {call['kernel']} returns")
            for buffer, text in call["read"].items():
                found = context.buffers[buffer].tobytes().rstrip(b"\0")
                told = (
                    f"crc32:{zlib.crc32(found):08x}" if text.startswith("crc32:") else base64.b64encode(found).decode()
                )
                if told != text:
                    otherwise.append(f"{case['name']}: {call['kernel']} {buffer}")
    return calls, otherwise
