# SPDX-License-Identifier: Apache-2.0
"""An evaluation without torch.no_grad() keeps its outputs, and with each the graph."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 16)).cuda()
predictions = []
with torch.set_grad_enabled(not FIXED):
    for _ in range(STEPS):
        output = net(torch.rand(BATCH, WIDTH, device="cuda"))
        predictions.append(output.cpu() if FIXED else output)
