# SPDX-License-Identifier: Apache-2.0
"""What the programs share: argv[1] is the runtime, argv[2] the helper library."""

import ctypes
import sys

runtime = ctypes.CDLL(sys.argv[1])
runtime.cudaMalloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
runtime.cudaFree.argtypes = [ctypes.c_void_p]
helper = ctypes.CDLL(sys.argv[2])
helper.use(ctypes.cast(runtime.cudaMalloc, ctypes.c_void_p), ctypes.cast(runtime.cudaFree, ctypes.c_void_p))


def allocate(size):
    block = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(block), size) == 0
    assert runtime.cudaFree(block) == 0
