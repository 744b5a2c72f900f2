# SPDX-License-Identifier: Apache-2.0
"""usage: same_outcomes.py [--plain N] [--moments WHEN] FILE [PYTEST-ARGUMENT...]: a walk must not change what tests say.

Runs all tests of FILE, such as PyTorch's own test_cuda.py, N times untraced [default: 2] and once with walks through Python's
objects: after each test, and at these moments [default: all]. Outcome and message of each test must be the same. Tests that differ
between the untraced runs are left out and counted. A test that crashes, or says nothing for --patience seconds [default: 300], has that
as its outcome, and the next tests run in a new process. On the simulated device many fail either way, for kernels compute nothing.
VRAMTRACK_LIBRARY names the tracer.
"""
import argparse
import collections
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time

LOG, WALKS = "VRAMTRACK_TEST_OUTCOMES", "VRAMTRACK_TEST_WALKS"
POLL_S = 0.2
FINISHED = (0, 1, 5)  # pytest's exit codes: passed, some failed, no tests left

# As a plugin of pytest. A line of the log is: test, outcome, phase, first line of the error.


def note(*fields):
    with open(os.environ[LOG], "a", encoding="utf-8") as log:
        log.write("\t".join(" ".join(field.split()) for field in fields) + "\n")


def pytest_runtest_logstart(nodeid):
    note(nodeid, "started", "", "")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        lines = crash.message.strip().splitlines() if crash else []
        expected = " as expected" if hasattr(report, "wasxfail") else ""
        note(report.nodeid, report.outcome + expected, report.when, lines[0] if lines else "")


def pytest_runtest_teardown():
    if os.environ.get(WALKS):
        import torch

        ctypes.CDLL(None).vramtrack_holders()
        if torch.cuda.is_available():
            torch.empty(1, device="cuda")  # a walk that is asked for comes with an event, too


# As the program.


def read(log):
    """{test: its (outcome, phase, message), in order}"""
    tests = collections.OrderedDict()
    if os.path.exists(log):
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                test, *outcome = line.rstrip("\n").split("\t")
                found = tests.setdefault(test, [])
                if outcome[0] != "started":
                    found.append(tuple(outcome))
    return tests


def wait(process, log, patience):
    """Returns what became of the process: an exit code, or "hung"."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(POLL_S)
        now = os.path.getsize(log) if os.path.exists(log) else 0
        if now != size:
            size, since = now, time.monotonic()
        if time.monotonic() - since > patience:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "hung"
    return process.returncode


def run(log, arguments, environment):
    command = [sys.executable, "-m", "pytest", "-p", "same_outcomes", "-p", "no:cacheprovider", "-q", "--tb=short", arguments.file]
    here = os.path.dirname(os.path.realpath(__file__))
    environment = dict(os.environ, PYTHONPATH=":".join([here] + os.environ.get("PYTHONPATH", "").split()),
                       PYTHONDONTWRITEBYTECODE="1", **environment, **{LOG: log})
    while True:
        done = read(log)
        left_out = [argument for test in done for argument in ("--deselect", test)]
        with open(log + ".out", "a", encoding="utf-8") as out:
            process = subprocess.Popen(command + arguments.pytest + left_out, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            became = wait(process, log, arguments.patience)
        if became in FINISHED:
            return read(log)
        started = [test for test in read(log) if test not in done]
        if not started:
            with open(log + ".out", encoding="utf-8") as out:
                sys.exit("pytest: %s: %s" % (became, out.read()[-4000:]))
        with open(log, "a", encoding="utf-8") as lines:
            lines.write("%s\tcrashed\tcall\t%s\n" % (started[-1], became))


def counted(tests):
    counts = collections.Counter(outcomes[-1][0] if outcomes else "nothing" for outcomes in tests.values())
    return ", ".join("%d %s" % (count, outcome) for outcome, count in counts.most_common())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[2])
    parser.add_argument("--plain", type=int, default=2)
    parser.add_argument("--moments", default="all")
    parser.add_argument("--patience", type=float, default=300)
    parser.add_argument("file")
    arguments, arguments.pytest = parser.parse_known_args()
    arguments.file = os.path.abspath(arguments.file)
    import under_test

    with tempfile.TemporaryDirectory() as temporary:
        folder = os.environ.get("KEEP", temporary)
        plain = []
        for number in range(arguments.plain):
            plain.append(run(os.path.join(folder, "plain%d" % number), arguments, {}))
            print("untraced: %d tests: %s" % (len(plain[-1]), counted(plain[-1])), flush=True)
        traced = run(os.path.join(folder, "traced"), arguments, {
            WALKS: "1", "VRAMTRACK_HOLDERS": arguments.moments, "VRAMTRACK_OUTPUT": os.path.join(folder, "%p.vtrace"),
            "LD_PRELOAD": under_test.preloaded(os.environ)})
    print("with walks: %d tests: %s" % (len(traced), counted(traced)))
    names = list(collections.OrderedDict.fromkeys(name for tests in plain + [traced] for name in tests))
    unstable = {name for name in names if any(tests.get(name) != plain[0].get(name) for tests in plain)}
    different = [name for name in names if name not in unstable and traced.get(name) != plain[0].get(name)]
    for name in different:
        print("%s\n  untraced   %s\n  with walks %s" % (name, plain[0].get(name), traced.get(name)))
    print("%d of %d tests differ; %d more differ between the untraced runs" % (len(different), len(names), len(unstable)))
    return 1 if different or not names else 0


if __name__ == "__main__":
    sys.exit(main())
