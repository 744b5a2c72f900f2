"""Feature lab with a bounded cache: candidate features are generated as code, traced with torch.fx and kept in an LRU."""
import gc
import random
import sys
from collections import OrderedDict
import torch
from torch import fx, nn
from truth import tick

rng = random.Random(12)
DEV = "cuda"
WIDTH = 64

TEMPLATES = {
    "fourier": """
class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.outer(torch.linspace(0, 1, {w}, device=DEV), torch.arange({n}, device=DEV).float()))
    def forward(self, x):
        return torch.sin(x @ self.grid)
result = Gen()
""",
    "proj": """
class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear({w}, {n}, device=DEV)
    def forward(self, x):
        return torch.relu(self.inner(x)) + 1.0
result = Gen()
""",
}


class CompiledCache:
    def __init__(self, maxsize=16):
        self.maxsize = maxsize
        self.entries = OrderedDict()
        self.hits = self.serial = 0

    def get(self, key):
        if key in self.entries:
            self.hits += 1
            self.entries.move_to_end(key)
            return self.entries[key]
        fn = self._compile(key)
        self.entries[key] = fn
        while len(self.entries) > self.maxsize:
            self.entries.popitem(last=False)
        return fn

    def _compile(self, key):
        kind, n, variant = key
        source = TEMPLATES[kind].format(n=n, w=WIDTH)
        ns = {"torch": torch, "nn": nn, "DEV": DEV}
        self.serial += 1
        exec(compile(source, f"<gen {self.serial}>", "exec"), ns)
        return fx.symbolic_trace(ns.pop("result"))


def keys(limit):
    """Mostly new candidates, now and then one of the last few again."""
    seen = []
    for i in range(limit):
        if seen and rng.random() < 0.2:
            yield rng.choice(seen[-10:])
        else:
            seen.append((rng.choice(list(TEMPLATES)), rng.choice([64, 128, 192]), i))
            yield seen[-1]


def main(cells):
    cache = CompiledCache()
    x = torch.rand(192, WIDTH, device=DEV)
    y = torch.rand(192, 1, device=DEV)
    for i, key in enumerate(keys(cells)):
        module = cache.get(key)
        take = rng.choice([64, 128, 192])
        z = module(x[:take]).detach()
        head = nn.Linear(z.shape[1], 1).to(DEV)
        opt = torch.optim.SGD(head.parameters(), lr=0.05)
        for _ in range(3):
            loss = (head(z) - y[:take]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if i % 16 == 15:
            gc.collect()
        if i % 40 == 39:
            print(f"cell {i}: cached {len(cache.entries)} hits {cache.hits}")
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
