# SPDX-License-Identifier: Apache-2.0
"""autocast keeps the half-precision copy of every parameter that it meets until its outermost context ends. Here it is
entered once for a service whose adapters are loaded for each request."""
import contextlib

import torch
import torch.nn.functional as F
import vramtrack

from ground_truth import LEAKY, STEPS, block_bytes, expect

WIDTH = 256


def answer():
    weight = torch.rand(WIDTH, WIDTH, device="cuda").requires_grad_()  # LEAK weight
    x = torch.rand(8, WIDTH, device="cuda")
    return F.linear(x, weight).sum().item()  # LEAK cast


with torch.autocast("cuda", dtype=torch.float16) if LEAKY else contextlib.nullcontext():
    for request in range(STEPS):
        with torch.autocast("cuda", dtype=torch.float16):
            answer()
        vramtrack.step(request)
expect(weight=block_bytes(WIDTH, WIDTH), cast=block_bytes(WIDTH, WIDTH, item=2))
