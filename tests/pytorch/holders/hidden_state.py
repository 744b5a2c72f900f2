# SPDX-License-Identifier: Apache-2.0
"""The state of a recurrent network is carried over with its graph, one step deeper each time."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

cell = nn.Linear(WIDTH, WIDTH).cuda()
hidden = torch.zeros(BATCH, WIDTH, device="cuda")
for _ in range(STEPS):
    hidden = torch.tanh(cell(hidden) + torch.rand(BATCH, WIDTH, device="cuda"))
    if FIXED:
        hidden = hidden.detach()
