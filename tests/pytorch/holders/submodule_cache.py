# SPDX-License-Identifier: Apache-2.0
"""A layer deep in a model keeps the keys of all steps: a cache that nobody resets."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(64, WIDTH)
        self.past_keys = []

    def forward(self, hidden):
        self.past_keys.append(self.key(hidden))
        return hidden

    def reset(self):
        self.past_keys.clear()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.output = nn.Linear(64, 64)

    def forward(self, hidden):
        return self.output(self.attention(hidden))


model = nn.Sequential(Block()).cuda().eval()
with torch.inference_mode():
    for _ in range(STEPS):
        model(torch.rand(BATCH, 64, device="cuda"))
        if FIXED:
            model[0].attention.reset()
