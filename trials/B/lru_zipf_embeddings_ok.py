"""Document embedding endpoint with an LRU cache; keys follow a Zipf law as page views do."""
import bisect
import collections
import itertools
import random
import sys

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120


class LRU:
    def __init__(self, capacity):
        self.capacity = capacity
        self.data = collections.OrderedDict()
        self.hits = self.misses = 0

    def fetch(self, key, make):
        if key in self.data:
            self.hits += 1
            self.data.move_to_end(key)
            return self.data[key]
        self.misses += 1
        value = make(key)
        self.data[key] = value
        if len(self.data) > self.capacity:
            self.data.popitem(last=False)
        return value


class DocEncoder(nn.Module):
    def __init__(self, vocab=1000, width=128):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, width, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(width, 256), nn.GELU(), nn.Linear(256, width))

    def forward(self, ids):
        return self.mlp(self.emb(ids))


class Zipf:
    def __init__(self, n, s, rng):
        self.rng = rng
        self.cumulative = list(itertools.accumulate(1 / (i + 1) ** s for i in range(n)))

    def draw(self):
        return bisect.bisect(self.cumulative, self.rng.random() * self.cumulative[-1])


class Endpoint:
    def __init__(self):
        self.encoder = DocEncoder().cuda().eval()
        self.cache = LRU(45)

    def _encode(self, doc):
        passages = 8 + doc * 7 % 25
        ids = torch.randint(0, 1000, (passages, 24), device="cuda")
        return self.encoder(ids)

    @torch.inference_mode()
    def similarity(self, left, right):
        a, b = self.cache.fetch(left, self._encode), self.cache.fetch(right, self._encode)
        return (a @ b.T).max().cpu()


if __name__ == "__main__":
    zipf = Zipf(5000, 0.9, random.Random(17))
    endpoint = Endpoint()
    last = zipf.draw()
    for _ in range(STEPS):
        doc = zipf.draw()
        endpoint.similarity(last, doc)
        last = doc
        tick()
    print("hits %d misses %d" % (endpoint.cache.hits, endpoint.cache.misses))
