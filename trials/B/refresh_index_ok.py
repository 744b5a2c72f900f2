"""Embedding search: a refresh thread rebuilds the index while requests go on; deletions come over a bus."""
import queue
import random
import sys
import threading
import weakref

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
REFRESH_EVERY = 8


class DeleteBus:
    def __init__(self):
        self.listeners = []

    def subscribe(self, callback):
        self.listeners.append(weakref.WeakMethod(callback, self.listeners.remove))

    def publish(self, row):
        for ref in list(self.listeners):
            callback = ref()
            if callback is not None:
                callback(row)


class EmbeddingIndex:
    def __init__(self, encoder, rows):
        with torch.no_grad():
            features = torch.randn(rows, 32, device="cuda")
            self.vectors = encoder(features)
            self.norms = self.vectors.norm(dim=1)
        self.deleted = set()

    def on_delete(self, row):
        self.deleted.add(row)

    def search(self, query, k=4):
        scores = (query @ self.vectors.T) / self.norms
        return scores.topk(k + len(self.deleted) % 3).indices.cpu()


class Refresher(threading.Thread):
    def __init__(self, service):
        super().__init__(name="refresh", daemon=True)
        self.service, self.orders, self.rng = service, queue.Queue(), random.Random(1)

    def run(self):
        while self.orders.get():
            fresh = EmbeddingIndex(self.service.encoder, 400 + self.rng.randint(0, 100))
            self.service.install(fresh)
            del fresh
            self.orders.task_done()


class SearchService:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 64)).cuda().eval()
        self.bus, self.lock, self.index = DeleteBus(), threading.Lock(), None
        self.install(EmbeddingIndex(self.encoder, 400))
        self.refresher = Refresher(self)
        self.refresher.start()

    def install(self, index):
        with self.lock:
            self.bus.subscribe(index.on_delete)
            self.index = index

    @torch.no_grad()
    def query(self, batch):
        q = self.encoder(torch.randn(batch, 32, device="cuda"))
        with self.lock:
            return self.index.search(q)


def main():
    rng = random.Random(12)
    service = SearchService()
    for request in range(STEPS):
        service.query(rng.randint(1, 16))
        if rng.random() < 0.2:
            service.bus.publish(rng.randrange(400))
        if request % REFRESH_EVERY == REFRESH_EVERY - 1:
            service.refresher.orders.put("rebuild")
            service.refresher.orders.join()
        tick()
    service.refresher.orders.put(None)
    service.refresher.join()
    print("done")


if __name__ == "__main__":
    main()
