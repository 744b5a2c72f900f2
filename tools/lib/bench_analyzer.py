# SPDX-License-Identifier: Apache-2.0
"""Measures how fast traces are analysed and with how much memory, next to other tools that read as many events of their own.

Every figure is processor time (user and system) of the reading process alone, the best of a few runs.
"""
import os
import pickle
import shutil
import subprocess
import sys
import time

TURNS = 3
PEER_SHARE, MOST_PEER_EVENTS = 10, 2000000  # peers get this part of the events: they are slower
MEMRAY_PROGRAM = """
import collections, sys
kept = collections.deque()
for i in range(int(sys.argv[1])):
    kept.append(bytearray(4096 + i % 64))
    if len(kept) > 1000:
        kept.popleft()
"""


def measured(command, environment=None):
    """(processor seconds, wall seconds, peak MiB), or None if the command failed."""
    start = time.monotonic()
    with open(os.devnull, "w", encoding="utf-8") as null:
        process = subprocess.Popen(command, env=dict(os.environ, **(environment or {})), stdout=null, stderr=null)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if os.waitstatus_to_exitcode(status) not in (0, 3):  # 3: not enough evidence
        return None
    return used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss / 1024


def best(command):
    runs = [measured(command) for _ in range(TURNS)]
    return None if None in runs else tuple(min(run[i] for run in runs) for i in range(3))


def show(results, name, events, run):
    if run is None:
        print("%-44s %12s" % (name, "-"))
        results[name] = None
        return
    results[name] = {"events": events, "processor_s": run[0], "wall_s": run[1], "peak_mib": run[2]}
    print("%-44s %12d %10.2f %10.2f %10.2f %10.0f" % (name, events, events / run[0] / 1e6, run[0], run[1], run[2]))


def peers_python(root):
    """A Python that has memray, set up under .deps; None where it cannot be."""
    folder = os.path.join(root, ".deps", "bench-peers")
    python = os.path.join(folder, "bin", "python")
    has = [python, "-c", "import memray"]
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=False, stdout=subprocess.DEVNULL)
    if os.path.exists(python) and subprocess.run(has, check=False, stderr=subprocess.DEVNULL).returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "memray"], check=False, stderr=subprocess.DEVNULL)
    fine = os.path.exists(python) and subprocess.run(has, check=False, stderr=subprocess.DEVNULL).returncode == 0
    return python if fine else None


def memray_capture(root, folder, events):
    """(Python with memray, a capture of so many events), or None."""
    python = peers_python(root)
    if python is None:
        print("memray cannot be installed: left out")
        return None
    program, capture = os.path.join(folder, "pairs.py"), os.path.join(folder, "memray.bin")
    with open(program, "w", encoding="utf-8") as out:
        out.write(MEMRAY_PROGRAM)
    subprocess.run([python, "-m", "memray", "run", "-q", "-o", capture, program, str(events // 2)], check=True)
    return python, capture


def bench_memray(results, root, folder, events):
    found = memray_capture(root, folder, events)
    if found is not None:
        show(results, "memray stats", events, best([found[0], "-m", "memray", "stats", found[1]]))


def heaptrack_recording(root, folder, events):
    """A recording of heaptrack's of so many events, or None."""
    if shutil.which("heaptrack") is None or shutil.which("heaptrack_print") is None:
        print("heaptrack is not installed: left out")
        return None
    output = os.path.join(folder, "heaptrack")
    program = os.path.join(root, ".bazel/bin/tests/benchmark/malloc_allocation_pairs")
    # Nine rounds of that many pairs.
    done = subprocess.run(["heaptrack", "-o", output, program, "--depth", "64", "--threads", "1", "--stacks", "1000",
                           "--pairs", str(max(1, events // 18))], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    files = [name for name in os.listdir(folder) if name.startswith("heaptrack.")]
    if done.returncode != 0 or not files:
        print("heaptrack recorded nothing: left out")
        return None
    return os.path.join(folder, files[0])


def bench_heaptrack(results, root, folder, events):
    recording = heaptrack_recording(root, folder, events)
    if recording is not None:
        show(results, "heaptrack_print", events, best(["heaptrack_print", recording]))


def bench_memory_viz(results, root, folder, events):
    script = os.path.join(root, ".venv/pytorch/lib")
    found = [os.path.join(path, "_memory_viz.py") for path, _, files in os.walk(script)
             if path.endswith("torch/cuda") and "_memory_viz.py" in files] if os.path.isdir(script) else []
    if not found:
        print("PyTorch is not installed: _memory_viz.py is left out")
        return
    frames = [[{"name": "f%d" % d, "filename": "train.py", "line": s * 64 + d} for d in range(40)] for s in range(1000)]
    trace = []
    for i in range(events // 2):
        common = {"addr": (1 << 32) + ((i % 1000) << 22), "size": 4096, "stream": 0, "frames": frames[i % 1000]}
        trace.append(dict(common, action="alloc", time_us=2 * i))
        trace.append(dict(common, action="free_completed", time_us=2 * i + 1))
    snapshot = os.path.join(folder, "snapshot.pickle")
    with open(snapshot, "wb") as out:
        pickle.dump({"segments": [], "device_traces": [trace], "allocator_settings": {}}, out)
    del trace
    page = os.path.join(folder, "page.html")
    show(results, "_memory_viz.py trace_plot", events, best([sys.executable, found[0], "trace_plot", snapshot, "-o", page]))


def bench(root, folder, events):
    results = {}
    replay = os.path.join(root, ".bazel/bin/analyzer/ledger/replay_benchmark")
    vramtrack = os.path.join(root, ".bazel/bin/analyzer/vramtrack")
    print("\nreading as many events: processor seconds of the reader")
    print("%-44s %12s %10s %10s %10s %10s" % ("", "events", "million/s", "CPU s", "wall s", "MiB"))
    for shape in ("driver", "pytorch"):
        trace = os.path.join(folder, shape + ".vtrace")
        subprocess.run([replay, "--shape=" + shape, "--events=%d" % events, "--output=" + trace], check=True)
        show(results, "vramtrack report, " + shape, events, best([vramtrack, "report", trace, "--format", "json"]))
        os.remove(trace)
    few = min(events // PEER_SHARE, MOST_PEER_EVENTS)
    for peer in (bench_memray, bench_heaptrack, bench_memory_viz):
        peer(results, root, folder, few)
    return results
