# SPDX-License-Identifier: Apache-2.0
"""A search tries one model after another; a registry of callbacks keeps every one."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

WIDTH = 128
callbacks = []


class Trial:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.model.cuda()  # LEAK parameters
        if LEAKY:
            callbacks.append(self.stop)

    def stop(self):
        self.model.eval()

    def score(self):
        with torch.no_grad():
            return self.model(torch.rand(16, WIDTH, device="cuda")).sum().item()


for trial in range(STEPS):
    Trial().score()
expect(parameters=2 * (block_bytes(WIDTH, WIDTH) + block_bytes(WIDTH)))
