# SPDX-License-Identifier: Apache-2.0
"""Batches from pinned host memory, by threads and by worker processes."""
import torch
from torch.utils.data import DataLoader, TensorDataset

from models import VOCABULARY, loss_of, model_and_optimizer
from watch import case, checkpoint, run_cases


@case
def pinned_copies():
    x = torch.rand(1 << 18).pin_memory()
    y = x.to("cuda", non_blocking=True)
    checkpoint("copied")
    z = y.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    return x.is_pinned(), z.shape


@case
def loader_with_workers():
    data = TensorDataset(torch.randint(0, VOCABULARY, (64, 16)))
    model, optimizer = model_and_optimizer()
    seen = 0
    for workers in (0, 2):
        for batch, in DataLoader(data, 8, pin_memory=True, num_workers=workers):
            batch = batch.to("cuda", non_blocking=True)
            loss_of(model, batch).backward()
            optimizer.step()
            optimizer.zero_grad()
            seen += len(batch)
    return seen


@case
def persistent_workers():
    loader = DataLoader(TensorDataset(torch.rand(32, 8)), 8, pin_memory=True, num_workers=1, persistent_workers=True)
    return [sum(len(batch.cuda()) for batch, in loader) for _ in range(2)]


if __name__ == "__main__":
    run_cases()
