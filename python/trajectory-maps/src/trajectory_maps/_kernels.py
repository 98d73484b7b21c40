"""A host of the WebAssembly kernels (docs/kernels.md): contexts are laid out by the module itself, their buffers are numpy arrays."""

from __future__ import annotations

import atexit
import ctypes
import json
import threading
import weakref
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from ._errors import TrajectoryMapsError

CONTRACT = 2
_PAGE = 65536
_START = 64
_TYPES = {"f64": np.float64, "i32": np.int32}


@dataclass(frozen=True)
class Layout:
    """Names of a kind of context, in order."""

    kind: int
    sizes: tuple[str, ...]
    buffers: tuple[tuple[str, str], ...]
    kernels: tuple[str, ...]


class Module:
    """The compiled module and what it says of itself."""

    def __init__(self, binary: bytes) -> None:
        import wasmtime

        self.binary = binary
        described = json.loads(custom_section(binary, "layouts"))
        if described["contract"] != CONTRACT:
            raise TrajectoryMapsError(
                "kernels",
                f"kernels: expected contract {CONTRACT}, received {described['contract']}. Install this package anew.",
            )
        self.layouts = {
            own["name"]: Layout(kind, tuple(own["sizes"]), tuple(map(tuple, own["buffers"])), tuple(own["kernels"]))
            for kind, own in enumerate(described["layouts"])
        }
        self.engine = wasmtime.Engine()
        self.module = wasmtime.Module(self.engine, binary)


_module: Module | None = None
_lock = threading.Lock()
_contexts: weakref.WeakSet[Context] = weakref.WeakSet()


@atexit.register
def _close() -> None:
    """Lets go of memories before the runtime that owns them goes."""
    global _module
    for context in list(_contexts):
        context.__dict__.clear()
    _module = None


def kernel_bytes() -> bytes:
    """The module of this package."""
    return resources.files(__package__).joinpath("kernels.wasm").read_bytes()


def module() -> Module:
    """The module, compiled at the first call."""
    global _module
    with _lock:
        if _module is None:
            _module = Module(kernel_bytes())
    return _module


def custom_section(binary: bytes, wanted: str) -> bytes:
    """The contents of a custom section of a WebAssembly module."""
    at = 8
    while at < len(binary):
        section, at = binary[at], at + 1
        size, at = _leb128(binary, at)
        end = at + size
        if section == 0:
            length, name = _leb128(binary, at)
            if binary[name : name + length].decode() == wanted:
                return binary[name + length : end]
        at = end
    raise TrajectoryMapsError("kernels", f'kernels: expected a section "{wanted}", received a module without it.')


def _leb128(binary: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = binary[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


class Context:
    """A context in a memory of its own: ``buffers`` by name, ``run(kernel, ...)``, and ``resize`` for sizes that kernels read."""

    def __init__(self, name: str, **sizes: int) -> None:
        import wasmtime

        own = module()
        self.layout = own.layouts[name]
        values = np.array([sizes[size] for size in self.layout.sizes], dtype=np.int32)
        _contexts.add(self)
        self._store = wasmtime.Store(own.engine)
        self._memory = wasmtime.Memory(self._store, wasmtime.MemoryType(wasmtime.Limits(1, None)))
        self._instance = wasmtime.Instance(self._store, own.module, [self._memory])
        self._exports = self._instance.exports(self._store)
        self._kernels: dict[str, tuple[Any, list[type]]] = {}
        self._memory.write(self._store, values.tobytes(), _START)
        needed = self._call("layout", self.layout.kind, _START, 0)
        self._memory.grow(self._store, -(-(_START + needed) // _PAGE) - 1)
        self._call("layout", self.layout.kind, _START, _START)
        self._bytes = self._view()
        head = self._words(_START, len(self.layout.sizes) + 2 * len(self.layout.buffers))
        self._head = head
        first, count = len(self.layout.sizes), len(self.layout.buffers)
        self.buffers: dict[str, np.ndarray[Any, Any]] = {}
        for k, (buffer, kind) in enumerate(self.layout.buffers):
            dtype = np.dtype(_TYPES[kind])
            start, length = int(head[first + k]), int(head[first + count + k])
            self.buffers[buffer] = self._bytes[start : start + length * dtype.itemsize].view(dtype)

    def _view(self) -> np.ndarray[Any, Any]:
        size = self._memory.data_len(self._store)
        pointer = ctypes.cast(self._memory.data_ptr(self._store), ctypes.POINTER(ctypes.c_ubyte))
        return np.ctypeslib.as_array(pointer, (size,))

    def _words(self, at: int, count: int) -> np.ndarray[Any, Any]:
        return self._bytes[at : at + 4 * count].view(np.int32)

    def _call(self, name: str, *arguments: float) -> Any:
        function: Any = self._exports[name]
        return function(self._store, *arguments)

    def resize(self, **sizes: int) -> None:
        """Writes sizes that kernels read; buffers stay as they are."""
        for name, value in sizes.items():
            self._head[self.layout.sizes.index(name)] = value

    def run(self, kernel: str, *arguments: float) -> Any:
        """Calls a kernel with this context."""
        if kernel not in self._kernels:
            function: Any = self._exports[kernel]
            types: list[type] = [float if str(own) == "f64" else int for own in function.type(self._store).params[1:]]
            self._kernels[kernel] = function, types
        function, types = self._kernels[kernel]
        return function(self._store, _START, *(own(value) for own, value in zip(types, arguments)))


def to_tiles(rows: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    """Rows [n,K] over nodes as tiles of four nodes, [tile][K][4]; what pads the last stays as it is."""
    n, columns = rows.shape
    tiles = out.reshape(-1, columns, 4)
    for lane in range(4):
        own = rows[lane::4]
        tiles[: len(own), :, lane] = own
