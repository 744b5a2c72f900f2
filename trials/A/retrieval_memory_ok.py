"""Contrastive pretraining with a key memory for hard negatives (image-text style, two small towers)."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

DIM = 128


class Tower(nn.Module):
    def __init__(self, d_in, width=192):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, DIM))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class KeyMemory(nn.Module):
    """The newest SIZE keys and the ids of the items they came from."""

    SIZE = 1280

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(0, DIM), persistent=False)
        self.register_buffer("ids", torch.zeros(0, dtype=torch.long), persistent=False)

    @torch.no_grad()
    def enqueue(self, keys, ids):
        self.keys = torch.cat([self.keys, keys.detach()])[-self.SIZE:].clone()
        self.ids = torch.cat([self.ids, ids])[-self.SIZE:].clone()

    def negatives(self, k, rng):
        n = self.keys.shape[0]
        if n <= k:
            return self.keys
        start = rng.randrange(n - k)
        return self.keys[start:start + k]


def info_nce(q, k, neg, tau=0.07):
    pos = (q * k).sum(-1, keepdim=True)
    logits = torch.cat([pos, q @ neg.t()], dim=1) / tau
    return F.cross_entropy(logits, torch.zeros(q.shape[0], dtype=torch.long, device=q.device))


@torch.no_grad()
def recall_probe(query, key, rng):
    a = torch.randn(rng.randint(20, 80), 96, device="cuda")
    b = torch.randn(a.shape[0], 160, device="cuda")
    return (query(a) @ key(b).t()).topk(5, dim=1).indices


def main(steps):
    rng = random.Random(7)
    query, key, memory = Tower(96).cuda(), Tower(160).cuda(), KeyMemory().cuda()
    opt = torch.optim.AdamW([*query.parameters(), *key.parameters()], lr=3e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=max(steps, 1))
    for step in range(steps):
        b = rng.randint(24, 40)
        left = torch.randn(b, 96, device="cuda")
        right = torch.randn(b, 160, device="cuda")
        ids = torch.arange(step * 40, step * 40 + b, device="cuda")
        q, k = query(left), key(right)
        loss = info_nce(q, k, memory.negatives(256, rng))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        memory.enqueue(k, ids)
        if step % 15 == 14:
            recall_probe(query, key, rng)
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
