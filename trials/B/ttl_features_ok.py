"""Recommender: user features live 30 time units in a TTL cache; traffic swells and ebbs."""
import heapq
import math
import random
import sys

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120


class Clock:
    now = 0.0

    @classmethod
    def advance(cls, dt):
        cls.now += dt


class TTLCache:
    def __init__(self, ttl):
        self.ttl, self.values, self.deadlines = ttl, {}, []

    def _expire(self):
        while self.deadlines and self.deadlines[0][0] <= Clock.now:
            _, key = heapq.heappop(self.deadlines)
            self.values.pop(key, None)

    def __contains__(self, key):
        self._expire()
        return key in self.values

    def __getitem__(self, key):
        return self.values[key]

    def __setitem__(self, key, value):
        self.values[key] = value
        heapq.heappush(self.deadlines, (Clock.now + self.ttl, key))


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = nn.GRU(32, 64, batch_first=True)
        self.items = nn.Embedding(400, 64)

    def user(self, events):
        return self.history(events)[0]

    def score(self, user_states, items):
        return torch.einsum("td,nd->tn", user_states, self.items(items)).amax(0)


class Recommender:
    def __init__(self):
        self.towers = Towers().cuda().eval()
        self.cache = TTLCache(ttl=30.0)

    @torch.no_grad()
    def recommend(self, user, events, n_items):
        if user not in self.cache:
            clicks = torch.randn(1, events, 32, device="cuda")
            self.cache[user] = self.towers.user(clicks)[0].clone()
        items = torch.randint(0, 400, (n_items,), device="cuda")
        return self.towers.score(self.cache[user], items).topk(3).indices.cpu()


def main():
    rng = random.Random(30)
    rec = Recommender()
    for i in range(STEPS):
        rec.recommend(rng.randrange(10000), rng.choice([16, 32, 64]), rng.randint(20, 60))
        load = 1.0 + 0.6 * math.sin(2 * math.pi * i / 45)
        Clock.advance(rng.expovariate(load))
        tick()
    print("cached users:", len(rec.cache.values))


if __name__ == "__main__":
    main()
