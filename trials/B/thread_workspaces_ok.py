"""Pooling service: executor threads with thread-local scratch that grows to the largest request."""
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
_local = threading.local()


class Workspace:
    CAP = 512

    def __init__(self, width):
        self.width, self.rows = width, 0
        self.scratch = self.accum = None

    def reserve(self, rows):
        if rows > self.CAP:
            raise ValueError("request too large: %d rows" % rows)
        if rows > self.rows:
            self.rows = 1 << (rows - 1).bit_length()
            self.scratch = self.accum = None
            self.scratch = torch.empty(self.rows, self.width, device="cuda")
            self.accum = torch.empty(self.rows, 1, device="cuda")
        return self.scratch[:rows], self.accum[:rows]


def workspace(width):
    ws = getattr(_local, "ws", None)
    if ws is None:
        torch.set_grad_enabled(False)
        ws = _local.ws = Workspace(width)
    return ws


class Pooler:
    def __init__(self):
        self.proj = nn.Linear(48, 64).cuda().eval()
        self.gate = nn.Linear(64, 1).cuda().eval()

    def __call__(self, rows):
        scratch, accum = workspace(64).reserve(rows)
        x = torch.randn(rows, 48, device="cuda")
        scratch.copy_(self.proj(x))
        accum.copy_(self.gate(scratch).sigmoid())
        result = (scratch * accum).sum(0).cpu()
        del x
        tick()
        return result.shape[0]


def request_sizes(n, rng):
    for _ in range(n):
        yield min(Workspace.CAP, int(rng.lognormvariate(5.2, 0.8)) + 1)


def main():
    pooler, total = Pooler(), 0
    with ThreadPoolExecutor(max_workers=4, thread_name_prefix="pool") as pool:
        window = []
        for rows in request_sizes(STEPS, random.Random(14)):
            window.append(pool.submit(pooler, rows))
            if len(window) >= 12:
                total += window.pop(0).result()
        total += sum(f.result() for f in window)
    print("pooled", total // 64)


if __name__ == "__main__":
    main()
