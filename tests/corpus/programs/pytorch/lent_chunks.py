# SPDX-License-Identifier: Apache-2.0
"""Chunks of weights are lent to another process in every step. The memory of each is the lender's until the other one lets go
of it, which the leaky one never does."""
import torch
import torch.multiprocessing as multiprocessing
import vramtrack

from ground_truth import LEAKY, STEPS, block_bytes, expect

ROWS, COLUMNS = 64, 256


def borrow(chunks, done):
    kept = []
    for _ in range(STEPS):
        chunk = chunks.get()
        if LEAKY:
            kept.append(chunk)
        del chunk
        done.put(True)
    done.get()


def lend(chunks, done):
    net = torch.nn.Linear(COLUMNS, COLUMNS).cuda()
    with torch.no_grad():
        for update in range(STEPS):
            weights = torch.rand(ROWS, COLUMNS, device="cuda")
            chunks.put(torch.tanh(net(weights)))  # LEAK chunk
            done.get()
            torch.cuda.ipc_collect()
            vramtrack.step(update)


context = multiprocessing.get_context("fork")
chunks, done = context.Queue(), context.Queue()
borrower = context.Process(target=borrow, args=(chunks, done), daemon=True)
borrower.start()
lend(chunks, done)
# The queue's own thread makes an event for each.
expect(chunk=block_bytes(ROWS, COLUMNS), elsewhere=0)
