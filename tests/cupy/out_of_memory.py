# SPDX-License-Identifier: Apache-2.0
"""Arrays until the device has no memory left."""
import cupy
import vramtrack

vramtrack.trace_cupy()
kept = []
try:
    while True:
        kept.append(cupy.empty((512, 1024, 1024), cupy.uint8))  # the request
except cupy.cuda.memory.OutOfMemoryError as error:
    print(error)
