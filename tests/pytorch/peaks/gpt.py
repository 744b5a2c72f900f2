# SPDX-License-Identifier: Apache-2.0
"""usage: gpt.py forward|backward|step early|late|end [marked]

Trains a small GPT-2 with Adam and makes its peak come at a moment of the last steps that it knows: after the forward pass,
after the backward pass or after the optimizer's step. Prints what is live at that moment and what for, as one object of
JSON: {category: bytes}, from the tensors themselves: the model's parameters and buffers, their .grad, the optimizer's
state, what autograd has saved, the batch; and "spike", the one that makes the peak. The second argument says when gradients
are dropped: before the forward pass (early), after it (late) or after the optimizer's step (end); `marked`: the script
itself says where a step ends.
"""
import collections
import json
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

MOMENT, DROP, MARKED = sys.argv[1], sys.argv[2], "marked" in sys.argv
if MARKED:
    import vramtrack
STEPS = 40
VOCABULARY, WIDTH, HEADS, LAYERS, BATCH, LENGTH = 4000, 256, 4, 4, 4, 128


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (z.view(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2)
                   for z in self.qkv(self.norm1(x)).split(WIDTH, 2))
        scores = (q @ k.transpose(2, 3) / 8).softmax(-1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.register_buffer("order", torch.arange(LENGTH))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(self.order)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Storages:
    """Blocks of the caching allocator, by what they are for; the first category that claims one has it."""

    def __init__(self):
        self._categories = {}

    def add(self, category, tensor):
        if tensor is not None and tensor.is_cuda:
            storage = tensor.untyped_storage()
            if storage.nbytes():
                self.add_address(category, storage.data_ptr())

    def add_address(self, category, address):
        self._categories.setdefault(address, category)

    def sums(self):
        """Of blocks as the allocator rounded them; what nobody claims is `unclaimed`."""
        sums = collections.Counter()
        for segment in torch.cuda.memory_snapshot():
            address = segment["address"]
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    sums[self._categories.get(address, "unclaimed")] += block["size"]
                address += block["size"]
        return sums


saved = []  # storages that autograd keeps, while it keeps them


def pack(tensor):
    storage = tensor.untyped_storage()
    if tensor.is_cuda:
        saved.append((StorageWeakRef(storage), storage.data_ptr()))
    return tensor


def live(model, optimizer, batch, results):
    """What is live and what for. `results`: tensors that the step still holds."""
    storages = Storages()
    for tensor in list(model.parameters()) + list(model.buffers()):
        storages.add("parameters", tensor)
    for parameter in model.parameters():
        storages.add("gradients", parameter.grad)
    for state in optimizer.state.values():
        for tensor in state.values():
            storages.add("optimizer_state", tensor)
    storages.add("input", batch)
    for tensor in results:
        storages.add("activations", tensor)
    for weak, address in saved:
        if not weak.expired():
            storages.add_address("activations", address)
    return storages.sums()


def main():
    model = GPT().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    truth = None

    def moment(name, step, batch, results):
        nonlocal truth
        if name != MOMENT or step < STEPS - 2:
            return
        sums = live(model, optimizer, batch, results)
        # More than any other moment has.
        spike = torch.empty((200 + 2 * step) << 20, dtype=torch.uint8, device="cuda")
        truth = dict(sums, spike=spike.untyped_storage().nbytes())
        assert sum(truth.values()) == torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated()
        del spike

    for step in range(STEPS):
        saved.clear()
        batch = torch.randint(0, VOCABULARY, (BATCH, LENGTH), device="cuda")
        if DROP == "early":
            optimizer.zero_grad()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            logits = model(batch)
            loss = F.cross_entropy(logits.view(-1, VOCABULARY), batch.view(-1))
        moment("forward", step, batch, [logits, loss])
        if DROP == "late":
            optimizer.zero_grad()
        loss.backward()
        moment("backward", step, batch, [logits, loss])
        optimizer.step()
        moment("step", step, batch, [logits, loss])
        if DROP == "end":
            optimizer.zero_grad()
        del batch, logits, loss
        if MARKED:
            vramtrack.step(step)
    print(json.dumps(truth))


main()
