"""Small causal language model on ragged batches, with a prefetcher, a mask cache and per-vocabulary loss statistics."""
import queue
import random
import sys
import threading
from collections import OrderedDict, deque

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

VOCAB, D, HEADS = 1024, 64, 4


class MaskCache:
    def __init__(self, size=12):
        self.size, self.masks = size, OrderedDict()

    def get(self, n):
        if n not in self.masks:
            self.masks[n] = torch.full((n, n), float("-inf"), device="cuda").triu(1)
            if len(self.masks) > self.size:
                self.masks.popitem(last=False)
        self.masks.move_to_end(n)
        return self.masks[n]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.ff = nn.Sequential(nn.LayerNorm(D), nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.norm = nn.LayerNorm(D)

    def forward(self, x, mask):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-1, -2) * (D // HEADS) ** -0.5 + mask).softmax(-1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(b, t, D))
        return x + self.ff(x)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.blocks, self.masks = nn.Embedding(VOCAB, D), nn.ModuleList([Block(), Block()]), MaskCache()

    def forward(self, ids):
        x, mask = self.emb(ids), self.masks.get(ids.shape[1])
        for b in self.blocks:
            x = b(x, mask)
        return x @ self.emb.weight.t()


class VocabLossLog:
    def __init__(self):
        self.rows = []

    def add(self, ids, token_loss):
        per_word = torch.zeros(VOCAB, device="cuda")  # SITE main
        per_word.index_add_(0, ids.flatten(), token_loss.flatten())
        self.rows.append(per_word)  # SITE

    def worst(self, k=10, last=20):
        return torch.stack(self.rows[-last:]).mean(0).topk(k).indices


def prefetch(n, out, rng):
    for _ in range(n):
        out.put((rng.randint(2, 6), rng.randint(12, 48)))
    out.put(None)


def main(steps):
    rng = random.Random(23)
    model, log = LM().cuda(), VocabLossLog()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    shapes = queue.Queue(4)
    threading.Thread(target=prefetch, args=(steps, shapes, random.Random(29)), daemon=True).start()
    recent = deque(maxlen=5)  # for the sample printer
    step = 0
    while (shape := shapes.get()) is not None:
        ids = torch.randint(VOCAB, shape, device="cuda")
        logits = model(ids[:, :-1])
        token_loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        token_loss.mean().backward()
        if step % 3 == 2:  # accumulation
            opt.step()
            opt.zero_grad(set_to_none=True)
        log.add(ids[:, 1:], token_loss.detach())
        recent.append((ids, logits.detach().argmax(-1)))
        if step % 30 == 29:
            with torch.no_grad():
                for _ in range(3):
                    model(torch.randint(VOCAB, (8, rng.randint(20, 60)), device="cuda"))
            log.worst()
        step += 1
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
