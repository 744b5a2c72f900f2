# SPDX-License-Identifier: Apache-2.0
"""Runs one case of backward pass, the traced half of backward_test.py.

Every node of the graph gets a hook that allocates a block of its own size while the node is evaluated, so that the trace
tells what was known of the node. What is true of it says PyTorch's anomaly mode: the traceback of the forward call.
Prints one line of JSON for each: bytes of the block, name of the node, file and line, or nothing for a gradient
accumulator.
"""

import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint

case = sys.argv[1]
probes = {}
kept = []


def probe(size, device):
    torch.empty(size, dtype=torch.uint8, device=device)


def innermost(node):
    """File and line of the innermost frame that made the node; of the node that made it, where there was no Python."""
    while node is not None:
        frames = [entry for entry in node.metadata.get("traceback_", []) if entry.startswith("  File ")]
        if frames:
            _, file, rest = frames[-1].split('"', 2)
            return file, int(rest.split(" line ")[1].split(",")[0].split("\n")[0])
        node = node.metadata.get("parent_")
    return None


def watch(output, device="cuda"):
    """Puts a probe on every node of the graph behind `output` that has none yet; returns it."""
    waiting = [output.grad_fn]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting += [following for following, _ in node.next_functions]
        if "vramtrack_probe" in node.metadata:
            continue
        size = 512 * (len(probes) + 1)
        if size > 1 << 20:  # larger blocks are rounded in other ways
            break
        node.metadata["vramtrack_probe"] = size
        accumulates = "AccumulateGrad" in node.name()
        place = None if accumulates else innermost(node)
        if accumulates or place is not None:
            probes[size] = (node.name(), place)
        node.register_prehook(lambda _, size=size, device=device: probe(size, device))
    return output


def attend(q, k, v):
    if case == "double_backward":  # the fast forms have no second derivative
        return torch.softmax(q @ k.transpose(-2, -1), -1) @ v
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class Block(nn.Module):
    def __init__(self, watched):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.qkv = nn.Linear(64, 192)
        self.out = nn.Linear(64, 64)
        self.up = nn.Linear(64, 256)
        self.down = nn.Linear(256, 64)
        self.watched = watched

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).view(4, 16, 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
        attention = attend(q, k, v)
        x = x + self.out(attention.transpose(1, 2).reshape(4, 16, 64))
        h = F.gelu(self.up(x))
        y = x + self.down(h)
        if self.watched and checking() and torch.is_grad_enabled() and y.grad_fn is not None:
            watch(y)
        return y


class Scale(torch.autograd.Function):
    """Its backward makes nodes and blocks of its own, in Python."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            inner = (y * 2 * grad.detach()).sum()
            if checking():
                watch(inner)
            (result,) = torch.autograd.grad(inner, y)
        return result


class Model(nn.Module):
    def __init__(self, run=lambda block, x: block(x), watched=False):
        super().__init__()
        self.embedding = nn.Embedding(100, 64)
        self.blocks = nn.ModuleList(Block(watched) for _ in range(2))
        self.head = nn.Linear(64, 100)
        self.run = run

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = self.run(block, x)
        return self.head(x)


# The first steps are there to learn from.
STEPS, FIRST_CHECKED = 6, 4
step = 0


def checking():
    return step >= FIRST_CHECKED


def train(model, backward=lambda loss, parameters: loss.backward(), device="cuda"):
    global step
    model = model.to(device)
    optimizer = torch.optim.AdamW([p for p in model.parameters()])
    ids = torch.zeros(4, 16, dtype=torch.long, device=device)
    for step in range(STEPS):
        with torch.autograd.set_detect_anomaly(checking(), check_nan=False):
            loss = F.cross_entropy(model(ids).view(-1, 100), ids.view(-1))
            if checking():
                watch(loss, device)
            optimizer.zero_grad()
            backward(loss, list(model.parameters()))
        optimizer.step()


def double_backward(loss, parameters):
    gradients = torch.autograd.grad(loss, parameters, create_graph=True)
    penalty = sum((g * g).sum() for g in gradients)
    if checking():
        watch(penalty)
    penalty.backward()


def twice(loss, parameters):
    loss.backward(retain_graph=True)
    loss.backward()


def checkpointed(reentrant):
    return lambda block, x: torch.utils.checkpoint.checkpoint(block, x, use_reentrant=reentrant)


def distributed():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2], RANK="0", WORLD_SIZE="1")
    torch.distributed.init_process_group("gloo")
    return nn.parallel.DistributedDataParallel(Model().cuda())


class TwoDevices(nn.Module):
    """The halves of a model on two devices, whose backward passes run on two threads."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(*(nn.Linear(64, 64) for _ in range(30))).to("cuda:0")
        self.second = nn.Sequential(*(nn.Linear(64, 64) for _ in range(30))).to("cuda:1")

    def forward(self, x):
        return self.second(F.gelu(self.first(x)).to("cuda:1"))


def two_devices():
    global step
    model = TwoDevices()
    for step in range(STEPS):
        with torch.autograd.set_detect_anomaly(checking(), check_nan=False):
            loss = model(torch.zeros(4, 64, device="cuda:0")).sum()
            if checking():
                watch(loss)
            loss.backward()


def raising():
    """An exception that leaves one node, and blocks that are of none afterwards; then a step as always."""

    class Raises(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("as it should")

    train(Model())
    x = torch.zeros(4, device="cuda", requires_grad=True)
    for device in ("cuda", "cpu"):  # of an engine's thread and of this one
        try:
            Raises.apply(x.to(device)).sum().backward()
        except ValueError:
            probe(512 * 1500, "cuda")


CASES = {
    "plain": lambda: train(Model()),
    "checkpoint": lambda: train(Model(checkpointed(False), watched=True)),
    "reentrant": lambda: train(Model(checkpointed(True), watched=True)),
    "double_backward": lambda: train(Model(), double_backward),
    "retained": lambda: train(Model(), twice),
    "custom_function": lambda: train(Model(lambda block, x: Scale.apply(block(x)))),
    "two_devices": two_devices,
    "compile_eager": lambda: train(torch.compile(Model(), backend="eager")),
    "compile_aot_eager": lambda: train(torch.compile(Model(), backend="aot_eager")),
    "distributed": lambda: train(distributed()),
    "raising": raising,
}
if case in CASES:
    CASES[case]()
torch.cuda.synchronize()
for bytes_, (name, place) in probes.items():
    print(json.dumps({"bytes": bytes_, "node": name, "place": place}))
# A thread of the engine may still be destroying nodes that have Python hooks. One that asks for the interpreter's lock
# while the interpreter ends is ended in a destructor, which is the end of the process.
time.sleep(0.3)
