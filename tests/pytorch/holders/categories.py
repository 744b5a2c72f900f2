# SPDX-License-Identifier: Apache-2.0
"""Prints, as PyTorch knows it, how many bytes of its blocks each category and each module has when the program ends."""
import collections
import json

import torch
import torch.nn as nn

from variant import BATCH

GRANULE = 512  # of the caching allocator's blocks


class Counted:
    """A class before nn.Module, as many projects have."""

    def parameter_count(self):
        return sum(parameter.numel() for parameter in self.parameters())


class Net(Counted, nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3000, 96)
        self.body = nn.Sequential(nn.Linear(96, 300), nn.BatchNorm1d(300), nn.ReLU(), nn.Linear(300, 96))
        self.head = nn.Linear(96, 3000, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("scale", torch.ones(700), persistent=False)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens)) * self.scale[:1])


class Wrapper(nn.Module):
    """Has a list of all parameters, as DistributedDataParallel does."""

    def __init__(self, module):
        super().__init__()
        self.all_parameters = list(module.parameters())
        self.module = module

    def forward(self, tokens):
        return self.module(tokens)


model = Wrapper(Net().cuda())
# What a loop leaves behind are other names of the last module and parameter.
for layer in model.module.body:
    for parameter in layer.parameters():
        parameter.requires_grad_()
optimizer = torch.optim.AdamW(model.parameters())
losses = []
for _ in range(20):
    loss = model(torch.randint(0, 3000, (BATCH,), device="cuda")).sum()
    loss.backward()
    optimizer.step()
    losses.append(loss)


def block_bytes(tensors):
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors if t.is_cuda}
    return sum(-(-size // GRANULE) * GRANULE for size in sizes.values())


state = [value for of_parameter in optimizer.state.values() for value in of_parameter.values() if torch.is_tensor(value)]
modules = collections.defaultdict(int)
for tensors in (model.named_parameters(), model.named_buffers()):
    for name, tensor in tensors:
        modules["model." + name.rpartition(".")[0]] += block_bytes([tensor] if tensor.grad is None else [tensor, tensor.grad])
print(json.dumps({"modules": modules, "categories": {
    "parameters": block_bytes(model.parameters()), "gradients": block_bytes(p.grad for p in model.parameters()),
    "optimizer_state": block_bytes(state), "buffers": block_bytes(model.buffers()), "saved_for_backward": 0}}))
