# SPDX-License-Identifier: Apache-2.0
"""Takes and gives back device memory through ctypes, on two threads, and starts a child that uses no CUDA."""

import ctypes
import subprocess
import sys
import threading

# By a look-up in the library, and by one in all that is loaded.
loaded = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
everything = ctypes.CDLL(None)


def work(runtime):
    block = ctypes.c_void_p()
    for size in range(1, 11):
        assert runtime.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(size << 20)) == 0
        assert runtime.cudaFree(block) == 0


for library in loaded, everything:
    thread = threading.Thread(target=work, args=[library])
    thread.start()
    thread.join()
subprocess.run(["true"], check=True)
print("done")
