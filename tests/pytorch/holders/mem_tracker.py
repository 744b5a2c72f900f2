# SPDX-License-Identifier: Apache-2.0
"""usage: mem_tracker.py MOMENT: a training step of a small GPT. At the moment it asks for a walk, and prints how many bytes
PyTorch's own memory tracker counts then for each category, and how many its graph nodes have saved."""
import json
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import vramtrack
from torch.distributed._tools.mem_tracker import MemTracker

BATCH, TOKENS, WIDTH, HEADS, WORDS = 4, 64, 128, 4, 1000
MOMENT = sys.argv[1]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries_keys_values, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.asks = False
        self.register_buffer("mask", torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril())

    def forward(self, x):
        q, k, v = (part.view(BATCH, TOKENS, HEADS, -1).transpose(1, 2) for part in self.queries_keys_values(self.norm_1(x)).chunk(3, -1))
        weights = (q @ k.transpose(-2, -1)).masked_fill(~self.mask, -1e9).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
        up = F.gelu(self.up(self.norm_2(x)))
        if self.asks:
            ask("in_forward", x, up)
        return x + self.down(up)


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def saved_bytes(*outputs):
    """What the graphs of these tensors keep, apart from parameters and buffers."""
    nodes, sizes = [output.grad_fn for output in outputs if output.grad_fn], {}
    for node in nodes:
        for name in dir(node):
            saved = getattr(node, name) if name.startswith("_saved_") else None
            if isinstance(saved, torch.Tensor):
                sizes[saved.untyped_storage().data_ptr()] = -(-saved.untyped_storage().nbytes() // 512) * 512
        nodes += [behind for behind, _ in node.next_functions if behind and behind not in nodes]
    for tensor in (*model.parameters(), *model.buffers()):
        sizes.pop(tensor.data_ptr(), None)
    return sum(sizes.values())


def ask(moment, *outputs):
    if moment != MOMENT:
        return
    asked = vramtrack.holders()
    known = {str(kind).rpartition(".")[2]: size for device, sizes in tracker.get_tracker_snapshot("current").items()
             for kind, size in sizes.items() if device.type == "cuda"}
    print(json.dumps({"asked": asked, "allocated": torch.cuda.memory_allocated(), "parameters": known["PARAM"],
                      "gradients": known["GRAD"], "optimizer_state": known["OPT"], "buffers": known["BUFFER"],
                      "activations": known["ACT"] + known["TEMP"], "saved_for_backward": saved_bytes(*outputs)}))


tracker = MemTracker()
with tracker:
    model = Gpt().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(3):
        tracker.reset_mod_stats()
        tokens = torch.randint(0, WORDS, (BATCH, TOKENS), device="cuda")
        model.blocks[1].asks = step == 2
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        if step == 2:
            ask("after_forward", loss)
        loss.backward()
        if step == 2:
            ask("after_backward")
        optimizer.step()
        if step == 2:
            ask("after_step")
        optimizer.zero_grad()
        if step == 2:
            ask("after_zero_grad")
