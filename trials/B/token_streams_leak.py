"""Token streaming: every request is a generator that yields tokens; a scheduler polls all of them."""
import random
import sys

import torch
import torch.nn.functional as F
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120


class TinyLM(nn.Module):
    def __init__(self, vocab=200, width=64):
        super().__init__()
        self.emb, self.head = nn.Embedding(vocab, width), nn.Linear(width, vocab)
        self.kv, self.q = nn.Linear(width, 2 * width), nn.Linear(width, width)

    def project(self, ids):
        return self.kv(self.emb(ids))  # SITE main

    def attend(self, ids, chunks):
        k, v = torch.cat(chunks, 1).chunk(2, -1)
        y = F.scaled_dot_product_attention(self.q(self.emb(ids)), k, v)
        return self.head(y[:, -1:]).argmax(-1)  # SITE


@torch.no_grad()
def stream_tokens(model, prompt_len, max_new):
    ids = torch.zeros(1, prompt_len, dtype=torch.long, device="cuda")
    chunks = [model.project(ids)]
    for _ in range(max_new):
        ids = model.attend(ids, chunks)
        chunks.append(model.project(ids))
        yield int(ids.shape[-1])


class Connection:
    def __init__(self, rid, patience):
        self.rid, self.patience, self.received = rid, patience, 0

    def send(self, token):
        self.received += 1
        return self.received < self.patience


class StreamHub:
    def __init__(self, model):
        self.model = model
        self.streams = {}
        self.connections = {}

    def open(self, conn, prompt_len, max_new):
        self.streams[conn.rid] = stream_tokens(self.model, prompt_len, max_new)  # SITE
        self.connections[conn.rid] = conn

    def poll(self):
        for rid, conn in list(self.connections.items()):
            try:
                token = next(self.streams[rid])
            except StopIteration:
                del self.connections[rid], self.streams[rid]
                continue
            if not conn.send(token):
                del self.connections[rid]


def main():
    rng = random.Random(25)
    hub = StreamHub(TinyLM().cuda().eval())
    rid = 0
    while rid < STEPS:
        for _ in range(rng.choice([0, 1, 1, 2])):
            if rid == STEPS:
                break
            impatient = rng.random() < 0.25
            conn = Connection(rid, rng.randint(2, 5) if impatient else 10 ** 6)
            hub.open(conn, rng.randint(16, 48), rng.randint(6, 9))
            rid += 1
            hub.poll()
            tick()
        hub.poll()
    while hub.connections:
        hub.poll()
    print("served", rid)


if __name__ == "__main__":
    main()
