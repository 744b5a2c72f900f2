"""Multi-tenant text scoring: one base model, a LoRA adapter per tenant, LRU of recent answers."""
import collections
import random
import sys

import torch
import torch.nn.functional as F
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
WIDTH, RANK = 256, 8


class Lora:
    def __init__(self, rank=RANK, width=WIDTH):
        self.a = torch.randn(rank, width).to("cuda", non_blocking=True)  # SITE main
        self.b = torch.zeros(width, rank).to("cuda", non_blocking=True)  # SITE main

    def __call__(self, x):
        return F.linear(F.linear(x, self.a), self.b)


class AdapterHub:
    """Gives the adapter set of a tenant; adapters come from the object store on first use."""

    def __init__(self, layers):
        self.layers = layers
        self.loaded = {}

    def for_tenant(self, tenant):
        try:
            return self.loaded[tenant]
        except KeyError:
            self.loaded[tenant] = adapters = [Lora() for _ in range(self.layers)]  # SITE
            return adapters


class BaseModel(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.emb = nn.Embedding(500, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids, adapters):
        x = self.emb(ids)
        for layer, lora in zip(self.layers, adapters):
            x = x + F.gelu(layer(self.norm(x)) + 0.5 * lora(x))
        return x.mean(1)


class AnswerCache:
    def __init__(self, size):
        self.size, self.items = size, collections.OrderedDict()

    def get(self, key):
        if key in self.items:
            self.items.move_to_end(key)
            return self.items[key]
        return None

    def put(self, key, value):
        self.items[key] = value
        while len(self.items) > self.size:
            self.items.popitem(last=False)


class Router:
    def __init__(self):
        self.model = BaseModel().cuda().eval()
        self.hub = AdapterHub(layers=2)
        self.cache = AnswerCache(24)

    @torch.no_grad()
    def handle(self, tenant, prompt, batch):
        key = tenant, prompt
        hit = self.cache.get(key)
        if hit is None:
            ids = torch.randint(0, 500, (batch, 12), device="cuda")
            hit = self.model(ids, self.hub.for_tenant(tenant))
            self.cache.put(key, hit)
        return hit


def traffic(n, rng):
    tenants = ["acme"]
    for _ in range(n):
        if rng.random() < 0.35:
            tenants.append("tenant-%05d" % len(tenants))
            yield tenants[-1], 0, rng.randint(1, 8)
        else:
            yield rng.choice(tenants[-20:]), rng.randint(0, 3), rng.randint(1, 8)


if __name__ == "__main__":
    router = Router()
    for tenant, prompt, batch in traffic(STEPS, random.Random(35)):
        router.handle(tenant, prompt, batch)
        tick()
    print("answers cached", len(router.cache.items))
