# SPDX-License-Identifier: Apache-2.0
"""Measures what load costs, and checks that no event is lost: thousands of threads, live allocations, distinct stacks and
modules, alone and together. Every traced run is compared with the program's own counts."""
import os
import re
import struct
import subprocess

TARGETS = ["//tests/benchmark:load", "//tests/hazards:programs/libloaded_a.so"]
TURNS = 2
HEADER_COUNTERS = 24  # their offset in a trace, see proto/frame.h
LOST_EVENTS = 0  # COUNTER_LOST_EVENTS of proto/trace.proto
MILLION = 1000000
# Name and arguments; "pairs" becomes a tenth with --quick, but not less than what is to be alive or distinct. What grows is there at a quarter, too, to show how it grows.
ROWS = [
    ("16 threads, 5 M events/s asked for", {"threads": 16, "pairs": 10 * MILLION, "rate": 5 * MILLION}),
    ("16 threads", {"threads": 16, "pairs": 10 * MILLION}),
    ("64 threads", {"threads": 64, "pairs": 10 * MILLION}),
    ("250,000 live", {"threads": 16, "pairs": 5 * MILLION, "live": 250000}),
    ("1,000,000 live", {"threads": 16, "pairs": 5 * MILLION, "live": MILLION}),
    ("65,536 stacks", {"threads": 4, "pairs": 5 * MILLION, "stacks": 65536}),
    ("262,144 stacks", {"threads": 4, "pairs": 5 * MILLION, "stacks": 262144}),
    ("1,000 living threads", {"threads": 1000, "pairs": MILLION}),
    ("4,000 living threads", {"threads": 4000, "pairs": 4 * MILLION}),
    ("1,000 modules", {"modules": 1000, "pairs": 1000}),
    ("4,000 modules", {"modules": 4000, "pairs": 4000}),
    ("64 threads, 1 M live, 262,144 stacks",
     {"threads": 64, "pairs": 10 * MILLION, "live": MILLION, "stacks": 262144}),
]


def lost_events(trace):
    with open(trace, "rb") as file:
        return struct.unpack_from("<Q", file.read(4096), HEADER_COUNTERS + 8 * LOST_EVENTS)[0]


def events_in(binaries, trace):
    """Allocations and frees of device memory that the trace has."""
    info = subprocess.run([os.path.join(binaries, "analyzer/vramtrack"), "info", trace], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    found = re.findall(r"^ {15}(?:allocate|free) +[0-9,]+ .*?([0-9,]+) device", info, re.MULTILINE)
    return sum(int(count.replace(",", "")) for count in found)


class Load:
    """One shape of load, plain and traced."""

    def __init__(self, root, run_json, folder, arguments):
        self.binaries = os.path.join(root, ".bazel", "bin")
        self.run_json = run_json
        self.trace = os.path.join(folder, "load.vtrace")
        self.device = {"LD_LIBRARY_PATH": os.path.join(self.binaries, "tests", "simcuda"), "SIMCUDA_BACKED": "0",
                       "SIMCUDA_MEMORY": "1024G"}
        self.command = [os.path.join(self.binaries, "tests/benchmark/load"), "--folder", folder, "--library",
                        os.path.join(self.binaries, "tests/hazards/programs/libloaded_a.so")]
        for name, value in arguments.items():
            self.command += ["--" + name, str(value)]

    def plain(self):
        return self.run_json(self.command, self.device)

    def traced(self):
        if os.path.exists(self.trace):
            os.remove(self.trace)
        run = self.run_json(self.command, dict(
            self.device, VRAMTRACK_OUTPUT=self.trace,
            LD_PRELOAD=os.path.join(self.binaries, "interpose", "libvramtrack.so")))
        return dict(run, in_trace=events_in(self.binaries, self.trace), lost=lost_events(self.trace),
                    trace_bytes=os.path.getsize(self.trace))


def measure(load):
    plain, traced = [], []
    for _ in range(TURNS):
        plain.append(load.plain())
        traced.append(load.traced())
    least = lambda runs, name: min(run[name] for run in runs)
    events = plain[0]["events"]
    over_s = least(traced, "processor_s") - least(plain, "processor_s")
    worst = min(traced, key=lambda run: (run["in_trace"], -run["lost"]))
    return {
        "events": events,
        "in_trace": worst["in_trace"],
        "lost": worst["lost"],
        "whole": all(run["in_trace"] == run["events"] == events and run["lost"] == 0 for run in traced),
        "events_per_s": events / least(traced, "seconds"),
        "plain_s": least(plain, "seconds"),
        "traced_s": least(traced, "seconds"),
        "processor_ns_per_event_over": 1e9 * over_s / events,
        "bytes_per_event": min(run["trace_bytes"] for run in traced) / events,
        "resident_mib_over": (least(traced, "resident_kib") - least(plain, "resident_kib")) / 1024,
    }


def bench(root, run_json, folder, quick):
    results = {}
    print("\na process under load")
    print("%-37s %11s %11s %6s %12s %10s %9s %9s %8s %8s" % (
        "", "events", "in trace", "lost", "M events/s", "untraced s", "traced s", "ns/event", "B/event", "MiB"))
    for name, arguments in ROWS:
        if quick:
            many = max(arguments.get(what, 0) for what in ("live", "stacks", "modules"))
            arguments = dict(arguments, pairs=max(arguments["pairs"] // 10, many))
        result = results[name] = measure(Load(root, run_json, folder, arguments))
        print("%-37s %11d %11d %6d %12.2f %10.2f %9.2f %9.0f %8.2f %8.1f" % (
            name, result["events"], result["in_trace"], result["lost"], result["events_per_s"] / 1e6,
            result["plain_s"], result["traced_s"], result["processor_ns_per_event_over"], result["bytes_per_event"],
            result["resident_mib_over"]), flush=True)
    print("ns/event: processor time over untraced; MiB: most resident memory over untraced; best of %d" % TURNS)
    return results


def incomplete(results):
    """The rows whose traces are not whole."""
    return [name for name, result in results.items() if not result["whole"]]
