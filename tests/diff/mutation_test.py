#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: mutation_test.py [MUTATION...]: a small C++ job, changed in the ways in which code changes, each variant traced on
the simulated device: the diff must match its sites, and find what really changed and nothing else."""
import concurrent.futures
import os
import re
import shutil
import sys
import threading
import zlib

import mutations

SOURCES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "programs")
SIMULATED = os.path.abspath(os.environ.get("SIMCUDA_LIBRARIES", "tests/simcuda"))
CUDART = os.path.join(SIMULATED, "libcudart.so.13")


def edit(name, *replacements):
    """A change of one file: (old text, new text), each of which must be there."""
    def apply(folder):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = re.sub(r" +// @", "  // @", file.read())
        for old, new in replacements:
            assert old in text, (name, old)
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return apply


def insert_lines(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"\) \{\n", ") {\n  // One more\n  // line or two.\n", "// Longer than before.\n\n" + text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def move_softmax(folder):
    edit("layers.cc", ("""void Softmax(Buffers* saved) {
  saved->push_back(std::make_unique<Buffer>(3 * kMiB));  // @softmax
}

""", ""), ('#include "layers.h"\n', '#include "layers.h"\n#include "softmax.h"\n'))(folder)
    with open(os.path.join(folder, "softmax.h"), "w", encoding="utf-8") as file:
        file.write("""#include "layers.h"

