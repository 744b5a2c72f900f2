#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_cupti.py NAME REPORT.json STDERR [DUMP]

Checks that hooks and CUPTI saw the same memory, and prints a line for each difference. Exit code 1 if a kind of memory that
CUPTI reports differs by a byte, 77 if there was no CUPTI. With DUMP, the output of `vramtrack dump`, a line says how many of
the hooked allocations of each kind have a record.
"""
import json
import sys

import check_ways_in

# Of which the driver gives out memory; a mapping is none of its own.
KINDS = ("device", "pitched", "managed", "array", "mipmapped_array", "stream_ordered", "pool", "physical", "pinned",
         "graph_memory")


def differences(activities):
    """(line, whether it is a failure) for each."""
    for only in activities["only_cupti"]:
        library = only["library"] or "an unknown library"
        yield (f"only CUPTI: {only['allocations']} {only['kind']} of {library}, {only['bytes']} bytes, "
               f"{only['live_bytes']} live", False)
    for only in activities["only_hooks"]:
        yield f"only hooks: {only['allocations']} {only['kind']}, {only['bytes']} bytes", only["reported"]
    if activities["other_sizes"]:
        yield f"{activities['other_sizes']} allocations have another size", True
    if activities["dropped"] or activities["unwritten"]:
        yield f"{activities['dropped']} records dropped, {activities['unwritten']} not written", True
    if activities["joined"] == 0:
        yield "nothing was seen by both", True


def recorded(activities, hooked):
    """"KIND N of M" for each kind."""
    without = {only["kind"]: only["allocations"] for only in activities["only_hooks"]}
    return [f"{kind} {hooked[kind][0] - without.get(kind, 0)} of {hooked[kind][0]}" for kind in KINDS
            if kind in hooked and hooked[kind][0]]


def main(arguments):
    name, report, errors, *dump = arguments
    with open(report, encoding="utf-8") as file:
        activities = json.load(file)["processes"][0]["activities"]
    if activities is None:
        with open(errors, encoding="utf-8") as file:
            why = [line.strip() for line in file if "CUPTI" in line]
        print(f"{name}: {why[0] if why else 'no records of CUPTI'}")
        return 77
    code = 0
    print(f"{name}: {activities['joined']} allocations, {activities['joined_bytes']} bytes, seen by both")
    for line, failed in differences(activities):
        print(f"{name}: {line}{' (FAILED)' if failed else ''}")
        code = code or int(failed)
    if dump and not activities["missing"]:
        with open(dump[0], encoding="utf-8") as file:
            print(f"{name}: with a record: {', '.join(recorded(activities, check_ways_in.dumped(file)))}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
