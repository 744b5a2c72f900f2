# SPDX-License-Identifier: Apache-2.0
"""Takes and gives back device memory through ctypes, on two threads, and starts a child that uses no CUDA."""

import ctypes
import subprocess
import sys
import threading

ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
runtime = ctypes.CDLL(None)  # as a program sees it that was linked with the runtime


def work():
    block = ctypes.c_void_p()
    for size in range(1, 11):
        assert runtime.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(size << 20)) == 0
        assert runtime.cudaFree(block) == 0


for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
subprocess.run(["true"], check=True)
print("done")
