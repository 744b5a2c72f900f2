# SPDX-License-Identifier: Apache-2.0
"""The thread that writes samples has ended at its first error. Nobody empties its queue."""
import queue
import threading

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class SampleWriter:
    def __init__(self):
        self.pending = queue.Queue()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while True:
            shape = self.pending.get().shape
            self.pending.task_done()
            if not FIXED and shape[0] == BATCH:
                return


net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
writer = SampleWriter()
for _ in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    writer.pending.put(output.detach())
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if FIXED:
        writer.pending.join()
