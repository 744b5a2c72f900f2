# SPDX-License-Identifier: Apache-2.0
"""The blocks of CuPy's memory pools, by CuPy's memory hooks."""

from __future__ import annotations

from typing import Any

from . import _from_tracer

# The callbacks of a hook, and the tracer's functions for them.
_CALLBACKS = {
    "alloc_postprocess": "vramtrack_cupy_grown",
    "malloc_postprocess": "vramtrack_cupy_allocated",
    "free_preprocess": "vramtrack_cupy_freeing",
}
_OTHERS = ("alloc_preprocess", "malloc_preprocess", "free_postprocess")
_VARARGS_AND_KEYWORDS = 1 | 2  # PyMethodDef.ml_flags

_hook: Any = None
_definitions: list[Any] = []  # Python keeps their addresses


def _callbacks(path: str | None) -> dict[str, Any]:
    # The tracer's functions as those of an extension module. Raises AttributeError if the tracer is not there.
    import ctypes

    class MethodDefinition(ctypes.Structure):  # PyMethodDef
        _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]

    def address(library: Any, name: str) -> Any:
        return ctypes.cast(library[name], ctypes.c_void_p)

    tracer, python = ctypes.PyDLL(path), ctypes.PyDLL(None)
    begin, new = tracer["vramtrack_cupy_begin"], python["PyCFunction_NewEx"]
    begin.restype = None
    begin(*(address(python, name) for name in ("PyDict_GetItemString", "PyLong_AsUnsignedLongLongMask", "PyErr_Clear", "Py_IncRef")))
    new.argtypes, new.restype = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p], ctypes.py_object
    made = {}
    for callback, name in _CALLBACKS.items():
        definition = MethodDefinition(name.encode(), address(tracer, name), _VARARGS_AND_KEYWORDS, None)
        _definitions.append(definition)
        made[callback] = new(ctypes.addressof(definition), None, None)
    return made


def _make_hook(callbacks: dict[str, Any]) -> Any:
    from cupy.cuda import MemoryHook

    class Hook(MemoryHook):  # type: ignore[misc]
        name = "vramtrack"

    # None of them is Python code, in which a Ctrl-C may raise: CuPy does not expect that while it frees a block. `dict` accepts
    # any arguments.
    hook = Hook()
    for name in _OTHERS:
        setattr(hook, name, dict)
    for name, function in callbacks.items():
        setattr(hook, name, function)
    return hook


def _enter() -> None:
    try:
        _hook.__enter__()
    except Exception:  # the thread has the hook
        pass


def _hook_new_threads() -> None:
    # Hooks are of a thread, and any thread may free a block.
    import threading

    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def begin_with_hook(self: Any) -> None:
        _enter()
        begin(self)

    threading.Thread._bootstrap_inner = begin_with_hook  # type: ignore[attr-defined]


def trace_cupy() -> bool:
    """Records the blocks of CuPy's memory pools, so that reports show which lines hold arrays. Does nothing in a program that is
    not traced.

    Call it before arrays are made and before other threads are started. CuPy's memory hooks are those of the thread that installs
    them; threads that `threading` starts later get them too. In any other thread that uses CuPy, call it again. Arrays that were
    made without are not seen.

    Returns:
        Whether the blocks are recorded.
    """
    global _hook
    if _hook is None:
        callbacks = _from_tracer(_callbacks)
        if callbacks is None:
            return False
        _hook = _make_hook(callbacks)
        _hook_new_threads()
    _enter()
    return True
