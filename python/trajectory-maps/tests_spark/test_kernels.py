"""Every kernel of the conformance set inside Spark's workers: the bytes of Node. pass.json holds the fused round of a fit."""

from __future__ import annotations

from pathlib import Path

SET = Path(__file__).parents[3] / "fixtures" / "kernels"


def differences():
    """Runs files of the set; tells how many calls each made, and which buffers came out otherwise."""

    def work(batches):
        import base64
        import json
        import zlib

        import numpy as np
        import pyarrow

        from trajectory_maps._kernels import Context, module

        for batch in batches:
            told = {"file": [], "calls": [], "otherwise": []}
            for name, text in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist()):
                file, calls, otherwise = json.loads(text), 0, []
                names = module().layouts[file["layout"]].sizes
                for case in file["cases"]:
                    context = Context(file["layout"], **dict(zip(names, case["sizes"])))
                    for call in case["calls"]:
                        if "sizes" in call:
                            context.resize(**dict(zip(names, call["sizes"])))
                        for buffer, given in call["write"].items():
                            cells = context.buffers[buffer].view(np.uint8)
                            cells[:] = 0
                            cells[: len(base64.b64decode(given))] = np.frombuffer(base64.b64decode(given), np.uint8)
                        context.run(call["kernel"], *call["arguments"])
                        for buffer, expected in call["read"].items():
                            found = context.buffers[buffer].tobytes().rstrip(b"\0")
                            plain = base64.b64encode(found).decode()
                            if expected not in (f"crc32:{zlib.crc32(found):08x}", plain):
                                otherwise.append(f"{case['name']} {call['kernel']} {buffer}")
                        calls += 1
                told["file"].append(name)
                told["calls"].append(calls)
                told["otherwise"].append("; ".join(otherwise))
            yield pyarrow.RecordBatch.from_pydict(told)

    return work


def test_kernels_give_the_bytes_of_node_in_every_worker(spark):
    files = [(path.stem, path.read_text()) for path in sorted(SET.glob("*.json"))]
    frame = spark.createDataFrame(files, "file string, text string").repartition(len(files))
    found = frame.mapInArrow(differences(), "file string, calls long, otherwise string").collect()
    assert sorted(row["file"] for row in found) == [name for name, _ in files]
    assert all(row["calls"] > 0 and row["otherwise"] == "" for row in found), found
