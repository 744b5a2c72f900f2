"""Embedding worker around a pretrained encoder with activation taps; requests come from client threads."""
import queue
import random
import sys
import threading

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick


class TappedEncoder(nn.Module):
    """Encoder for linear-probe studies: each stage leaves its activation in `taps`."""

    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(40, 96)
        self.up = nn.Linear(96, 256)
        self.gate = nn.Linear(96, 256)
        self.down = nn.Linear(256, 96)
        self.norm = nn.LayerNorm(96)
        self.out = nn.Linear(96, 32)
        self.taps = []

    def tap(self, h):
        self.taps.append(h.detach())  # SITE
        return h

    def forward(self, x):
        h = self.tap(self.inp(x))  # SITE
        u = self.tap(self.up(h))  # SITE
        g = self.tap(torch.sigmoid(self.gate(h)))  # SITE
        m = self.tap(torch.cat([u * g, u], dim=-1))  # SITE main
        h = self.tap(self.norm(h + self.down(m[..., :256])))  # SITE
        pooled = self.tap(h.mean(dim=1))  # SITE
        return self.tap(F.normalize(self.out(pooled), dim=-1))  # SITE

    def probe(self, x):
        """All stages of one input, for the study notebooks."""
        self.taps.clear()
        self(x)
        return list(self.taps)


class Worker(threading.Thread):
    def __init__(self, model, inbox):
        super().__init__()
        self.model, self.inbox = model, inbox
        self.served = 0

    def run(self):
        while True:
            job = self.inbox.get()
            if job is None:
                return
            shape, reply = job
            with torch.inference_mode():
                x = torch.randn(*shape, 40, device="cuda")
                reply.put(self.model(x).cpu().shape)
            self.served += 1
            del x
            tick()


def client(inbox, rng, n):
    reply = queue.Queue()
    for _ in range(n):
        inbox.put(((rng.randint(1, 4), rng.choice((8, 16, 24))), reply))
        reply.get()


def main(requests):
    model = TappedEncoder().cuda().eval()
    stages = [tuple(t.shape) for t in model.probe(torch.randn(1, 8, 40, device="cuda"))]
    print("stages", stages)
    inbox = queue.Queue()
    worker = Worker(model, inbox)
    worker.start()
    share = [requests // 3, requests // 3, requests - 2 * (requests // 3)]
    clients = [threading.Thread(target=client, args=(inbox, random.Random(40 + i), n)) for i, n in enumerate(share)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    inbox.put(None)
    worker.join()
    print("served", worker.served)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
