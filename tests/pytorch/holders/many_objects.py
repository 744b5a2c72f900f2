# SPDX-License-Identifier: Apache-2.0
"""A job with ten million objects on the host. A walk ends before it has seen all of them, and knows who holds the outputs all the same."""
import gc

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

gc.disable()  # for time
examples = [[number] for number in range(10000000)]
net = nn.Linear(WIDTH, WIDTH).cuda()
outputs = []
with torch.no_grad():
    for step in range(STEPS):
        output = net(torch.rand(BATCH, WIDTH, device="cuda"))
        outputs.append(output.mean().item() if FIXED else output)
