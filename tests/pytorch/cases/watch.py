# SPDX-License-Identifier: Apache-2.0
"""What a case leaves behind for the test that runs it: PyTorch's own counters, each at a mark in the trace.

A case is a function that prints or returns what it computed. No result may depend on the value of a tensor: kernels
compute nothing on the simulated device.
"""
import ctypes
import gc
import json
import os
import sys
import time

import torch

gc.freeze()  # settle() would look at half a million objects of PyTorch's modules each time
_cases = []
_marks = 0
try:
    _step = ctypes.CDLL(None).vramtrack_step
    _step.argtypes = [ctypes.c_uint64, ctypes.c_double]
    _step.restype = None
except AttributeError:
    _step = None


def counters(device):
    """All integers that PyTorch has about the memory of `device`; none where the allocator is not PyTorch's."""
    try:
        stats = torch.cuda.memory_stats(device)
    except RuntimeError:
        return {}
    return {name: value for name, value in stats.items() if isinstance(value, int)}


def all_counters():
    if not torch.cuda.is_initialized():
        return {}
    return {str(device): counters(device) for device in range(torch.cuda.device_count())}


def checkpoint(name, role=None):
    """Marks this moment in the trace and writes down PyTorch's counters of it."""
    global _marks
    before = all_counters()
    while True:
        _marks += 1
        if _step:
            _step(_marks, 0.0)
        after = all_counters()
        # A thread of autograd may still be letting go of a graph.
        if after == before:
            break
        before = after
        time.sleep(0.05)
    role = role or os.environ.get("WATCH_ROLE", "main")
    line = {"name": name, "pid": os.getpid(), "mark": _marks, "devices": before}
    with open(os.path.join(os.environ["WATCH_FOLDER"], role + ".jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def case(function):
    """Declares a case: it runs when the script calls run_cases(), in the order of declaration."""
    _cases.append(function)
    return function


def settle():
    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def leave():
    """Ends a script. One that ends right after backward() may abort: a thread of autograd asks for the interpreter's
    lock while that is being finalized."""
    sys.stdout.flush()
    time.sleep(0.2)


def run_cases():
    """Runs the cases that the command line names, or all, with a checkpoint after each."""
    for function in _cases:
        if len(sys.argv) > 1 and function.__name__ not in sys.argv[1:]:
            continue
        print(function.__name__, function())
        settle()
        checkpoint(function.__name__)
    leave()
