# SPDX-License-Identifier: Apache-2.0
"""usage: leaks_test.py [SCRIPT:VARIANT...]: the report on each leak script must name its lines and its rates.

A leaky script marks the lines that allocate what is never given back with `# LEAK NAME` and prints how many bytes of it
stay at each step, as the sizes of its tensors have it. All of it is one leak, and must be one finding. Its fixed variant
and the lookalikes must be found to leak nothing.
"""
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import forking_python
import under_test

LEAKS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "leaks")
TIMEOUT_S = 120
SCRIPTS = ("evaluation_loss", "hidden_state", "gradient_graph", "loss_list", "context_cycle", "activation_hook",
           "stored_cache", "pinned_batches", "detached_view")
LOOKALIKES = ("first_steps", "cycles", "bounded_cache", "cache_by_shape", "phases", "static_cache", "curriculum",
              "moving_average")
# The name of what none of the script's lines is named for.
LEAK_VERDICTS = ("leak", "minor_leak", "accelerating_leak", "growing_buffer")


def marked_lines(path):
    """Line numbers by the name of the mark."""
    with open(path, encoding="utf-8") as file:
        return {match[1]: number for number, line in enumerate(file, 1) if (match := re.search(r"(?:#|//) LEAK (\w+)$", line))}


def line_in(script, site):
    """Of the innermost frame of the site that is in the script."""
    for frame in site["frames"]:
        if os.path.basename(frame["file"]) == os.path.basename(script):
            return frame["line"]
    return None


def report_on(pythons, script, variant, folder):
    """(report, what the script printed) of one traced run."""
    trace, printed = pythons.traced([script, variant], folder, TIMEOUT_S)
    made = subprocess.run([under_test.VRAMTRACK, "report", "--format", "json", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if made.returncode not in (0, 3):
        raise RuntimeError("report: exit code %d: %s" % (made.returncode, made.stderr))
    return json.loads(made.stdout), printed


def shown(site, script):
    return "%s of %s/%s at line %s, %s bytes a step" % (site["verdict"], site["level"], site["kind"],
                                                        line_in(script, site), site["rate_bytes_per_step"])


def what_is_wrong(pythons, script, variant, folder):
    report, printed = report_on(pythons, script, variant, folder)
    expected = {name: int(size) for name, size in re.findall(r"^expect (\w+) (\d+)$", printed, re.MULTILINE)}
    sites = {site["id"]: site for site in report["sites"]}
    leaks = [sites[i] for i in report["ranking"]]
    parts = [site for site in report["sites"] if site["part_of"]]
    wrong = ["a line with more than the peak" for peak in report["peak_lines"]
             for size in [peak["other_bytes"], *(line[key] for line in peak["lines"] for key in ("bytes", "peak_without"))]
             if size > peak["live"]]
    if not expected:
        wrong += ["no leak, but: " + shown(site, script) for site in leaks + parts]
        wrong += ["not judged: " + shown(site, script) for site in report["sites"]
                  if site["verdict"] == "insufficient_evidence" and site["level"] == "framework"]
        return wrong
    lines = marked_lines(script)
    names = {line: name for name, line in lines.items()}
    rates = collections.Counter()
    for site in leaks + parts:
        name = names.get(line_in(script, site))
        if name is None:
            wrong.append("not a marked line: " + shown(site, script))
        rates[name] += site["rate_bytes_per_step"]
    for name, size in expected.items():
        if rates[name] != size:
            wrong.append("%s (line %d): %s bytes a step, and should be %d" % (name, lines.get(name, 0), rates[name], size))
    if len(leaks) != 1:
        wrong += ["%d findings of one leak: %s" % (len(leaks), shown(site, script)) for site in leaks]
    elif leaks[0]["verdict"] not in LEAK_VERDICTS:
        wrong.append("the finding: " + shown(leaks[0], script))
    elif leaks[0]["group"]["rate_bytes_per_step"] != sum(expected.values()):
        wrong.append("all of it: %s bytes a step" % leaks[0]["group"]["rate_bytes_per_step"])
    return wrong


def main():
    runs = [(name, variant) for name in SCRIPTS for variant in ("leaky", "fixed")]
    runs += [("lookalikes", name) for name in LOOKALIKES]
    if len(sys.argv) > 1:
        runs = [tuple(argument.split(":")) for argument in sys.argv[1:]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, forking_python.Pythons() as pythons, \
            concurrent.futures.ThreadPoolExecutor(2) as executor:
        def check(run):
            try:
                return what_is_wrong(pythons, os.path.join(LEAKS, run[0] + ".py"), run[1], os.environ.get("KEEP", folder))
            except Exception as error:
                return [str(error)]

        for run, wrong in zip(runs, executor.map(check, runs)):
            print("%-32s %s" % (" ".join(run), "wrong" if wrong else "right"), flush=True)
            for line in wrong:
                print("  " + line)
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
