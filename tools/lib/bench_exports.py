# SPDX-License-Identifier: Apache-2.0
"""How fast a trace becomes a file for people or for other tools, with how much memory, and how large the file is; beside the
report as JSON, which has what all of them are made from, and beside other tools that write the same kind of file.

Every figure is of the writing process alone, with one thread, the best of a few runs.
"""
import os
import subprocess

import bench_analyzer

# The formats of vramtrack export, one a row: a new one goes here.
EXPORTS = ("pprof", "torch-snapshot", "perfetto", "speedscope", "folded", "firefox", "openmetrics", "csv")
SHAPES = ("driver", "pytorch")


def show(results, name, events, output, command):
    run = bench_analyzer.best(command)
    if run is None or not os.path.exists(output):
        print("%-44s %12s" % (name, "-"))
        results[name] = None
        return
    size = os.path.getsize(output)
    os.remove(output)
    results[name] = {"events": events, "processor_s": run[0], "wall_s": run[1], "peak_mib": run[2], "bytes": size}
    print("%-44s %12d %10.2f %10.2f %10.2f %10.0f %12d" % (name, events, events / run[0] / 1e6, run[0], run[1], run[2], size))


def bench_peers(results, root, folder, events):
    output = os.path.join(folder, "peer")
    recording = bench_analyzer.heaptrack_recording(root, folder, events)
    if recording is not None:
        show(results, "heaptrack_print --print-flamegraph", events, output,
             ["heaptrack_print", recording, "--print-flamegraph", output])
    memray = bench_analyzer.memray_capture(root, folder, events)
    if memray is not None:
        show(results, "memray flamegraph (HTML)", events, output,
             [memray[0], "-m", "memray", "flamegraph", "-f", "-o", output, memray[1]])


def bench(root, folder, events):
    results = {}
    replay = os.path.join(root, ".bazel/bin/analyzer/ledger/replay_benchmark")
    vramtrack = os.path.join(root, ".bazel/bin/analyzer/vramtrack")
    print("\nwriting files from as many events: processor seconds of the writer")
    print("%-44s %12s %10s %10s %10s %10s %12s" % ("", "events", "million/s", "CPU s", "wall s", "MiB", "bytes"))
    for shape in SHAPES:
        trace, output = os.path.join(folder, shape + ".vtrace"), os.path.join(folder, shape + ".out")
        subprocess.run([replay, "--shape=" + shape, "--events=%d" % events, "--output=" + trace], check=True)
        one_thread = ["--threads", "1", "-o", output]
        for what in ("json", "html"):
            show(results, "report --format %s, %s" % (what, shape), events, output,
                 [vramtrack, "report", trace, "--format", what] + one_thread)
        for what in EXPORTS:
            show(results, "export --to %s, %s" % (what, shape), events, output, [vramtrack, "export", trace, "--to", what] + one_thread)
        os.remove(trace)
    bench_peers(results, root, folder, min(events // bench_analyzer.PEER_SHARE, bench_analyzer.MOST_PEER_EVENTS))
    return results
