# SPDX-License-Identifier: Apache-2.0
"""Device memory without a framework."""
import ctypes
import os

_runtime = None


def runtime():
    global _runtime
    if _runtime is None:
        _runtime = ctypes.CDLL(os.environ.get("CUDA_RUNTIME", "libcudart.so.13"))
    return _runtime


def allocate(size):
    address = ctypes.c_void_p()
    assert runtime().cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)) == 0
    return address


def free(address):
    assert runtime().cudaFree(address) == 0
