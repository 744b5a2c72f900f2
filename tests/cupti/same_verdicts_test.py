#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: same_verdicts_test.py [NAME...]: runs the workloads and programs of the corpus without CUPTI, with its default
records and with records of all that runs, or those of them whose names have one of these words. What the report says of
steps and sites must not depend on it, and all memory of the kinds that CUPTI tells of must have been seen by both."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 100
TRAIN = os.environ.get("TRAIN", ".bazel/bin/testdata/transformer/train_shared")
GENERATE = os.environ.get("GENERATE", ".bazel/bin/testdata/transformer/generate_shared")
PROGRAMS = os.environ.get("PROGRAMS", ".bazel/bin/tests/corpus/programs/cpp")
VRAMTRACK = os.path.abspath(os.environ.get("VRAMTRACK_PROGRAM", ".bazel/bin/analyzer/vramtrack"))
LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", ".bazel/bin/interpose/libvramtrack.so"))
SIMCUDA = os.path.abspath(os.environ.get("SIMCUDA", ".bazel/bin/tests/simcuda/libcudart.so.13"))
SIMCUPTI = os.path.abspath(os.environ.get("SIMCUPTI", ".bazel/bin/tests/simcupti/libcupti.so.13"))

RECORDS = {"none": None, "default": "memory,pools", "all": "memory,pools,kernels,copies,fills"}

# What the simulated CUPTI tells of, as the real one: by the hooks' kinds.
TOLD = ("device", "pitched", "managed", "pinned", "stream_ordered", "array", "mipmapped_array")

# Chosen by what they call: pools, streams and graphs; graphs that own memory; memory of other devices; libraries with
# memory of their own; virtual memory; events and streams; several threads; pinned memory. Where a program does not mark
# its steps the stream of allocations decides where one ends. Last: the kinds that only hooks see some of, since the
# simulated CUPTI, which does not know what the real one does there, tells of no memory nodes of graphs.
CORPUS = [
    ("capture_workspace", "leaky", True, ()),
    ("failed_capture", "leaky", True, ()),
    ("graph_memory", "leaky", True, ("stream_ordered",)),
    ("peer_buffers", "leaky", True, ()),
    ("communicators", "leaky", True, ()),
    ("spectrum_plans", "leaky", False, ()),
    ("thread_handles", "leaky", True, ()),
    ("missing_destructor", "leaky", False, ()),
    ("timing_events", "leaky", True, ()),
    ("exact_arena", "leaky", True, ()),
    ("service", "leaky", True, ()),
    ("lookalikes", "plan_cache", True, ()),
    ("lookalikes", "phases", True, ()),
    ("lookalikes", "workers", True, ()),
    ("lookalikes", "prefetch", True, ()),
    ("lookalikes", "given_back_later", False, ()),
]
# Several threads of theirs allocate at once: how much is live together differs from run to run.
THREADED = ("thread_handles", "lookalikes workers")
CORPUS_STEPS = 200
STEPS = 40  # of a workload


def environment(**variables):
    return dict(os.environ, LD_LIBRARY_PATH="%s:%s" % (os.path.dirname(SIMCUDA), os.environ["CUPTI_FOLDER"]),
                SIMCUDA_BACKED="0", **variables)


def workloads():
    """(name, command, whether it marks its steps, kinds of only hooks) of each leak and control that the programs list."""
    for program in (TRAIN, GENERATE):
        text = subprocess.run([program, "--help"], env=environment(), stdout=subprocess.PIPE, text=True).stdout
        for word, option in (("FAMILY", "--leak="), ("KIND", "--control=")):
            names = re.search(r"^%s is one of (.*)\.$" % word, text, re.MULTILINE).group(1).split()
            for name in names:
                yield ("%s %s%s" % (os.path.basename(program), option, name),
                       [program, "--steps=%d" % STEPS, option + name], True, ())


def programs():
    for program, variant, marks, only_hooks in CORPUS:
        yield ("%s %s" % (program, variant), [os.path.join(PROGRAMS, program), variant, str(CORPUS_STEPS)], marks,
               only_hooks)


# A thread of the process takes records away. On a busy machine it may come too late, and CUPTI drops some, which it counts
# and the report tells: such a run is no case of this test.
TRIES = 10


def traced(command, marks, records, folder):
    """The report of a run that lost no record."""
    for number in range(TRIES):
        report = traced_once(command, marks, records, "%s_%d" % (folder, number))
        if not any((process["activities"] or {}).get("dropped", 0) for process in report["processes"]):
            break
    return report


