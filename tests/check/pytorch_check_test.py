#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramtrack check` on a PyTorch job and on two ranks under torchrun: exit codes, the user's line, and formats that agree."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.realpath(__file__))
JOB = os.path.join(HERE, "pytorch_job.py")
LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", "interpose/libvramtrack.so"))
VRAMTRACK = os.path.abspath(os.environ.get("VRAMTRACK_PROGRAM", "analyzer/vramtrack"))
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
STEPS, TIMEOUT_S = "60", 120
STEP_BYTES = 2048 * 256 * 4  # that the job keeps
with open(JOB, encoding="utf-8") as source:
    LEAK_LINE = next(number for number, line in enumerate(source, 1) if line.endswith("# LEAK\n"))
failures = []


def run(command, **kwargs):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT_S, **kwargs)


def trace(folder, name, *arguments, launcher=()):
    made = os.path.join(folder, name)
    os.mkdir(made)
    environment = dict(os.environ, VRAMTRACK_OUTPUT=os.path.join(made, "%p.vtrace"),
                       SIMCUDA_DEVICES="2", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                       SIMCUDA_BACKED="1" if launcher else "0",  # ranks compare their parameters
                       LD_PRELOAD=":".join([LIBRARY] + os.environ.get("LD_PRELOAD", "").split()))
    ran = run([sys.executable, *launcher, JOB, *arguments], env=environment, cwd=HERE)
    if ran.returncode != 0:
        raise RuntimeError("%s: exit code %d: %s" % (name, ran.returncode, ran.stderr[-2000:]))
    return made


def expect(what, is_right, detail=""):
    if not is_right:
        failures.append("%s %s" % (what, detail))


def check(code, *arguments):
    """Standard output."""
    ran = run([VRAMTRACK, "check", "--source-root", HERE, *arguments])
    expect("check %s: exit code %d instead of %d" % (" ".join(arguments), ran.returncode, code), ran.returncode == code,
           ran.stdout + ran.stderr)
    if code == 2:
        expect("one line of error", ran.stderr.count("\n") == 1, ran.stderr)
    return ran.stdout


def check_formats(leaks, *arguments):
    """All formats name the same findings, the leaks at the user's own line. `leaks`: how many there are to be."""
    report = json.loads(check(1, "--format", "json", *arguments))
    failed = [finding for finding in report["findings"] if finding["status"] == "failed"]
    own = [finding for finding in failed if finding["rule"] == "leak"]
    expect("findings", len(own) == leaks and all(
        (finding["file"], finding["line"]) == ("pytorch_job.py", LEAK_LINE) for finding in own), json.dumps(failed)[:2000])
    named = sorted((finding["rule"], finding["file"] or "", finding["line"] or 0) for finding in failed)

    commands = re.findall(r"^::error (.*?)::(.*)$", check(1, "--format", "github", *arguments), re.MULTILINE)
    places = [dict(item.split("=", 1) for item in properties.split(",")) for properties, _ in commands]
    expect("GitHub", sorted((place.get("file", ""), int(place.get("line", 0))) for place in places) ==
           sorted(finding[1:] for finding in named), str(commands))

    (sarif,) = json.loads(check(1, "--format", "sarif", *arguments))["runs"]
    errors = []
    for result in sarif["results"]:
        physical = [location["physicalLocation"] for location in result.get("locations", ()) if "physicalLocation" in location]
        if result["level"] == "error":
            errors.append((result["ruleId"], physical[0]["artifactLocation"]["uri"] if physical else "",
                           physical[0]["region"]["startLine"] if physical else 0))
    expect("SARIF", sorted(errors) == named, "%s instead of %s" % (errors, named))
    expect("SARIF's exit code", sarif["invocations"][0]["exitCode"] == 1)

    cases = xml.fromstring(check(1, "--format", "junit", *arguments)).findall("testsuite/testcase")
    rules = {case.get("name") for case in cases if case.find("failure") is not None}
    expect("JUnit", rules == {finding["rule"] for finding in failed}, str(rules))
    text = [case.find("failure").text or "" for case in cases if case.get("name") == "leak" and case.find("failure") is not None]
    expect("JUnit's place", not own or any("pytorch_job.py:%d" % LEAK_LINE in one for one in text), str(text))


def check_runs(fixed, leaky, devices, folder):
    """A leak is one finding a device."""
    budgets = os.path.join(folder, "budgets.toml")
    check(0, fixed)
    check_formats(devices, leaky)
    with open(budgets, "w", encoding="utf-8") as file:
        file.write("[budget]\nleak = \"%d B\"\npeak = \"1 GiB\"\n" % (2 * STEP_BYTES))
    check(0, leaky, "--budget", budgets)
    with open(budgets, "w", encoding="utf-8") as file:
        file.write("[budget]\nleak = \"%d B\"\npeak = \"1 MiB\"\n" % (STEP_BYTES // 2))
    expect("the budget's rules", {"leak", "peak"} <= {
        finding["rule"] for finding in json.loads(check(1, leaky, "--budget", budgets, "--format", "json"))["findings"]})
    check_formats(devices, leaky, "--baseline", fixed)
    check(0, leaky, "--baseline", leaky)
    check(0, fixed, "--baseline", leaky)


def main():
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as executor:
        runs = {name: executor.submit(trace, folder, name, *arguments, launcher=launcher) for name, arguments, launcher in (
            ("fixed", (STEPS,), ()), ("leaky", (STEPS, "leaky"), ()), ("short", ("3", "leaky"), ()),
            ("ranks", (STEPS,), TORCHRUN), ("leaky_ranks", (STEPS, "leaky"), TORCHRUN))}
        fixed, leaky, short, ranks, leaky_ranks = [made.result() for made in runs.values()]
        check(3, short)
        check(2, os.path.join(folder, "missing"))
        check(2, leaky, "--baseline", os.path.join(folder, "missing"))
        check_runs(fixed, leaky, 1, folder)
        check_runs(ranks, leaky_ranks, 2, folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
