# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel makes its buckets when it wraps a model, and once more after the first step."""
import os

# The ranks compare what they have, in memory of the device.
os.environ["SIMCUDA_BACKED"] = "1"

import torch
import torch.nn as nn

from ground_truth import STEPS, no_leak

WIDTH = 128
torch.distributed.init_process_group("nccl", rank=0, world_size=1, store=torch.distributed.HashStore())
net = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)).cuda()
net = nn.parallel.DistributedDataParallel(net, device_ids=[0])  # SITE buckets
optimizer = torch.optim.AdamW(net.parameters())
for step in range(STEPS):
    net(torch.rand(16, WIDTH, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
no_leak(buckets="one_time|steady")
torch.distributed.destroy_process_group()
