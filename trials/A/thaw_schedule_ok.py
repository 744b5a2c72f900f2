"""Finetuning with gradual unfreezing: the head first, then one encoder layer every ten steps; EMA of what is trained."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick


class Encoder(nn.Module):
    def __init__(self, d=96, depth=5):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
                                     for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


class Thaw:
    def __init__(self, encoder, opt, every=10):
        self.waiting, self.opt, self.every = list(encoder.layers), opt, every
        encoder.requires_grad_(False)

    def maybe(self, step):
        if step == 0 or step % self.every or not self.waiting:
            return
        layer = self.waiting.pop()
        layer.requires_grad_(True)
        scale = 0.7 ** (len(self.opt.param_groups))
        self.opt.add_param_group({"params": list(layer.parameters()), "lr": 1e-3 * scale})


class Ema:
    def __init__(self, decay=0.99):
        self.decay, self.shadow = decay, {}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue
            if name in self.shadow:
                self.shadow[name].lerp_(p, 1 - self.decay)
            else:
                self.shadow[name] = p.detach().clone()


def evaluate(model, rng):
    with torch.no_grad():
        return [model(torch.randn(rng.randint(30, 70), 96, device="cuda")).argmax(-1).shape for _ in range(3)]


def main(steps):
    rng = random.Random(21)
    encoder, head = Encoder(), nn.Linear(96, 8)
    model = nn.Sequential(encoder, head).cuda()
    opt = torch.optim.AdamW(head.parameters(), lr=1e-3)
    thaw, ema = Thaw(encoder, opt), Ema()
    for step in range(steps):
        thaw.maybe(step)
        x = torch.randn(rng.choice((16, 24, 40)), 96, device="cuda")
        y = torch.randint(8, (len(x),), device="cuda")
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad(set_to_none=False)
        loss.backward()
        opt.step()
        ema.update(model)
        if step % 18 == 17:
            evaluate(model, rng)
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
