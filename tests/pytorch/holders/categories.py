# SPDX-License-Identifier: Apache-2.0
"""Prints, as PyTorch knows it, how many bytes of its blocks each category has when the program ends."""
import json

import torch
import torch.nn as nn

from variant import BATCH

GRANULE = 512  # of the caching allocator's blocks


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3000, 96)
        self.body = nn.Sequential(nn.Linear(96, 300), nn.BatchNorm1d(300), nn.ReLU(), nn.Linear(300, 96))
        self.head = nn.Linear(96, 3000, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("scale", torch.ones(700), persistent=False)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens)) * self.scale[:1])


net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(20):
    output = net(torch.randint(0, 3000, (BATCH,), device="cuda"))
    output.sum().backward()
    optimizer.step()
    del output


def block_bytes(tensors):
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors if t.is_cuda}
    return sum(-(-size // GRANULE) * GRANULE for size in sizes.values())


state = [value for of_parameter in optimizer.state.values() for value in of_parameter.values() if torch.is_tensor(value)]
print(json.dumps({"parameters": block_bytes(net.parameters()), "gradients": block_bytes(p.grad for p in net.parameters()),
                  "optimizer_state": block_bytes(state), "buffers": block_bytes(net.buffers())}))
