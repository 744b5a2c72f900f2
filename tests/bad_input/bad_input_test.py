#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: bad_input_test.py VRAMTRACK MAKE_BAD_TRACE TABLE: what is said of each trace of make_bad_trace: the table has the exit
code of `report --exit-code`, how its text (or the one line on stderr) begins, and what it must and must not say. Every other command
must end by itself and, where it refuses, say why in one line."""
import json
import os
import subprocess
import sys
import tempfile

TIMEOUT_S = 60


def rows(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, code, first, texts = line.rstrip("\n").split("\t")
                yield name, int(code), first, [text for text in texts.split(" && ") if text]


def run(*command):
    # So wide that no line is broken.
    environment = dict(os.environ, LC_ALL="C", COLUMNS="120", NO_COLOR="1")
    ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
    return ran.returncode, ran.stdout.decode("utf-8", "strict"), ran.stderr.decode("utf-8", "strict")


def not_as_numbers_go(value, path="report"):
    """Where a figure of the report is no count: below zero, or not finite."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from not_as_numbers_go(one, path + "." + key)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from not_as_numbers_go(one, "%s[%d]" % (path, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        name = path.rpartition(".")[2]
        signed = any(word in name for word in ("ci", "rate", "per_step", "step", "position", "delta"))
        if value != value or value in (float("inf"), float("-inf")) or (value < 0 and not signed):
            yield "%s is %s" % (path, value)


def what_is_wrong(vramtrack, trace, clean, code, first, texts):
    got, text, errors = run(vramtrack, "report", "--exit-code", "--verbose", trace)
    said = (text or errors).replace(trace, "TRACE")
    joined = " ".join(said.split())
    if got != code:
        yield "exit code %d instead of %d" % (got, code)
    if not " ".join(said.split()).startswith(" ".join(first.split())):
        yield "it begins: " + said.partition("\n")[0]
    for wanted in texts:
        absent = wanted.startswith("! ")
        if (wanted[2 * absent:] in joined) == absent:
            yield ("it says: " if absent else "it does not say: ") + wanted[2 * absent:]
    if code == 2 and (text or errors.count("\n") != 1):
        yield "a refusal is one line on stderr"
    if code != 2 and errors:
        yield "on stderr: " + errors
    again = run(vramtrack, "report", "--exit-code", "--verbose", trace)
    if again != (got, text, errors):
        yield "the second report differs from the first"

    got, text, errors = run(vramtrack, "report", "--exit-code", "--format", "json", trace)
    if got != code:
        yield "exit code %d of the JSON instead of %d" % (got, code)
    if got != 2:
        yield from not_as_numbers_go(json.loads(text))

    for command in (["info", trace], ["dump", trace], ["diff", trace, clean], ["diff", clean, trace], ["check", trace],
                    ["check", trace, "--baseline", clean]):
        got, text, errors = run(vramtrack, *command)
        name = " ".join(command).replace(trace, "TRACE").replace(clean, "CLEAN")
        if got not in (0, 1, 2, 3):
            yield "%s: exit code %d" % (name, got)
        if got == 2 and errors.count("\n") != 1:
            yield "%s: not one line on stderr: %s" % (name, errors)
        if code == 2 and got != 2:
            yield "%s: exit code %d, though it is no trace" % (name, got)


def main():
    vramtrack, make, table = (os.path.abspath(path) for path in sys.argv[1:4])
    expected = list(rows(table))
    names = set(run(make)[1].split())
    failed = 0
    if names != {name for name, *_ in expected}:
        print("the table is not about the same traces:", names ^ {name for name, *_ in expected})
        failed += 1
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name + ".vtrace") for name in names}
        for name, path in paths.items():
            subprocess.run([make, name, path], check=True)
        for name, code, first, texts in expected:
            wrong = list(what_is_wrong(vramtrack, paths[name], paths["clean"], code, first, texts))
            print("%-24s %s" % (name, "wrong" if wrong else "right"))
            for line in wrong:
                print("  " + line)
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
