# SPDX-License-Identifier: Apache-2.0
"""Keeps 4 KiB of each of 60 steps, and gives as much back. For tools/test-aarch64."""

import ctypes

cudart = ctypes.CDLL("libcudart.so.13")
tracer = ctypes.CDLL(None)
kept = []


def allocate():
    pointer = ctypes.c_void_p()
    assert cudart.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4096)) == 0
    return pointer


def leak():
    kept.append(allocate())


for number in range(60):
    passing = allocate()
    leak()
    assert cudart.cudaFree(passing) == 0
    tracer.vramtrack_step(ctypes.c_uint64(number), ctypes.c_double(0))
