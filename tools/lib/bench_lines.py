# SPDX-License-Identifier: Apache-2.0
"""Counts what tracing adds to a step of PyTorch: instructions, and misses of the caches and of the branch predictor, as
valgrind's callgrind simulates them. Unlike times, the figures hardly depend on the machine or its load."""
import collections
import os
import re
import shutil
import subprocess

import bench_pytorch

# A core's own caches, of processors since 2023; the last level is the second one.
CACHES = ["--I1=32768,8,64", "--D1=49152,12,64", "--LL=2097152,16,64"]
FIGURES = {"instructions": ("Ir",), "L1I misses": ("I1mr",), "L1D misses": ("D1mr", "D1mw"),
           "L2 misses": ("ILmr", "DLmr", "DLmw"), "mispredicted": ("Bcm", "Bim")}
# Processor cycles of each, by which an untraced step takes about what it takes: an instruction among others, a line from
# the second cache and from the third, and what simulated predictors miss more often than real ones.
CYCLES = {"instructions": 0.3, "L1I misses": 10, "L1D misses": 5, "L2 misses": 150, "mispredicted": 5}
# Parts of a hooked call, by words in the names of functions: those of the library, and those that it calls.
PARTS = {
    "hook, session": ("NoteBlock", "reportMemoryUsage", "Providers"),
    "event, table of what is live": ("BlockAllocated", "BlockFreed"),
    "native stack": ("StackCapture", "Prediction", "StackRecord"),
    "Python frames": ("PythonStacks", "HashOfFrames", "ReadFrames", "ReadKnown", "pthread_getspecific", "PyGILState_GetThis",
                      "IsFinalizing"),
    "stacks joined": ("CaptureStack", "JoinNewStacks"),
    "graph nodes": ("evaluate", "GraphNodes", "get_and_increment", "NodeMade", "FamiliarSession"),
    "encoding": ("BlockEncoder", "EventWriter", "TraceFile", "XXH"),
}
ELSEWHERE = "elsewhere"
MODES = (bench_pytorch.UNTRACED, bench_pytorch.NO_STACKS, bench_pytorch.ALL_STACKS)


def read(path):
    """The figures of each function, without those that it calls, of a callgrind file."""
    events, names, counts = [], {}, collections.defaultdict(lambda: [0] * len(events))
    function, called = None, False
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if named := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):  # only the first use of a number has its name
                if named[2]:
                    names[named[1]] = named[2]
                if line[0] == "f":
                    function = counts[named[1]]
            elif line.startswith("events:"):
                events = line.split()[1:]
            elif line.startswith("calls="):
                called = True  # the next line has what the call took
            elif line[0] in "0123456789+-*":
                if not called:
                    for i, value in enumerate(line.split()[1:]):
                        function[i] += int(value)
                called = False
    figures = collections.defaultdict(lambda: dict.fromkeys(FIGURES, 0))
    for number, values in counts.items():
        for figure, of in FIGURES.items():
            figures[names[number]][figure] += sum(values[events.index(event)] for event in of)
    return figures


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


def cycles(figures):
    return sum(CYCLES[figure] * figures[figure] for figure in FIGURES)


def count(programs, mode, folder):
    """The figures of each function in one step. What is before, and a first turn, is not counted."""
    out = os.path.join(folder, "callgrind.out")
    programs.under = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", "--branch-sim=yes",
                      "--callgrind-out-file=" + out, "--log-file=" + out + ".log"] + CACHES
    process = programs.in_turn(mode, "lines")

    def control(what):
        subprocess.run(["callgrind_control", *what, str(process.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)

    control(["-i", "on"])
    bench_pytorch.turn(process)
    control(["-z"])
    bench_pytorch.turn(process)
    control(["-d"])
    control(["-i", "off"])
    process.communicate()
    steps = bench_pytorch.STEPS_A_TURN + 1
    return {name: {figure: value / steps for figure, value in values.items()} for name, values in read(out + ".1").items()}


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
    print("%-34s" % "" + "".join("%20s" % figure for figure in FIGURES) + "%12s" % "cycles")
    for mode in MODES:
        functions = count(programs, mode, folder)
        step = total(functions)
        if plain is None:
            plain, untraced = step, functions
            print("%-34s" % mode.name + "".join("%20.0f" % step[figure] for figure in FIGURES) + "%12.0f" % cycles(step))
            continue
        own = total(functions, of_library)
        more = {figure: step[figure] - plain[figure] for figure in FIGURES}
        print("%-34s" % mode.name + "".join(
            "%20s" % ("%+.1f %%, own %.1f %%" % (100 * more[f] / plain[f], 100 * own[f] / plain[f])) for f in FIGURES) +
              "%+10.1f %%" % (100 * cycles(more) / cycles(plain)))
        parts = {part: total(functions, lambda name, part=part: part_of(name) == part) for part in (*PARTS, ELSEWHERE)}
        for part, values in parts.items():
            before = total(untraced, lambda name, part=part: part_of(name) == part)
            for figure in FIGURES:
                values[figure] -= before[figure]
            print("  %-32s" % part + "".join("%20.0f" % values[figure] for figure in FIGURES) +
                  "%+10.2f %%" % (100 * cycles(values) / cycles(plain)))
        results[mode.name] = {"untraced": plain, "more": more, "own": own, "parts": parts,
                              "predicted": cycles(more) / cycles(plain)}
    return results
