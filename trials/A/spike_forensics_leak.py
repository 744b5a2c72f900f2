"""Tabular classifier with a hook system; loss spikes are recorded so that the bad batches can be looked at later."""
import random
import sys
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick


class ResidualMLP(nn.Module):
    def __init__(self, d=128, classes=20, depth=3):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
                                     for _ in range(depth)])
        self.head = nn.Linear(d, classes)

    def forward(self, x):
        for b in self.blocks:
            x = x + b(x)
        return self.head(x)  # SITE


class Hooks:
    def __init__(self):
        self._by_name = defaultdict(list)

    def on(self, name):
        def register(fn):
            self._by_name[name].append(fn)
            return fn
        return register

    def emit(self, name, **kw):
        for fn in self._by_name[name]:
            fn(**kw)


class SpikeForensics:
    """The trigger stands for 'loss above 4 sigma'; the drawing is seeded so that runs repeat."""

    def __init__(self, rate=0.1):
        self.rng = random.Random(31)
        self.rate = rate
        self.cases = []
        self.window = []

    def after_step(self, step, x, y, logits, loss):
        self.window = (self.window + [loss.detach()])[-20:]
        if self.rng.random() < self.rate:
            self.cases.append({"step": step, "x": x, "y": y, "logits": logits.detach(),  # SITE
                               "recent": torch.stack(self.window)})  # SITE

    def report(self):
        return [(c["step"], tuple(c["x"].shape)) for c in self.cases]


def batches(n, rng):
    for i in range(n):
        b = rng.choice((16, 32, 32, 32, 48))
        x = torch.randn(b, 128, device="cuda")  # SITE main
        y = torch.randint(20, (b,), device="cuda")  # SITE
        yield i, x, y


def main(steps):
    rng = random.Random(3)
    model = ResidualMLP().cuda()
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9)
    hooks, forensics = Hooks(), SpikeForensics()
    hooks.on("after_step")(forensics.after_step)

    @hooks.on("after_step")
    def validate(step, **_):
        if step % 25 == 24:
            model.eval()
            with torch.no_grad():
                for _ in range(4):
                    model(torch.randn(rng.randint(40, 90), 128, device="cuda")).argmax(-1)
            model.train()

    for step, x, y in batches(steps, rng):
        logits = model(x)  # SITE
        loss = F.cross_entropy(logits, y, label_smoothing=0.1)
        loss.backward()
        opt.step()
        opt.zero_grad()
        hooks.emit("after_step", step=step, x=x, y=y, logits=logits, loss=loss)
        tick()
    print(len(forensics.report()), "cases")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
