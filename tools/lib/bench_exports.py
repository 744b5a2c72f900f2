# SPDX-License-Identifier: Apache-2.0
"""Measures how fast a trace becomes a file for people or for other tools, with how much memory, and how large the file is,
compared with the report as JSON, from whose data all of them are made, and with other tools that write such files.

Every figure is of the writing process alone, with one thread, the best of a few runs.
"""
import json
import os
import subprocess

import bench_analyzer

# The formats of vramtrack export, one a row: a new one goes here.
EXPORTS = ("pprof", "torch-snapshot", "perfetto", "speedscope", "folded", "csv", "csv --table events", "parquet --table steps",
           "parquet --table events")
# Of a table that is in memory already, as pyarrow has it.
WRITE_PARQUET = """
import json, resource, sys, time
import pyarrow, pyarrow.parquet as parquet
pyarrow.set_cpu_count(1)
table = parquet.read_table(sys.argv[1], use_threads=False)
fastest = None
for _ in range(3):
    begin = time.process_time()
    parquet.write_table(table, sys.argv[2], compression=sys.argv[3], row_group_size=1 << 17,
                        **({"compression_level": 1} if sys.argv[3] == "gzip" else {}))
    took = time.process_time() - begin
    fastest = took if fastest is None else min(fastest, took)
print(json.dumps({"processor_s": fastest, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""
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


def bench_pyarrow(results, root, vramtrack, trace, shape, events):
    """pyarrow writes the table of events that it has read; what tools/test-exports installs."""
    python = os.path.join(root, ".deps", "readers", "python", "bin", "python")
    if not os.path.exists(python) or subprocess.run([python, "-c", "import pyarrow.parquet"], check=False,
                                                    stderr=subprocess.DEVNULL).returncode != 0:
        print("pyarrow is not installed (tools/test-exports does it): left out")
        return
    table, output = trace + ".parquet", trace + ".out"
    subprocess.run([vramtrack, "export", trace, "--to", "parquet", "--table", "events", "-o", table], check=True)
    for codec in ("gzip", "snappy"):
        done = subprocess.run([python, "-c", WRITE_PARQUET, table, output, codec], check=True, capture_output=True, text=True)
        figures = dict(json.loads(done.stdout), events=events, bytes=os.path.getsize(output))
        name = "pyarrow writes these events, %s, %s" % (codec, shape)
        results[name] = figures
        print("%-44s %12d %10.2f %10.2f %10s %10.0f %12d" % (
            name, events, events / figures["processor_s"] / 1e6, figures["processor_s"], "", figures["peak_mib"], figures["bytes"]))
        os.remove(output)
    os.remove(table)


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
            show(results, "export --to %s, %s" % (what, shape), events, output, [vramtrack, "export", trace, "--to", *what.split()] + one_thread)
        bench_pyarrow(results, root, vramtrack, trace, shape, events)
        os.remove(trace)
    bench_peers(results, root, folder, min(events // bench_analyzer.PEER_SHARE, bench_analyzer.MOST_PEER_EVENTS))
    return results
