# SPDX-License-Identifier: Apache-2.0
"""Pins memory in many ways, and prints what it keeps. The traced half of pinned_pool_test.py.

usage: pinned_pool.py MODE STEPS
"""
import json
import queue
import sys
import threading

import torch
import vramtrack
from torch.utils.data import DataLoader, TensorDataset

MODE, STEPS = sys.argv[1], int(sys.argv[2])
torch.zeros(1, device="cuda")
kept = []


def keep():
    return torch.zeros(50000).pin_memory()  # LINE keep


def borrow_first(step):
    return torch.zeros(40000 + step * 7919 % 20000).pin_memory()


def borrow_second(step):
    return torch.empty(45000 + step * 104729 % 15000, pin_memory=True)


def in_turn(step):
    """All are of one size of the pool's. Who asks when none of it is free makes the pool grow."""
    order = [keep, lambda: borrow_first(step), lambda: borrow_second(step)]
    blocks = [order[(step + i) % 3]() for i in range(3)]
    return blocks[-step % 3]


def leaky(step):
    kept.append(in_turn(step))


def fixed(step):
    in_turn(step)


def buffers(step):
    """A lookalike: as many as are ever in use at once, then no more."""
    kept.append(keep())
    del kept[:-16]


def copies(step):
    """Blocks wait for a copy that is under way: they are free for the program, not yet for the pool."""
    block = keep()
    copied = block.cuda(non_blocking=True)
    del block, copied


def loader(step):
    batches = DataLoader(TensorDataset(torch.zeros(64, 100)), batch_size=8, pin_memory=True)
    for (batch,) in batches:
        if batch.is_pinned():
            batch.cuda(non_blocking=True)


given_away = queue.Queue()


def free_others():
    while given_away.get() is not None:
        pass


def threads(step):
    """Another thread frees."""
    given_away.put(keep())


freeing = threading.Thread(target=free_others, daemon=True)
freeing.start()
for step in range(STEPS):
    globals()[MODE](step)
    vramtrack.step(step)
given_away.put(None)
freeing.join()
storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage() for tensor in kept if tensor.is_pinned()}
vramtrack.step(STEPS)
stats = getattr(torch.cuda, "host_memory_stats", dict)()
print(json.dumps({
    "kept": sorted([address, storage.nbytes()] for address, storage in storages.items()),
    # Blocks that are in use; 2.8 has other names, and calls the whole pool reserved.
    "active": stats.get("active_bytes.current", stats.get("allocated_bytes.current")),
}))