def traced_once(command, marks, records, folder):
    os.mkdir(folder)
    variables = {"VRAMTRACK_OUTPUT": os.path.join(folder, "%p.vtrace"), "LD_PRELOAD": LIBRARY}
    if marks:
        variables["CORPUS_MARKS"] = "1"
    if records:
        variables.update(VRAMTRACK_CUPTI="1", VRAMTRACK_CUPTI_RECORDS=records)
    ran = subprocess.run(command, env=environment(**variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if ran.returncode != 0 or "vramtrack:" in ran.stderr:
        raise RuntimeError("exit code %d: %s" % (ran.returncode, ran.stderr[-2000:]))
    made = subprocess.run([VRAMTRACK, "report", "--format", "json", "--top", "1000", folder], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if made.returncode not in (0, 3):
        raise RuntimeError("report: exit code %d: %s" % (made.returncode, made.stderr))
    return json.loads(made.stdout)


VERDICT = ("verdict", "grade", "rate_bytes_per_step", "rate_ci", "rate_objects_per_step", "rate_unit", "onset_step",
           "level", "kind", "device", "owner", "category", "allocations", "frees", "bytes_allocated", "live_objects",
           "live_bytes", "part_of")
AT_PEAK = ("bytes_at_peak", "peak_without_site")
DEVICE = ("index", "peak", "end", "growth", "growth_of", "fragmentation", "unattributed_bytes")


def sayings(report, threaded):
    """What must not depend on CUPTI, by where it stands in the report."""
    said = {"ranking": report["ranking"], "verdict_counts": report["verdict_counts"], "steps": report["steps"]}
    for site in report["sites"]:
        for field in VERDICT if threaded else VERDICT + AT_PEAK:
            said["site %s.%s" % (site["id"], field)] = site[field]
    for device in [] if threaded else report["devices"]:
        for field in DEVICE:
            said["device %d.%s" % (device["index"], field)] = device[field]
    return said


# Shares of a run are shares of its time as well.
BY_TIME = ("coverage", "judged", "confidence", "share")


def without_time(value):
    """What is told in seconds differs from run to run."""
    if isinstance(value, dict):
        return {key: without_time(one) for key, one in value.items() if "seconds" not in key and key not in BY_TIME}
    return value


def differences(base, other):
    for key in sorted(set(base) | set(other)):
        was, now = without_time(base.get(key)), without_time(other.get(key))
        if was != now:
            yield "%s: %s, with CUPTI %s" % (key, json.dumps(was), json.dumps(now))


def not_joined(report, only_hooks):
    """Lines about memory that hooks or CUPTI alone saw, of the kinds that both tell of."""
    hooked = sum(site["allocations"] for site in report["sites"] if site["kind"] in TOLD)
    joined = 0
    for process in report["processes"]:
        activities = process["activities"]
        if activities is None:
            yield "a process without records"
            continue
        joined += activities["joined"]
        for only in activities["only_hooks"]:
            if only["kind"] in only_hooks:
                hooked -= only["allocations"]
            elif only["reported"] or only["kind"] in TOLD:
                yield "only hooks saw %s" % only
        for only in activities["only_cupti"]:
            yield "only CUPTI saw %s" % only
        if activities["other_sizes"] or activities["dropped"] or activities["unwritten"]:
            yield "sizes or records differ: %s" % activities
    if joined < hooked:
        yield "%d allocations were joined of %d" % (joined, hooked)


def compared(run, folder):
    name, command, marks, only_hooks = run
    threaded = any(word in name for word in THREADED)
    try:
        reports = {records: traced(command, marks, kinds, os.path.join(folder, re.sub(r"\W+", "_", name) + "_" + records))
                   for records, kinds in RECORDS.items()}
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return name, [str(error)], 0
    wrong = []
    joined = 0
    for records in ("default", "all"):
        report = reports[records]
        wrong += ["%s: %s" % (records, line) for line in differences(sayings(reports["none"], threaded),
                                                                  sayings(report, threaded))]
        wrong += ["%s: %s" % (records, line) for line in not_joined(report, only_hooks)]
        joined = sum((process["activities"] or {}).get("joined", 0) for process in report["processes"])
    return name, wrong, joined


def main():
    words = sys.argv[1:]
    bad = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as executor:
        os.environ["CUPTI_FOLDER"] = folder
        # The name that is asked for first: the machine may have a CUPTI of its own.
        os.symlink(SIMCUPTI, os.path.join(folder, "libcupti.so.13"))
        runs = [run for run in [*workloads(), *programs()] if not words or any(word in run[0] for word in words)]
        for name, wrong, joined in executor.map(lambda run: compared(run, folder), runs):
            bad += bool(wrong) or joined == 0
            print("%-40s %7d allocations joined, %s" % (name, joined, "not the same" if wrong else "the same"), flush=True)
            for line in wrong[:20]:
                print("    " + line)
    print("%d of %d are the same with CUPTI as without" % (len(runs) - bad, len(runs)))
    return 1 if bad or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
