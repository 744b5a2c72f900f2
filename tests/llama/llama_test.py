#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: llama_test.py PACKAGES PYTHON VRAMTRACK

An unmodified llama.cpp in a server of Node's, traced on the simulated device. PACKAGES has its node_modules.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REQUESTS = 200
MIB = 1 << 20
# Of a chat of 256 cells: keys and values of 4 layers, 256 numbers of 2 bytes each.
CHAT_CACHE = 4 * 2 * 256 * 256 * 2
counts = {"passed": 0, "failed": 0}


def say(ok, what):
    counts["passed" if ok else "failed"] += 1
    print("%s: %s" % ("ok" if ok else "FAILED", what), flush=True)
    return ok


def report(packages, vramtrack, model, mode):
    engine = os.path.join(packages, "node_modules", "@node-llama-cpp", "linux-x64-cuda", "bins", "linux-x64-cuda")
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.join(ROOT, "tools", "simulated-cuda"), "--", vramtrack, "run", "-o", folder, "--",
                   "node", os.path.join(HERE, "server.mjs"), model, mode, str(REQUESTS)]
        done = subprocess.run(command, cwd=packages, env=dict(os.environ, SIMCUDA_PACKAGE=engine),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if not say(done.returncode == 0 and done.stdout.startswith("cuda: "), "a server runs (%s)" % mode):
            sys.exit(done.stdout[-500:] + done.stderr[-2000:])
        used = [int(text) for text in re.findall(r"^used (\d+)$", done.stdout, flags=re.M)]
        told = subprocess.run([vramtrack, "report", folder, "--format", "json", "--top", "100"], stdout=subprocess.PIPE, check=False)
        return json.loads(told.stdout), (used[1] - used[0]) / (REQUESTS / 2)


def findings(told):
    return {site["id"]: site for site in told["sites"] if site["id"] in told["ranking"]}


def rate_of(site, what="bytes"):
    return (site["group"] or site)["rate_%s_per_step" % what]


def per_request(told, per_step):
    return per_step * told["steps"]["count"] / REQUESTS


def leaked_per_request(told):
    """By all findings that hold device memory."""
    memory = [site for site in findings(told).values() if site["level"] == "driver" and site["kind"] != "pinned"]
    return per_request(told, sum(rate_of(site) for site in memory))


def functions(site):
    return " ".join(frame["function"] for frame in site["frames"])


def main():
    packages, python, vramtrack = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "tiny.gguf")
        subprocess.run([python, os.path.join(HERE, "tiny_model.py"), model], check=True)
        clean, _ = report(packages, vramtrack, model, "clean")
        leaking, device = report(packages, vramtrack, model, "leak")
        growing, _ = report(packages, vramtrack, model, "growing")
    say(not clean["ranking"], "contexts that end leak nothing: %s" % [functions(s)[:80] for s in findings(clean).values()])
    unjudged = dict(clean["verdict_counts"]).get("insufficient_evidence", 0)
    say(clean["steps"]["count"] > 0 and not unjudged, "all is judged: %d steps, %d sites not" % (clean["steps"]["count"], unjudged))

    # The driver counts whole pages.
    used = per_request(leaking, leaking["devices"][0]["growth_of"]["device_used"]["bytes_per_step"])
    say(abs(used / device - 1) < 0.01, "the device fills by %d B per request; the driver says %d" % (used, device))
    rate = leaked_per_request(leaking)
    say(device / 2 < rate <= device, "chats that never end leak %d B of it" % rate)
    caches = [site for site in leaking["sites"] if site["verdict"] == "leak" and "llama_kv_cache" in functions(site)]
    say([per_request(leaking, site["rate_bytes_per_step"]) for site in caches] == [CHAT_CACHE],
        "a chat's keys and values are %d B: %s" % (CHAT_CACHE, [site["rate_bytes_per_step"] for site in caches]))
    ranges = [site for site in leaking["sites"] if site["kind"] == "address_range"]
    say(ranges and all(site["level"] == "handle" and site["rate_bytes_per_step"] == 0 for site in ranges), "address ranges hold no memory")

    # The old context is gone before the new one is made: nothing stays, and the device fills nonetheless.
    rising = [line for line in growing["reasons"] if line["id"] == "rising_peaks"]
    say(not growing["ranking"] and len(rising) == 1, "a chat that moves to larger contexts is not clean: %s" % growing["reasons"])
    print("%(passed)d passed, %(failed)d failed, 0 skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
