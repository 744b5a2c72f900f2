"""Sequence autoencoder under a length curriculum with mixed precision; the position table follows the longest length so far."""
import math
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

D = 48


class PositionTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(0, D), persistent=False)

    def forward(self, n, device):
        if self.table.shape[0] < n:
            pos = torch.arange(n, device=device, dtype=torch.float32)[:, None]
            freq = torch.exp(torch.arange(0, D, 2, device=device) * (-math.log(1e4) / D))
            self.table = torch.cat([torch.sin(pos * freq), torch.cos(pos * freq)], dim=1)
        return self.table[:n]


class AutoEncoder(nn.Module):
    def __init__(self, vocab=300):
        super().__init__()
        self.emb, self.positions = nn.Embedding(vocab, D), PositionTable()
        self.enc = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))
        self.score, self.out = nn.Linear(D, D), nn.Linear(D, vocab)

    def forward(self, ids):
        h = self.enc(self.emb(ids) + self.positions(ids.shape[1], ids.device))
        att = (self.score(h) @ h.transpose(1, 2) / math.sqrt(D)).softmax(-1)
        return self.out(att @ h)


class Curriculum:
    """From 16 to 96 tokens, 8 more every 5 steps, with some jitter downwards."""

    def __init__(self, rng):
        self.rng, self.step = rng, 0

    def next_shape(self):
        top = min(16 + 8 * (self.step // 5), 96)
        self.step += 1
        return self.rng.choice((4, 6, 8)), top - self.rng.choice((0, 0, 1, 3))


class Trainer:
    def __init__(self, rng):
        self.model, self.rng = AutoEncoder().cuda(), rng
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cuda")
        self.last_batch = None  # for the nan inspector

    def accumulate(self, shapes):
        for shape in shapes:
            ids = torch.randint(300, shape, device="cuda")
            with torch.autocast("cuda", dtype=torch.float16):
                logits = self.model(ids)
                loss = F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()) / len(shapes)
            self.scaler.scale(loss).backward()
            self.last_batch = {"ids": ids, "logits": logits.detach()}

    def step(self, shapes):
        self.accumulate(shapes)
        self.scaler.unscale_(self.opt)
        nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
        self.scaler.step(self.opt)
        self.scaler.update()
        self.opt.zero_grad(set_to_none=True)


def main(steps):
    rng = random.Random(8)
    trainer, plan = Trainer(rng), Curriculum(rng)
    while plan.step < steps:
        shape = plan.next_shape()
        trainer.step([shape, (2, shape[1])])
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
