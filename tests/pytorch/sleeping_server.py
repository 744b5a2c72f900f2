# SPDX-License-Identifier: Apache-2.0
"""usage: sleeping_server.py ALLOCATOR leaky|fixed: weights and a cache sleep between requests. The leaky one keeps a tensor
that does not sleep in each cycle, and releases memory twice in one of them. Prints what the device has in use in each sleep."""
import ctypes
import sys

import torch
import torch.nn as nn

CYCLES = 15
WIDTH = 256
library, leaky = sys.argv[1], sys.argv[2] == "leaky"
ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
calls = ctypes.CDLL(library)
allocator = torch.cuda.memory.CUDAPluggableAllocator(library, "sleeping_allocate", "sleeping_free")
pool = torch.cuda.MemPool(allocator.allocator())
with torch.cuda.use_mem_pool(pool):
    net = nn.Linear(WIDTH, WIDTH).cuda()
    cache = torch.empty(8, 1 << 20, device="cuda")

kept = []
for cycle in range(CYCLES):
    with torch.no_grad():
        for _ in range(4):
            net(torch.rand(4, WIDTH, device="cuda"))
    if leaky:
        kept.append(torch.empty(1 << 20, device="cuda"))  # LEAK
    torch.cuda.empty_cache()
    calls.sleeping_sleep()  # SLEEP
    if leaky and cycle == 7:
        assert calls.sleeping_release_again() != 0  # AGAIN
    free, total = torch.cuda.mem_get_info()
    print("held", total - free)
    assert calls.sleeping_wake() == 1
