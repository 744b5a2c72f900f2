# SPDX-License-Identifier: Apache-2.0
"""Arrays that one thread makes and two others drop, one of them from a pool of threads."""
import os
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import cupy
import vramtrack

vramtrack.trace_cupy()
made = queue.Queue(maxsize=4)


def consume():
    while made.get() is not None:
        pass


thread = threading.Thread(target=consume)
thread.start()
with ThreadPoolExecutor(1) as executor:
    for number in range(200):
        made.put(cupy.empty((256, 1024), cupy.float32))
        executor.submit(len, cupy.empty((128 + number % 16, 1024), cupy.float32)).result()
        vramtrack.step(number)
made.put(None)
thread.join()
kept = cupy.empty(1000, cupy.float32)
print("live", cupy.get_default_memory_pool().used_bytes(), cupy.get_default_memory_pool().total_bytes(), flush=True)
os._exit(0)  # no array is freed any more
