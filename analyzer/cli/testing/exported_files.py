#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: exported_files.py REPORT.json NAME

Reads NAME.torch-snapshot, NAME.speedscope and so on with what Python has, and compares them with the report of the same
trace. Exit code 1 where they disagree.
"""
import csv
import gzip
import json
import pickle
import sys


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} instead of {expected}")


class NoCode(pickle.Unpickler):
    """Viewers read no pickle that names a class or a function."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}")


def torch_snapshot(path, live):
    with open(path, "rb") as file:
        snapshot = NoCode(file).load()
    check("live in the snapshot", sum(block["size"] for segment in snapshot["segments"] for block in segment["blocks"]
                                      if block["state"] == "active_allocated"), live)
    for segment in snapshot["segments"]:
        check("blocks of a segment", sum(block["size"] for block in segment["blocks"]), segment["total_size"])
        check("live of a segment", segment["allocated_size"], segment["active_size"])
    # Going back from the moment through all that happened, nothing is left.
    held = {segment["address"]: segment["total_size"] for segment in snapshot["segments"]}
    for event in reversed(snapshot["device_traces"][0]):
        if event["action"] == "segment_alloc":
            check("allocated", held.pop(event["addr"], None), event["size"])
        elif event["action"] == "segment_free":
            held[event["addr"]] = event["size"]
    check("held before the first event", held, {})
    given = {block["address"]: block["size"] for segment in snapshot["segments"] for block in segment["blocks"]
             if block["state"] == "active_allocated"}
    for event in reversed(snapshot["device_traces"][0]):
        if event["action"] == "alloc":
            check("given out", given.pop(event["addr"], None), event["size"])
        elif event["action"] == "free_completed":
            given[event["addr"]] = event["size"]
    check("given out before the first event", given, {})


def speedscope(path, live):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    frames = len(profile["shared"]["frames"])
    for one in profile["profiles"]:
        check("weights", sum(one["weights"]), one["endValue"])
        check("samples", len(one["samples"]), len(one["weights"]))
        check("frames", all(index < frames for sample in one["samples"] for index in sample), True)
    check("live", sum(one["endValue"] for one in profile["profiles"] if "cuda:0" in one["name"]), live)


def main(report_path, name):
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    device = report["devices"][0]
    live = device["peak"]["live"]
    torch_snapshot(name + ".torch-snapshot", live)
    speedscope(name + ".speedscope", live)
    with open(name + ".folded", encoding="utf-8") as file:
        check("folded", sum(int(line.rsplit(" ", 1)[1]) for line in file if ";cuda:0;" in line), live)
    with open(name + ".csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    check("in use", sum(int(row["inuse_bytes"]) for row in rows if row["device"] == "0"), live)
    check("allocations", sum(int(row["alloc_objects"]) for row in rows),
          sum(site["allocations"] for site in report["sites"]))
    check("leaks", {row["function"] for row in rows if row["verdict"] == "leak"},
          {site["frames"][site["blame_frame"]]["function"] for site in report["sites"] if site["verdict"] == "leak"})
    with open(name + ".parquet", "rb") as file:
        parquet = file.read()
    check("parquet's ends", (parquet[:4], parquet[-4:]), (b"PAR1", b"PAR1"))
    with gzip.open(name + ".pprof") as file:
        check("pprof's strings", b"KeepAttention" in file.read(), True)


if __name__ == "__main__":
    main(*sys.argv[1:])
