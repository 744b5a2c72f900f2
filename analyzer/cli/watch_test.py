#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: watch_test.py VRAMTRACK MAKE_TRACE [DASHBOARD ALERTS]

`vramtrack watch` runs its commands once for what is new, with JSON on their input. Nothing here depends on how fast the
machine is.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HANGS = 120  # seconds


def check(condition, what):
    if not condition:
        sys.exit("watch_test: " + what)


def watch(program, folder, *arguments):
    return subprocess.run([program, "watch"] + list(arguments), cwd=folder, stdin=subprocess.DEVNULL, timeout=HANGS,
                          capture_output=True, text=True, check=False)


def events(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def test_once(program, folder):
    done = watch(program, folder, "leak.vtrace", "--once", "--on-leak", "cat >> leaks", "--on-full", "cat >> full",
                 "--seconds-to-full", "1000000")
    check(done.returncode == 0 and done.stderr == "", "--once: " + done.stderr)
    leaks = events(folder, "leaks")
    check(len(leaks) == 1 and leaks[0]["event"] == "leak" and leaks[0]["target"] == "leak.vtrace", "the leak")
    site = leaks[0]["site"]
    check(site["verdict"] == "leak" and site["rate_bytes_per_step"] == 4 << 20, "the verdict or the rate in the JSON of the leak is wrong")
    full = events(folder, "full")
    check(len(full) == 1 and full[0]["device"]["index"] == 0, "the device that will be full")
    check(full[0]["device"]["growth"]["seconds_to_oom"] < 1000000, "when it will be full")
    # A second process tells it again: it does not know of the first. A clean run tells nothing.
    watch(program, folder, "clean.vtrace", "--once", "--on-leak", "cat >> nothing")
    check(events(folder, "nothing") == [], "a clean run")
    # There is more time than that.
    watch(program, folder, "leak.vtrace", "--once", "--on-full", "cat >> nothing", "--seconds-to-full", "1")
    check(events(folder, "nothing") == [], "a device that is not full soon")


def test_commands_have_the_signals_of_a_shell(program, folder):
    done = watch(program, folder, "leak.vtrace", "--once", "--on-leak", "yes | head -1 >/dev/null; grep SigIgn /proc/self/status >signals")
    check(done.returncode == 0 and done.stderr == "", "signals: " + done.stderr)
    with open(os.path.join(folder, "signals"), encoding="ascii") as file:
        ignored = int(file.read().split()[1], 16)
    check(not ignored >> signal.SIGPIPE - 1 & 1, "a command ignores SIGPIPE")


def test_commands_that_fail(program, folder):
    # One that does not read its input, and one that fails: the next look is made all the same.
    done = watch(program, folder, "leak.vtrace", "--once", "--on-leak", "exec <&-; exit 3")
    check(done.returncode == 0 and "exit code 3" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def test_follows(program, folder):
    growing = os.path.join(folder, "grows.vtrace")
    process = subprocess.Popen([program, "watch", "grows.vtrace", "--wait", "--interval", "0.1", "--on-leak",
                                "cat >> grown; echo >> looked"], cwd=folder, stdin=subprocess.DEVNULL)
    try:
        for name in ("short", "leak"):
            shutil.copy(os.path.join(folder, name + ".vtrace"), growing + ".next")
            os.replace(growing + ".next", growing)
        end = time.monotonic() + HANGS
        while not events(folder, "grown"):
            check(process.poll() is None and time.monotonic() < end, "the leak is not told")
            time.sleep(0.05)
        # It is told once, however often it is seen; a slow machine looks less often, which hides a fault at worst.
        time.sleep(0.5)
        check(len(events(folder, "grown")) == 1, "a leak is told twice")
        check(process.poll() is None, "ends by itself")
    finally:
        process.kill()
        process.wait()


class Metrics:
    """A `vramtrack watch --listen`."""

    def __init__(self, program, folder, *arguments):
        self.process = subprocess.Popen([program, "watch", "--listen", "127.0.0.1:0", "--interval", "0.1"] + list(arguments),
                                        cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True)
        line = self.process.stderr.readline()
        found = re.match(r"vramtrack: metrics at port ([0-9]+), path /metrics$", line)
        check(found, "the port is not told: " + line)
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)  # and the command that it runs
        self.process.wait()
        self.process.stderr.close()

    def ask(self, path="/metrics", method="GET", host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS)
        connection.request(method, path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.getheader("Content-Type"), text

    def samples(self):
        """{name and labels: value}, after a check of the text by the grammar of OpenMetrics."""
        text = self.ask()[2]
        lines = text.split("\n")
        check(lines[-2:] == ["# EOF", ""], "the text does not end with # EOF")
        found, family, types = {}, None, {}
        for line in lines[:-2]:
            about = re.fullmatch(r"# (TYPE|UNIT|HELP) ([a-z_]+) (.+)", line)
            if about:
                if about[1] == "TYPE":
                    check(about[2] not in types and about[3] in ("gauge", "counter"), line)
                    family = about[2]
                    types[family] = about[3]
                check(about[2] == family, "the samples of a metric are not together: " + line)
                check(about[1] != "UNIT" or family.endswith("_" + about[3]), line)
                continue
            sample = re.fullmatch(r'([a-z_]+)((?:\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})?) (\S+)', line)
            check(sample and sample[1] == family + ("_total" if types[family] == "counter" else ""), "not a sample: " + line)
            check(sample[1] + sample[2] not in found, "twice: " + line)
            found[sample[1] + sample[2]] = float(sample[3])
        return found

    def when(self, true, what):
        end = time.monotonic() + HANGS
        while not true(self.samples()):
            check(self.process.poll() is None and time.monotonic() < end, what)
            time.sleep(0.02)
        return self.samples()


def test_metrics(program, folder, documents):
    device = '{device="cuda:0"'
    with Metrics(program, folder, "leak.vtrace", "--on-leak", "sleep 1000; true") as metrics:
        # The command is still running: what a scrape gets does not wait for it.
        samples = metrics.when(lambda one: one["vramtrack_looks_total"] > 0, "no look is made")
        report = json.loads(subprocess.run([program, "report", "--format", "json", "leak.vtrace"], cwd=folder, check=True,
                                           capture_output=True, text=True).stdout)
        memory = report["devices"][0]
        parts = {key: value for key, value in samples.items() if key.startswith("vramtrack_device_memory_bytes")}
        check(parts["vramtrack_device_memory_bytes" + device + ',part="live"}'] == memory["last_step"]["live"], "live bytes")
        check(sum(parts.values()) == memory["total_bytes"] == samples["vramtrack_device_size_bytes" + device + "}"],
              "the parts do not add up to the device")
        for verdict, count in report["verdict_counts"].items():
            check(samples['vramtrack_sites{verdict="%s"}' % verdict] == count, "sites with the verdict " + verdict)
        check(samples['vramtrack_processes{state="ended"}'] == 1 and samples["vramtrack_steps_total"] == report["steps"]["count"]
              and samples["vramtrack_events_total"] == report["processes"][0]["events"]
              and samples["vramtrack_failed_looks_total"] == 0, "the sums: %s" % samples)
        growth = memory["growth"]
        for bound, steps, rate in (("estimate", growth["steps_to_oom"], growth["bytes_per_step"]),
                                   ("low", growth["steps_to_oom_ci"][0], growth["ci_low"]),
                                   ("high", growth["steps_to_oom_ci"][1], growth["ci_high"])):
            label = device + ',bound="%s"}' % bound
            check(samples["vramtrack_device_steps_to_full" + label] == steps, "steps until it is full")
            check(samples["vramtrack_device_growth_bytes_per_step" + label] == rate, "the growth")
        seconds = samples["vramtrack_device_time_to_full_seconds" + device + ',bound="estimate"}']
        check(abs(seconds - growth["seconds_to_oom"]) < 0.01, "seconds until it is full")

        status, kind, text = metrics.ask()
        check(status == 200 and kind == "application/openmetrics-text; version=1.0.0; charset=utf-8", "the content type: " + kind)
        for name in ("KeepAttention", "make_trace", "leak.vtrace", folder):
            check(name not in text, "the metrics have a name: " + name)
        check(metrics.ask(host="node1.example:9400")[0] == 200, "a scraper that knows it by another name")
        check(metrics.ask("/metrics?x=y")[0] == 200 and metrics.ask("/")[0] == 200 and metrics.ask("/x")[0] == 404, "other paths")
        check(metrics.ask(method="POST")[0] == 405, "POST is answered")
        check(metrics.ask(method="HEAD")[2] == "", "HEAD has a body")
        # Each metric of the dashboard and of the rules is there, with values that the labels have.
        names = {re.sub(r"\{.*", "", key) for key in samples} | {"vramtrack_newest_event_timestamp_seconds"}  # see test_live_metrics
        for path in documents:
            with open(path, encoding="utf-8") as file:
                used = set(re.findall(r"\bvramtrack_[a-z_]+\b", file.read()))
            check(len(used) > 5 and used <= names, "%s has metrics that do not exist: %s" % (path, used - names))

    # More processes are not more samples; a clean run has no time until it is full.
    job = os.path.join(folder, "ranks")
    os.mkdir(job)
    for name in ("leak", "clean", "short"):
        shutil.copy(os.path.join(folder, name + ".vtrace"), job)
    with Metrics(program, folder, "ranks") as metrics:
        joined = metrics.when(lambda one: one["vramtrack_looks_total"] > 0, "no look is made")
        check(joined['vramtrack_processes{state="ended"}'] == 3 and joined.keys() == samples.keys(), "a job of three processes")
    with Metrics(program, folder, "clean.vtrace") as metrics:
        clean = metrics.when(lambda one: one["vramtrack_looks_total"] > 0, "no look is made")
        check(not any("to_full" in key for key in clean), "a clean run has a time until it is full")

    # Before there is a trace, while it grows, and when it is gone.
    with Metrics(program, folder, "later.vtrace", "--wait") as metrics:
        check(metrics.samples() == {"vramtrack_looks_total": 0, "vramtrack_failed_looks_total": 0}, "without a trace")
        later = os.path.join(folder, "later.vtrace")
        for name, steps in (("short", None), ("leak", 60)):
            shutil.copy(os.path.join(folder, name + ".vtrace"), later + ".next")
            os.replace(later + ".next", later)
            metrics.when(lambda one: one.get("vramtrack_steps_total", -1) == steps or steps is None and len(one) > 2,
                         "the metrics do not follow")
        with open(later + ".next", "wb") as file:
            file.write(b"no trace\n")
        os.replace(later + ".next", later)
        failed = metrics.when(lambda one: one["vramtrack_failed_looks_total"] > 0, "a trace that cannot be read is not told")
        check(failed["vramtrack_steps_total"] == 60, "the figures of the last look are not kept")


def test_wrong_calls(program, folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for address in ("9400", ":x", "127.0.0.1:65536", "::1:9400",
                        "127.0.0.1:%d" % taken.getsockname()[1]):
            failed = watch(program, folder, "leak.vtrace", "--listen", address)
            check(failed.returncode == 2 and failed.stderr.count("\n") == 1 and address in failed.stderr,
                  "--listen %s: %s" % (address, failed.stderr))
    for bad in (["leak.vtrace"], ["no-such-trace", "--on-leak", "true"], ["--on-leak", "true"],
                ["leak.vtrace", "--on-full", "true", "--seconds-to-full", "soon"]):
        failed = watch(program, folder, *bad)
        check(failed.returncode == 2 and failed.stderr.count("\n") == 1, "%s: %s" % (" ".join(bad), failed.stderr))


def main(program, make_trace, *documents):
    documents = [os.path.abspath(one) for one in documents]
    program, make_trace = os.path.abspath(program), os.path.abspath(make_trace)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("leak", "short", "clean"):
            subprocess.run([make_trace, name, os.path.join(folder, name + ".vtrace")], check=True)
        test_once(program, folder)
        test_commands_have_the_signals_of_a_shell(program, folder)
        test_commands_that_fail(program, folder)
        test_follows(program, folder)
        test_metrics(program, folder, documents)
        test_wrong_calls(program, folder)
    print("watch: events, metrics, failing commands, following and wrong calls are as documented")


if __name__ == "__main__":
    main(*sys.argv[1:])