inline void Softmax(Buffers* saved) {
  saved->push_back(std::make_unique<Buffer>(3 * kMiB));  // @softmax
}
""")


LEAK = edit("layers.cc", ("  // LEAK goes here\n", "  kept.push_back(std::make_unique<Buffer>(kMiB));  // @leak\n"))
LARGER = edit("layers.cc", ("up(8 * kMiB)", "up(12 * kMiB)"))

# Name: (change of the base, change of the new one, options to compile base and new, what is to be found).
NONE, ANY = set(), None  # ANY: what is at the peak changes, as what was saved for later adds up in another order
CASES = {
    "self": (None, None, "-O0", "-O0", NONE),
    "lines": (None, insert_lines, "-O0", "-O0", NONE),
    "function_renamed": (None, edit("layers.cc", ("Project(", "ProjectHeads(")), "-O0", "-O0", NONE),
    "outer_function_renamed": (None, edit("job.cc", ("TrainStep(", "RunOneStep(")), "-O0", "-O0", NONE),
    "class_renamed": (None, lambda folder: [edit(name, ("Mlp", "FeedForward"))(folder) for name in
                                            ("layers.h", "layers.cc", "job.cc")], "-O0", "-O0", NONE),
    "everything_renamed_alike": (None, lambda folder: [
        edit("job.cc", ("Optimizer", "Adam"), ("Backward(", "RunBackward("), ("struct Block", "struct Layer"),
             ("Block first", "Layer first"))(folder),
        edit("layers.cc", ("Softmax(", "SoftMax("))(folder)], "-O0", "-O0", NONE),
    "template_argument": (None, edit("layers.cc", ("Normalize<float>", "Normalize<double>")), "-O0", "-O0", NONE),
    "noinline": (edit("layers.cc", ("void Softmax", "inline __attribute__((always_inline)) void Softmax"),
                      ("void Project", "inline __attribute__((always_inline)) void Project")),
                 edit("layers.cc", ("void Softmax", "__attribute__((noinline)) void Softmax"),
                      ("void Project", "__attribute__((noinline)) void Project")), "-O1", "-O1", NONE),
    "optimised": (None, None, "-O0", "-O2", NONE),
    "moved_to_another_file": (None, move_softmax, "-O0", "-O0", NONE),
    "call_sites_swapped": (None, edit("layers.cc", (
        "  const Buffer queries(2 * kMiB);  // @queries\n  const Buffer keys(4 * kMiB);  // @keys\n",
        "  const Buffer keys(4 * kMiB);  // @keys\n  const Buffer queries(2 * kMiB);  // @queries\n")), "-O0", "-O0", NONE),
    "calls_swapped": (None, edit("job.cc", (
        "    attention.Forward(saved);  // @block_attention\n    mlp.Forward(saved);  // @block_mlp\n",
        "    mlp.Forward(saved);  // @block_mlp\n    attention.Forward(saved);  // @block_attention\n")), "-O0", "-O0", ANY),
    "function_split": (None, edit("job.cc", (
        "  void Prepare() {\n    state.push_back(std::make_unique<Buffer>(16 * kMiB));  // @exp_avg\n",
        "  void PrepareFirst() {\n    state.push_back(std::make_unique<Buffer>(16 * kMiB));  // @exp_avg\n  }\n"
        "  void Prepare() {\n    PrepareFirst();\n")), "-O0", "-O0", NONE),
    "library_version": (None, None, "-O0 library libparts-0123abcd.so.1", "-O0 library libparts-deadbeef99.so.2.1", NONE),
    "one_larger": (None, LARGER, "-O0", "-O0", {("grown", "up")}),
    "one_larger_and_lines": (None, lambda folder: [LARGER(folder), insert_lines(folder)], "-O0", "-O0", {("grown", "up")}),
    "one_smaller": (LARGER, None, "-O0", "-O0", {("shrunk", "up")}),
    "leak_added": (None, LEAK, "-O0", "-O0", {("new", "leak")}),
    "leak_added_and_lines": (None, lambda folder: [LEAK(folder), insert_lines(folder)], "-O0", "-O0", {("new", "leak")}),
    "leak_removed": (LEAK, None, "-O0", "-O0", {("gone", "leak")}),
    "leak_in_both": (LEAK, LEAK, "-O0", "-O0", NONE),
    "buffer_removed": (None, edit("job.cc", ("    const Buffer embedded(2 * kMiB);  // @embedded\n", "")), "-O0", "-O0",
                       {("gone", "embedded")}),
    # Not the same twice: whatever differs is chance.
    **{"random_threads_%d" % i: (None, None, "-O1 threads.cc", "-O1 threads.cc", NONE) for i in range(5)},
    "random_threads_lines": (None, insert_lines, "-O1 threads.cc", "-O1 threads.cc", NONE),
    "random_threads_and_larger": (None, edit("threads.cc", ("answer(kMiB +", "answer(4 * kMiB +")), "-O1 threads.cc",
                                  "-O1 threads.cc", {("grown", "answer")}),
    "no_debug_information": (None, insert_lines, "-O0 -g0", "-O0 -g0", NONE),
}
STEPS = {"leak_in_both": ("100", "300"), "self": ("100", "300")}


def build(folder, options):
    """The program from the sources in `folder`."""
    program = os.path.join(folder, "job")
    flags, _, library = options.partition(" library ")
    source = "threads.cc" if "threads.cc" in flags else "job.cc"
    compiler = ["c++", "-std=c++17", "-pthread", "-g", *[flag for flag in flags.split() if flag[0] == "-"], "-I", folder]
    parts = [os.path.join(folder, "layers.cc")]
    if library:
        made = os.path.join(folder, library)
        ran = mutations.run([*compiler, "-shared", "-fPIC", *parts, CUDART, "-Wl,-soname," + library, "-o", made])
        assert ran.returncode == 0, ran.stderr
        parts = [made, "-Wl,-rpath," + folder]
    ran = mutations.run([*compiler, os.path.join(folder, source), *parts, CUDART, "-Wl,--allow-shlib-undefined", "-o",
                         program])
    assert ran.returncode == 0, ran.stderr
    return program


PROGRAMS, LOCK = {}, threading.Lock()


def built(folder, options):
    """As build(), but what has the same sources and options as another program is that program: the time goes to compiling."""
    texts = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            texts.append((name, file.read()))
    key = options, tuple(texts)
    with LOCK:
        known, program = key in PROGRAMS, PROGRAMS.setdefault(key, concurrent.futures.Future())
    if not known:
        try:
            program.set_result(build(folder, options))
        except BaseException as error:  # also for the thread that waits for this program
            program.set_exception(error)
    return program.result()


def traced(folder, change, options, steps):
    """(trace, marks)"""
    shutil.copytree(SOURCES, folder)
    if change:
        change(folder)
    trace = os.path.join(folder, "job.vtrace")
    environment = dict(os.environ, VRAMTRACK_OUTPUT=trace, LD_PRELOAD=mutations.LIBRARY, LD_LIBRARY_PATH=SIMULATED,
                       SIMCUDA_BACKED="0")
    # Another seed for each run, and the same ones whenever the test runs.
    seed = str(zlib.crc32(os.path.join(*folder.split(os.sep)[-2:]).encode()) % 100000)
    ran = mutations.run([built(folder, options), steps, seed], env=environment)
    assert ran.returncode == 0, ran.stderr
    return trace, mutations.marks_in(folder)


def what_is_wrong(name, folder):
    """(lines, right matches, matches, sites found, sites in both)"""
    base_change, new_change, base_options, new_options, expected = CASES[name]
    steps = STEPS.get(name, ("80", "80"))
    base, base_marks = traced(os.path.join(folder, name, "base"), base_change, base_options, steps[0])
    new, new_marks = traced(os.path.join(folder, name, "new"), new_change, new_options, steps[1])
    code, report = mutations.diff_of(base, new)
    wrong = [] if code == 0 else ["exit code %d" % code]
    if not report["comparable"]:
        wrong.append("not comparable: " + report["reason"])
    if "-g0" in base_options:  # nothing says which line a frame is of
        found = {(section, "?") for section in ("new", "gone", "grown", "shrunk") if report[section]}
    else:
        found = mutations.findings_of(report, base_marks, new_marks)
    if expected is not ANY and found != expected:
        wrong.append("found %s, and should be %s" % (sorted(found), sorted(expected)))
    changed = mutations.changed_devices(report)
    if expected == NONE and changed:
        wrong.append("changed: %s" % changed)
    matching = mutations.Matching(base, new, base_marks, new_marks)
    wrong += matching.wrong + ["not matched: %s" % (site,) for site in matching.missing]
    return wrong, matching.right, matching.made, matching.found, matching.possible


def main():
    return mutations.judge_all(sys.argv[1:] or list(CASES),
                               lambda folder: lambda name: what_is_wrong(name, folder))


if __name__ == "__main__":
    sys.exit(main())
