# SPDX-License-Identifier: Apache-2.0
"""Allocators that PyTorch keeps no counters for: every tensor is an allocation of the driver's."""
import os
import sys

import torch

from watch import case, checkpoint, run_cases

if "PLUGGABLE" in os.environ:
    torch.cuda.memory.change_current_allocator(
        torch.cuda.memory.CUDAPluggableAllocator(os.environ["PLUGGABLE"], "plain_allocate", "plain_free"))


@case
def tensors():
    """Each held tensor is told in the name of the checkpoint: the test compares with the sum of its bytes."""
    held = []
    for i in range(8):
        held.append(torch.empty(1000 << i, device="cuda", dtype=torch.uint8))
        checkpoint("held %d" % sum(x.nbytes for x in held))
    while len(held) > 2:
        held.pop(0)
        checkpoint("held %d" % sum(x.nbytes for x in held))
    held.clear()
    checkpoint("held 0")
    return len(sys.argv)


run_cases()
