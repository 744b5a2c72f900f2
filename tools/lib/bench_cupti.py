# SPDX-License-Identifier: Apache-2.0
"""Measures what a record of CUPTI costs the program's thread on the simulated CUPTI, compared with a program that takes the
same records itself and ignores them, and with a program without records (docs/cupti.md)."""
import os
import re
import resource
import subprocess

TARGETS = ["//cupti_tracer:libvramtrack_cupti.so", "//testdata/transformer:train_shared",
           "//tests/cupti:programs/records", "//tests/simcupti:libraries"]
RECORDS = 1000000
TURNS = 5
STEPS = 300


def bench(root, folder, quick):
    binaries = os.path.join(root, ".bazel", "bin")
    program = os.path.join(binaries, "tests/cupti/programs/records")
    trace = os.path.join(folder, "records.vtrace")
    device = {"LD_LIBRARY_PATH": ":".join(os.path.join(binaries, name) for name in ("tests/simcuda", "tests/simcupti"))}
    traced = {"LD_PRELOAD": os.path.join(binaries, "interpose/libvramtrack.so"), "VRAMTRACK_OUTPUT": trace}
    ways = {
        "no records": ([], {}),
        "records taken, nothing done": (["own"], {}),
        "records traced": ([], dict(traced, VRAMTRACK_CUPTI="1", VRAMTRACK_CUPTI_RECORDS="memory,pools,fills")),
    }
    ns = {}
    for _ in range(TURNS):
        for way, (words, environment) in ways.items():
            if os.path.exists(trace):
                os.remove(trace)
            command = [program, str(RECORDS // (10 if quick else 1))] + words
            done = subprocess.run(command, env=dict(os.environ, **device, **environment), stdout=subprocess.PIPE,
                                  text=True, check=True)
            ns[way] = min(ns.get(way, float("inf")), float(done.stdout))
    results = {"ns_per_record": ns, "overhead_ns": round(ns["records traced"] - ns["records taken, nothing done"], 1),
               "with_the_simulated_cupti_ns": round(ns["records traced"] - ns["no records"], 1)}
    # Fills have no names; //proto:activities_test has kernels.
    results["bytes_per_record"] = bytes_per_record(binaries, trace)
    print("\na record of CUPTI in the program's thread, ns of processor time")
    for way, each in ns.items():
        print("%-34s %12.1f" % (way, each))
    print("%-34s %12.1f" % ("the tracer's part", results["overhead_ns"]))
    print("%-34s %12s" % ("bytes of file", results["bytes_per_record"]))
    results["workload"] = bench_workload(binaries, folder, device, traced, quick)
    return results


def bytes_per_record(binaries, trace):
    info = subprocess.run([os.path.join(binaries, "analyzer/vramtrack"), "info", trace], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    found = re.search(r"([0-9.]+) bytes\s+of\s+file\s+each;\s+its", info)
    return float(found.group(1)) if found else None


def bench_workload(binaries, folder, device, traced, quick):
    """A training of the transformer, hooked only and with CUPTI: processor time of all its threads. Its device and its
    CUPTI are simulated ones, so this is the cost of the tracer and of making the records, and no GPU's."""
    trace = os.path.join(folder, "workload.vtrace")
    traced = dict(traced, VRAMTRACK_OUTPUT=trace)
    # Who asked for memory is looked up by the simulated CUPTI with a walk of the stack, which says nothing of the real
    # one's: an older one does not look it up.
    older = os.path.join(folder, "older")
    os.makedirs(older, exist_ok=True)
    for name in ("libcupti.so.13", "libcupti.so.12"):
        link = os.path.join(older, name)
        if not os.path.lexists(link):
            os.symlink(os.path.join(binaries, "tests/simcupti/libcupti.so.12"), link)
    older = {"LD_LIBRARY_PATH": ":".join([os.path.join(binaries, "tests/simcuda"), older])}
    ways = {
        "hooks alone": {},
        "with CUPTI, nobody looked up": dict(older, VRAMTRACK_CUPTI="1"),
        "with CUPTI, memory and pools": {"VRAMTRACK_CUPTI": "1"},
        "with CUPTI, kernels as well": {"VRAMTRACK_CUPTI": "1", "VRAMTRACK_CUPTI_RECORDS": "memory,pools,kernels"},
    }
    steps = STEPS // (10 if quick else 1)
    command = [os.path.join(binaries, "testdata/transformer/train_shared"), "--steps=%d" % steps]
    ms, kernel_bytes = {}, None
    for _ in range(TURNS):
        for way, environment in ways.items():
            if os.path.exists(trace):
                os.remove(trace)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, env={**os.environ, **device, **traced, **environment}, stdout=subprocess.DEVNULL,
                           check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            ms[way] = min(ms.get(way, float("inf")), 1000 * spent / steps)
            if "kernels" in way:
                kernel_bytes = bytes_per_record(binaries, trace)
    print("\na step of the transformer's training, ms of processor time on the simulated device")
    for way, each in ms.items():
        print("%-34s %12.4f" % (way, each))
    print("%-34s %12s" % ("bytes of file a record, with kernels", kernel_bytes))
    return {"ms_per_step": ms, "bytes_per_record_with_kernels": kernel_bytes}
