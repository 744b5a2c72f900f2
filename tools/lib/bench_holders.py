# SPDX-License-Identifier: Apache-2.0
"""Measures how long a walk over a process's Python objects takes, see docs/holders.md."""
import os

SIZES = (250000, 500000, 2000000)


def bench(root, run_json, folder, quick):
    """The results by number of objects; None without PyTorch. `run_json` runs a command and returns the JSON of its last
    line."""
    python = os.path.join(root, ".venv", "pytorch", "bin", "python")
    if not os.path.exists(python):
        print("\nPyTorch is not installed: tools/setup --pytorch does it; no walks in this run")
        return None
    trace = os.path.join(folder, "walks.vtrace")
    results = {}
    print("\na walk that finds who holds memory: processor time, and time of the clock (ms), the least of 7")
    print("%12s %17s %23s %23s" % ("objects", "walk", "Python's collector", "walk in Python"))
    for size in SIZES[:2] if quick else SIZES:
        if os.path.exists(trace):
            os.remove(trace)
        results[size] = run_json(
            [os.path.join(root, "tools", "simulated-cuda"), "--", "env",
             "LD_PRELOAD=" + os.path.join(root, ".bazel", "bin", "interpose", "libvramtrack.so"), python,
             os.path.join(root, "tests", "benchmark", "holder_walks.py"), str(size)],
            {"VRAMTRACK_OUTPUT": trace, "VRAMTRACK_HOLDERS": "request", "SIMCUDA_BACKED": "0",
             "SIMCUDA_PYTORCH": os.path.dirname(os.path.dirname(python)), "PYTHONDONTWRITEBYTECODE": "1"})
        r = results[size]
        print("%12s %8.0f %8.0f %14.0f %8.0f %14.0f %8.0f" % (
            "{:,}".format(r["objects"]), *r["walk"], *r["collector"], *r["python"]))
    return results
