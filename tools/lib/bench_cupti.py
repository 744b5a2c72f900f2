# SPDX-License-Identifier: Apache-2.0
"""What a record of CUPTI costs the program's thread, on the simulated CUPTI: beside a program that takes the same records
itself and does nothing with them, and beside none being made (docs/cupti.md)."""
import os
import re
import subprocess

TARGETS = ["//cupti_tracer:libvramtrack_cupti.so", "//tests/cupti:programs/records", "//tests/simcupti:libraries"]
RECORDS = 1000000
TURNS = 5


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
    info = subprocess.run([os.path.join(binaries, "analyzer/vramtrack"), "info", trace], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    results = {"ns_per_record": ns, "overhead_ns": round(ns["records traced"] - ns["records taken, nothing done"], 1),
               "with_the_simulated_cupti_ns": round(ns["records traced"] - ns["no records"], 1)}
    # Fills have no names; //proto:activities_test has kernels.
    bytes_each = re.search(r"([0-9.]+) bytes\s+of\s+file\s+each;\s+its", info)
    results["bytes_per_record"] = float(bytes_each.group(1)) if bytes_each else None
    print("\na record of CUPTI in the program's thread, ns of processor time")
    for way, each in ns.items():
        print("%-34s %12.1f" % (way, each))
    print("%-34s %12.1f" % ("the tracer's part", results["overhead_ns"]))
    print("%-34s %12s" % ("bytes of file", results["bytes_per_record"]))
    return results
