#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: exit_codes_test.py VRAMTRACK MAKE_TRACE LIBRARY PAGE

docs/exit-codes.md, row by row: each example is run and must exit as its row says. The rows are all commands that --help has, and
of each command the codes that its own --help has.
"""
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

ROW = re.compile(r"^\| \[?`(\w+)`(?:\]\([\w-]+\.md\))? \| ([^|]+) \| [^|]+ \| `vramtrack ([^`|]+)` \|$", re.MULTILINE)
TRACES = {"leaky": "leak", "clean": "clean", "short": "short", "empty": "nothing"}
# Traces of processes that run, and what each adds to the walks in its header page when it is asked.
RUNNING = {"running": 1, "silent": 0}
RUNNING_PROGRAM = """
import mmap, struct, sys, time
control, requests, walks = 24 + 8 * 15, 24 + 8 * 30, 24 + 8 * 31  # offsets of the counters
with open(sys.argv[1], "r+b") as file:
    page = mmap.mmap(file.fileno(), 4096)
page[control] |= 32  # it answers
print("mapped", flush=True)
while True:
    if page[requests] > page[walks] and sys.argv[2] == "1":
        page[walks] += 1
    time.sleep(0.01)
"""
# A process that may be joined, also where only ancestors may trace (prctl of PR_SET_PTRACER).
OTHER_PROGRAM = """
import ctypes, time
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
print("ready", flush=True)
time.sleep(600)
"""
# What the examples make of the codes that have no number.
OF_THE_EXAMPLE = {"COMMAND's": 7, "COMMAND's signal": -signal.SIGTERM}


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def running_processes(make_trace, folder):
    """Starts a process for each of RUNNING, and one that is not traced, whose number it returns."""
    processes = []
    try:
        for name, answers in RUNNING.items():
            trace = os.path.join(folder, name)
            subprocess.run([make_trace, "killed", trace], check=True)
            processes.append(subprocess.Popen([sys.executable, "-c", RUNNING_PROGRAM, trace, str(answers)], text=True,
                                              env=dict(os.environ, VRAMTRACK_HOLDERS="request"), stdout=subprocess.PIPE))
            processes[-1].stdout.readline()
        processes.append(subprocess.Popen([sys.executable, "-c", OTHER_PROGRAM], text=True, stdout=subprocess.PIPE))
        processes[-1].stdout.readline()
        yield processes[-1].pid
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def main(program, make_trace, library, page):
    program, make_trace, library = map(os.path.abspath, (program, make_trace, library))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    rows = ROW.findall(text)
    table = text[text.index("| command | code |"):].split("\n\n")[0]
    wrong = []
    if len(rows) != table.count("\n") - 1:
        wrong.append("a row of the table is written otherwise than the others")
    commands = set(re.findall(r"^  vramtrack (\w+) ", printed(program, "help", "--all"), re.MULTILINE))
    if not commands or commands != {command for command, _, _ in rows}:
        wrong.append("--help has the commands %s" % ", ".join(sorted(commands)))
    for command in sorted(commands):
        told = re.search(r"Exit code: (.*?)\.(?:\s|$)", printed(program, command, "--help"), re.DOTALL)
        codes = set(re.findall(r"\b\d+\b", told.group(1))) if told else None
        shown = {code for name, code, _ in rows if name == command and code not in OF_THE_EXAMPLE}
        if codes != shown:
            wrong.append("vramtrack %s --help has the codes %s" % (command, codes))
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in TRACES.items():
            subprocess.run([make_trace, kind, os.path.join(folder, name)], check=True)
        with open(os.path.join(folder, "no-program"), "w", encoding="utf-8"):
            pass
        with running_processes(make_trace, folder) as pid:
            for command, code, example in rows:
                words = [str(pid) if word == "PID" else word for word in shlex.split(example)]
                expected = OF_THE_EXAMPLE[code] if code in OF_THE_EXAMPLE else int(code)
                ran = subprocess.run([program] + words, cwd=folder, env=dict(os.environ, VRAMTRACK_LIBRARY=library),
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
                if words[0] != command or ran.returncode != expected:
                    wrong.append("vramtrack %s: exit code %d: %s" % (example, ran.returncode, ran.stderr.strip()))
                if ran.returncode == 2 and not ran.stderr.strip():
                    wrong.append("vramtrack %s: exit code 2 without a word" % example)
    if wrong:
        sys.exit("\n".join(["docs/exit-codes.md and the program differ:"] + wrong))
    print("%d examples exit as their rows say" % len(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
