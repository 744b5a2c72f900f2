"""Tagger training with weight averaging ("soup") once the learning rate has settled."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick


class Tagger(nn.Module):
    def __init__(self, vocab=400, d=64, tags=17):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.mix = nn.ModuleList([nn.Linear(3 * d, d) for _ in range(2)])
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, tags)

    def forward(self, ids):
        h = self.emb(ids)
        for layer in self.mix:
            ctx = torch.cat([h.roll(1, 1), h, h.roll(-1, 1)], -1)
            h = h + F.gelu(layer(ctx))
        return self.out(self.norm(h))


class Callback:
    def on_step_end(self, trainer): ...
    def on_fit_end(self, trainer): ...


class LossMeter(Callback):
    def __init__(self):
        self.total = torch.zeros((), device="cuda")

    def on_step_end(self, trainer):
        self.total += trainer.loss.detach()


class SoupCallback(Callback):
    def __init__(self, start=30, every=2):
        self.start, self.every = start, every
        self.ingredients = []

    def on_step_end(self, trainer):
        if trainer.step < self.start or trainer.step % self.every:
            return
        weights = {n: p.detach().clone() for n, p in trainer.model.named_parameters()}  # SITE main
        self.ingredients.append(weights)  # SITE

    def on_fit_end(self, trainer):
        if not self.ingredients:
            return
        with torch.no_grad():
            for n, p in trainer.model.named_parameters():
                p.copy_(sum(w[n] for w in self.ingredients) / len(self.ingredients))


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks, self.step, self.loss = model, callbacks, 0, None
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, max_lr=0.2, total_steps=10_000)

    def fit(self, batches):
        for ids, tags in batches:
            logits = self.model(ids)
            self.loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten())
            self.opt.zero_grad()
            self.loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.sched.step()
            for cb in self.callbacks:
                cb.on_step_end(self)
            self.step += 1
            tick()
        for cb in self.callbacks:
            cb.on_fit_end(self)


def sentences(n, rng):
    for _ in range(n):
        shape = (rng.choice((4, 8, 12)), rng.randint(6, 40))
        yield torch.randint(400, shape, device="cuda"), torch.randint(17, shape, device="cuda")


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    Trainer(Tagger().cuda(), [LossMeter(), SoupCallback()]).fit(sentences(n, random.Random(5)))
