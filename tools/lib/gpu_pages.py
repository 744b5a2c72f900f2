#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: gpu_pages.py LIBCUDART [REPORT]

Takes memory of many sizes with cudaMalloc, keeps a part of it, and asks the driver how much is used: traced, it prints the bytes
that were used before and those that it has taken. With the report of that run as JSON it checks that the two explain what the
driver says is used: the analyzer's model of the driver's pages.
"""
import ctypes
import json
import sys

SIZES = (256, 4096, 100 << 10, 300 << 10, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20, 33 << 20)


def take(path):
    runtime = ctypes.CDLL(path)

    def used():
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        if runtime.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) != 0:
            sys.exit("cudaMemGetInfo failed")
        return total.value - free.value

    before, kept = used(), []
    for size in SIZES:
        for i in range(20):
            pointer = ctypes.c_void_p()
            if runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) != 0:
                sys.exit("cudaMalloc failed")
            if i % 3 == 2:
                runtime.cudaFree(pointer)
            else:
                kept.append(pointer)
    print(json.dumps({"before": before, "taken": used() - before}))
    sys.stdout.flush()
    # Nothing is freed until the trace ends.


def check(report, told):
    device = report["devices"][0]
    modelled = device["fragmentation"]["reserved"]
    print("taken %d, by the model of the driver's pages %d" % (told["taken"], modelled))
    return int(modelled != told["taken"])


if __name__ == "__main__":
    if len(sys.argv) == 2:
        take(sys.argv[1])
    else:
        with open(sys.argv[1], encoding="utf-8") as output, open(sys.argv[2], encoding="utf-8") as report_file:
            sys.exit(check(json.load(report_file), json.loads(output.read().splitlines()[0])))
