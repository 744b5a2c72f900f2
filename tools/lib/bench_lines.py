# SPDX-License-Identifier: Apache-2.0
"""Counts what tracing adds to a step of PyTorch: instructions, and misses of the caches and of the branch predictor, as
valgrind's cachegrind simulates them. Unlike times, the figures hardly depend on the machine or its load."""
import collections
import os
import shutil

import bench_pytorch

STEPS = (4, 24)  # what start-up costs falls out of the difference
# A core's own caches, as many processors have them; the last level is the second one.
CACHES = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]
FIGURES = {"instructions": ("Ir",), "L1I misses": ("I1mr",), "L1D misses": ("D1mr", "D1mw"),
           "L2 misses": ("ILmr", "DLmr", "DLmw"), "mispredicted": ("Bcm", "Bim")}
# Parts of a hooked call, by words in the names of functions: those of the library, and those that it calls.
PARTS = {
    "hook, session": ("NoteBlock", "reportMemoryUsage", "Providers"),
    "event, table of what is live": ("BlockAllocated", "BlockFreed"),
    "native stack": ("StackCapture", "Prediction", "StackRecord"),
    "Python frames": ("PythonStacks", "HashOfFrames", "ReadFrames", "ReadKnown", "pthread_getspecific", "PyGILState_GetThis",
                      "IsFinalizing"),
    "stacks joined": ("CaptureStack", "JoinNewStacks"),
    "graph nodes": ("evaluate", "GraphNodes", "get_and_increment", "NodeMade"),
    "encoding": ("BlockEncoder", "TraceFile", "XXH"),
}
ELSEWHERE = "elsewhere"
MODES = (bench_pytorch.UNTRACED, bench_pytorch.NO_STACKS, bench_pytorch.ALL_STACKS)


def read(path):
    """The figures of each function of a cachegrind file."""
    events, function, counts = [], None, collections.defaultdict(lambda: [0] * len(events))
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("fn="):
                function = counts[line[3:].strip()]
            elif line.startswith("events:"):
                events = line.split()[1:]
            elif line[0].isdigit():
                for i, value in enumerate(line.split()[1:]):
                    function[i] += int(value)
    return {name: {figure: sum(values[events.index(event)] for event in of) for figure, of in FIGURES.items()}
            for name, values in counts.items()}


def of_library(name):
    return "vramtrack" in name and "simcuda" not in name


def part_of(name):
    if "simcuda" not in name:
        for part, words in PARTS.items():
            if any(word in name for word in words):
                return part
    return ELSEWHERE


def total(functions, which=lambda name: True):
    return {figure: sum(values[figure] for name, values in functions.items() if which(name)) for figure in FIGURES}


def count(programs, mode, folder):
    """The figures of each function in one step."""
    runs = []
    for steps in STEPS:
        out = os.path.join(folder, "cachegrind.out")
        programs.under = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes",
                          "--cachegrind-out-file=" + out] + CACHES
        programs.steps(mode, steps)
        runs.append(read(out))
    none = dict.fromkeys(FIGURES, 0)
    return {name: {figure: (value - runs[0].get(name, none)[figure]) / (STEPS[1] - STEPS[0])
                   for figure, value in values.items()} for name, values in runs[1].items()}


def bench(root, run_json, folder):
    """The results by mode; None without PyTorch or valgrind."""
    python = os.path.join(root, ".venv", "pytorch", "bin", "python")
    if not os.path.exists(python) or shutil.which("valgrind") is None:
        print("\nvalgrind or PyTorch (tools/setup --pytorch) is not installed: nothing is counted in this run")
        return None
    programs = bench_pytorch.Programs(root, python, run_json, folder)
    programs.environment = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    results, plain, untraced = {}, None, None
    print("\na step of GPT-2 small, simulated; more when traced, and what of it is in functions of the library")
    print("%-34s" % "" + "".join("%20s" % figure for figure in FIGURES))
    for mode in MODES:
        functions = count(programs, mode, folder)
        step = total(functions)
        if plain is None:
            plain, untraced = step, functions
            print("%-34s" % mode.name + "".join("%20.0f" % step[figure] for figure in FIGURES))
            continue
        own = total(functions, of_library)
        more = {figure: step[figure] - plain[figure] for figure in FIGURES}
        print("%-34s" % mode.name + "".join(
            "%20s" % ("%+.1f %%, own %.1f %%" % (100 * more[f] / plain[f], 100 * own[f] / plain[f])) for f in FIGURES))
        parts = {part: total(functions, lambda name, part=part: part_of(name) == part) for part in (*PARTS, ELSEWHERE)}
        for part, values in parts.items():
            before = total(untraced, lambda name, part=part: part_of(name) == part)
            for figure in FIGURES:
                values[figure] -= before[figure]
            print("  %-32s" % part + "".join("%20.0f" % values[figure] for figure in FIGURES))
        results[mode.name] = {"untraced": plain, "more": more, "own": own, "parts": parts}
    return results
