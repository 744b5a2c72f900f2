# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_steps.py [--history python|all] STEPS: times steps of GPT-2 small, as JSON.
       pytorch_steps.py --in-turn STEPS: the same for each line of standard input, as nanoseconds of processor time a step.

124 million parameters, a batch of 8 x 1024 tokens, bfloat16 autocast, AdamW. On the simulated device kernels take no time, so
a step is the work of PyTorch's own host code alone: the worst case for whatever is added to each allocation.
"""
import argparse
import gc
import json
import resource
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS, WIDTH, HEADS, VOCABULARY, BATCH, LENGTH = 12, 768, 12, 50257, 8, 1024
WARM_UP = 20


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (z.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
                   for z in self.qkv(self.norm1(x)).split(WIDTH, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT2(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        y = self.tokens(x) + self.positions(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            y = block(y)
        return self.head(self.norm(y))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--history", choices=("python", "all"))
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("steps", type=int)
    options = parser.parse_args()
    with torch.device("cuda"):
        model = GPT2()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        x = torch.randint(0, VOCABULARY, (BATCH, LENGTH), device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(x).view(-1, VOCABULARY), x.view(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    if options.history:
        torch.cuda.memory._record_memory_history(stacks=options.history)
    for _ in range(WARM_UP):
        step()
    gc.collect()
    gc.disable()
    if options.in_turn:
        print("ready", flush=True)
        for _ in sys.stdin:
            step()  # what other processes have displaced comes back
            used = time.process_time_ns()
            for _ in range(options.steps):
                step()
            print((time.process_time_ns() - used) // options.steps, flush=True)
        return
    allocations = torch.cuda.memory_stats()["allocation.all.allocated"]
    wall, cpu = [], []
    for _ in range(options.steps):
        start, used = time.perf_counter(), time.process_time()
        step()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    allocations = torch.cuda.memory_stats()["allocation.all.allocated"] - allocations
    # The tenth part of the steps that others disturbed least, and the step in the middle.
    print(json.dumps({"steps": options.steps, "cpu_ms": 1e3 * statistics.mean(sorted(cpu)[:len(cpu) // 10 + 1]),
                      "wall_ms": 1e3 * statistics.median(wall), "cpu_median_ms": 1e3 * statistics.median(cpu),
                      "allocations_per_step": allocations / options.steps,
                      "resident_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)
    time.sleep(0.2)


if __name__ == "__main__":
    main()
