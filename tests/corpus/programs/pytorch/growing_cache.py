# SPDX-License-Identifier: Apache-2.0
"""A server keeps the keys and values of all tokens of all requests: nobody crops the cache. Corrected, each request of 20
tokens begins with an empty one, which grows and is dropped. A step is a token."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, expect, no_leak

BATCH, HEADS, WIDTH, REQUEST = 4, 8, 64, 20


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(HEADS * WIDTH, 3 * HEADS * WIDTH)
        self.reset()

    def reset(self):
        self.keys = self.values = None

    def forward(self, x):
        query, key, value = (part.view(BATCH, 1, HEADS, WIDTH).transpose(1, 2) for part in self.project(x).chunk(3, -1))
        self.keys = key if self.keys is None else torch.cat((self.keys, key), 2)  # LEAK keys # SITE keys
        self.values = value if self.values is None else torch.cat((self.values, value), 2)  # LEAK values # SITE values
        scores = (query @ self.keys.transpose(2, 3)).softmax(-1)
        return (scores @ self.values).transpose(1, 2).reshape(BATCH, 1, HEADS * WIDTH)


attention = Attention().cuda()
output = nn.Linear(HEADS * WIDTH, HEADS * WIDTH).cuda()
with torch.no_grad():
    for step in range(STEPS):
        if not LEAKY and step % REQUEST == 0:
            attention.reset()
        x = torch.rand(BATCH, 1, HEADS * WIDTH, device="cuda")
        x = output(attention(x)).relu()
        x.sum().item()
PER_STEP = BATCH * HEADS * WIDTH * 4
expect(keys=PER_STEP, values=PER_STEP)
if not LEAKY:
    no_leak(keys="steady|one_time", values="steady|one_time")
