# SPDX-License-Identifier: Apache-2.0
"""Pins batches of many lines, of which one keeps its own. The traced half of a test in graph_pools_test.py.

usage: pinned_pool.py leaky|fixed STEPS
"""
import sys

import torch
import vramtrack

LEAKY, STEPS = sys.argv[1] == "leaky", int(sys.argv[2])
torch.zeros(1, device="cuda")
kept = []


def keep():
    return torch.zeros(50000).pin_memory()


def borrow_first(step):
    return torch.zeros(40000 + step * 7919 % 20000).pin_memory()


def borrow_second(step):
    return torch.zeros(45000 + step * 104729 % 15000).pin_memory()


for step in range(STEPS):
    # All are of one size of the pool's. Who asks when none of it is free makes the pool grow.
    order = [keep, lambda: borrow_first(step), lambda: borrow_second(step)]
    blocks = [order[(step + i) % 3]() for i in range(3)]
    if LEAKY:
        kept.append(blocks[-step % 3])
    del blocks
    vramtrack.step(step)
