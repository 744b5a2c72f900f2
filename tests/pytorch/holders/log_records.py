# SPDX-License-Identifier: Apache-2.0
"""A log handler keeps its records until something is worth to be written, and each record the tensors of its message."""
import logging
import logging.handlers

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

handler = logging.handlers.MemoryHandler(capacity=1_000_000, target=logging.NullHandler())
log = logging.getLogger("train")
log.addHandler(handler)
log.setLevel(logging.DEBUG)
log.propagate = False
net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    log.debug("step %d: output %s", step, output.shape if FIXED else output.detach())
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
