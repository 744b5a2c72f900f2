#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a dumped trace with what the traced program says it did.

usage: check_ways_in.py WAY DUMP PROGRAM.stdout

The program prints a line `KIND ALLOCATIONS FREES FAILURES BYTES` for each kind (tests/ways_in/programs/tally.h); DUMP is
the output of `vramtrack dump`. Prints a row of the matrix, with the differences after it. The runtime's own contexts,
modules and libraries are allowed in addition to the program's.
Exit code 0 if all agree, 1 if not, 2 if there is nothing to compare.
"""

import collections
import sys

FAMILIES = (
    ("device", ("device", "pitched", "managed")),
    ("arrays", ("array", "mipmapped_array")),
    ("pools", ("stream_ordered", "pool", "memory_pool")),
    ("virtual", ("physical", "mapping", "address_range")),
    ("host", ("pinned", "registered")),
    ("graph memory", ("graph_memory",)),
    ("handles", ("stream", "event", "graph", "graph_exec")),
)
NOTHING = (0, 0, 0, 0)


def header():
    return f"{'way in':<28}" + "".join(f"  {name}" for name, _ in FAMILIES)


def printed(lines):
    counts = {}
    for line in lines:
        words = line.split()
        if len(words) == 5 and all(word.isdigit() for word in words[1:]):
            counts[words[0]] = tuple(int(word) for word in words[1:])
    return counts


def dumped(lines):
    """By kind: allocations, frees, failures, bytes."""
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    kinds = {}
    for line in lines:
        words = line.split()
        if len(words) < 9 or words[0].startswith("#"):
            continue
        operation, kind, size, allocation = words[2], words[3], words[5], words[7]
        if operation == "allocate":
            counts[kind][0] += 1
            counts[kind][3] += int(size)
            kinds[allocation] = kind
        elif operation == "free":
            counts[kinds.get(allocation, kind)][1] += 1
        elif operation == "fail":
            counts[kind][2] += 1
    return {kind: tuple(values) for kind, values in counts.items()}


def row(way, expected, found):
    """The line of the matrix and what is wrong."""
    line, wrong = f"{way:<28}", []
    for family, kinds in FAMILIES:
        called = any(kind in expected for kind in kinds)
        bad = [kind for kind in kinds if expected.get(kind, NOTHING) != found.get(kind, NOTHING)]
        line += f"  {'NO' if bad else 'ok' if called else '-':<{len(family)}}"
        wrong += [f"{kind}: the program {expected.get(kind, NOTHING)}, the trace {found.get(kind, NOTHING)}" for kind in bad]
    return line, wrong


def main(arguments):
    if len(arguments) == 1 and arguments[0] == "--header":
        print(header())
        return 0
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    way, dump, out = arguments
    with open(out, encoding="utf-8") as file:
        expected = printed(file)
    with open(dump, encoding="utf-8") as file:
        found = dumped(file)
    if not expected:
        print(f"{way}: the program printed nothing to compare with", file=sys.stderr)
        return 2
    line, wrong = row(way, expected, found)
    print(line)
    for text in wrong:
        print(f"{way}: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
