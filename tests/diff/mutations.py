# SPDX-License-Identifier: Apache-2.0
"""What the tests of `vramtrack diff` share: sources with marks, changes to them, and what the diff made of two runs.

A line with the comment `@NAME` is a place of its own. The marks on a stack say which site it is, whatever its lines, files
and functions are called in a variant.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import tempfile

try:
    import jsonschema
except ImportError:  # tools/setup installs it for Python as such, not for that of PyTorch
    jsonschema = None

LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", "interpose/libvramtrack.so"))
VRAMTRACK = os.path.abspath(os.environ.get("VRAMTRACK_PROGRAM", "analyzer/vramtrack"))
PRINT_MATCHES = os.path.abspath(os.environ.get("PRINT_MATCHES", "tests/diff/print_matches"))
SCHEMA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "docs", "diff.schema.json")
TIMEOUT_S = 120
PRECISION, RECALL = 0.99, 0.97
MARK = re.compile(r"(?:#|//) @(\w+)\s*$")


def marks_in(folder):
    """Names by (file name, line) of all sources in a folder."""
    marks = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith((".cc", ".h", ".py")):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if match := MARK.search(line):
                    marks[name, number] = match[1]
    return marks


def site_of(frames, marks):
    """The marks on a stack of (file, line, ...), innermost first."""
    return tuple(marks[key] for file, line, *_ in frames if (key := (os.path.basename(file), line)) in marks)


def run(command, **kwargs):
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=TIMEOUT_S, **kwargs)
    return ran


def diff_of(base, new, *options):
    """(exit code, report)"""
    made = run([VRAMTRACK, "diff", "--format", "json", *options, base, new])
    if made.returncode not in (0, 1, 3):
        raise RuntimeError("diff: exit code %d: %s" % (made.returncode, made.stderr))
    report = json.loads(made.stdout)
    if jsonschema is not None:
        with open(SCHEMA, encoding="utf-8") as file:
            jsonschema.Draft7Validator(json.load(file)).validate(report)
    return made.returncode, report


class Matching:
    """How many of the sites that both runs have were matched, and how many matches are right."""

    def __init__(self, base, new, base_marks, new_marks, renames=()):
        printed = run([PRINT_MATCHES, base, new, *renames])
        if printed.returncode != 0:
            raise RuntimeError("print_matches: " + printed.stderr)
        self.right, self.made, self.possible, self.wrong = 0, 0, 0, []
        olds, nows = set(), set()
        pairs = []
        for line in printed.stdout.splitlines():
            match = json.loads(line)
            old = {site for frames in match["base"] if (site := site_of(frames, base_marks))}
            now = {site for frames in match["new"] if (site := site_of(frames, new_marks))}
            olds |= old
            nows |= now
            if old and now:
                pairs.append((old, now))
        self.possible = len(olds & nows)
        for old, now in pairs:
            self.made += 1
            if old & now:
                self.right += 1
            else:
                self.wrong.append("%s is not %s" % (sorted(old), sorted(now)))
        matched = set().union(*[old & now for old, now in pairs]) if pairs else set()
        self.missing = sorted((olds & nows) - matched)
        self.found = self.possible - len(self.missing)


def findings_of(report, base_marks, new_marks):
    """{(section, innermost mark)} of all sections but moved."""
    found = set()
    for section in ("new", "gone", "grown", "shrunk"):
        for finding in report[section]:
            frames = [(frame["file"], frame["line"]) for frame in finding["frames"]]
            site = site_of(frames, base_marks if section == "gone" else new_marks)
            found.add((section, site[0] if site else "unmarked"))
    return found


def changed_devices(report):
    return sorted({key for key in ("peak", "growth", "fragmentation") for value in report[key] if value["significant"]})


def judge_all(names, prepare):
    """An exit code. `prepare`, given a folder to work in (kept if the environment names one in KEEP), gives what judges a
    name: (what is wrong, matches right, made, sites found, to be found)."""
    right = made = found = possible = failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as executor:
        judge = prepare(os.environ.get("KEEP", folder))
        for name, (wrong, *counts) in zip(names, executor.map(judge, names)):
            print("%-28s %s  %d of %d matches right, %d of %d sites found" % (name, "wrong" if wrong else "right", *counts),
                  flush=True)
            for line in wrong:
                print("  " + line)
            failed += bool(wrong)
            right, made, found, possible = [sum(pair) for pair in zip((right, made, found, possible), counts)]
    precision, recall = right / max(made, 1), found / max(possible, 1)
    print("precision %.4f, recall %.4f of %d sites" % (precision, recall, possible))
    return 1 if failed or precision < PRECISION or recall < RECALL else 0
