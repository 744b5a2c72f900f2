"""Chat server: sessions held strongly by their connections only; the registry has weak references."""
import random
import sys
import weakref

import torch
import torch.nn.functional as F
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120


class Attention(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, past):
        k, v = self.k(x), self.v(x)
        if past is not None:
            k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
        return x + F.scaled_dot_product_attention(self.q(x), k, v), (k, v)


class ChatModel(nn.Module):
    def __init__(self, depth=2, vocab=256, width=64):
        super().__init__()
        self.emb, self.head = nn.Embedding(vocab, width), nn.Linear(width, vocab)
        self.layers = nn.ModuleList(Attention(width) for _ in range(depth))

    def forward(self, ids, past):
        x, present = self.emb(ids), []
        for layer, old in zip(self.layers, past):
            x, kv = layer(x, old)
            present.append(kv)
        return self.head(x[:, -1]), present


class Session:
    def __init__(self, depth):
        self.past = [None] * depth
        self.turns = 0


class ChatServer:
    def __init__(self):
        self.model = ChatModel().cuda().eval()
        self.registry = weakref.WeakValueDictionary()

    def connect(self, name):
        session = Session(len(self.model.layers))
        self.registry[name] = session
        return session

    @torch.inference_mode()
    def say(self, session, tokens):
        ids = torch.zeros(1, tokens, dtype=torch.long, device="cuda")
        logits, session.past = self.model(ids, session.past)
        session.turns += 1
        return logits.argmax(-1).cpu()


class Visitor:
    def __init__(self, server, name, rng):
        self.server, self.rng = server, rng
        self.session = server.connect(name)
        self.left = rng.randint(5, 14)

    def turn(self):
        self.server.say(self.session, self.rng.randint(6, 30))
        self.left -= 1
        return self.left > 0


def main():
    rng = random.Random(77)
    server, visitors, arrivals = ChatServer(), [], 0
    for _ in range(STEPS):
        if not visitors or (len(visitors) < 6 and rng.random() < 0.4):
            arrivals += 1
            visitors.append(Visitor(server, "visitor-%d" % arrivals, rng))
        who = rng.choice(visitors)
        if not who.turn():
            visitors.remove(who)
        del who
        tick()
    print("arrivals", arrivals, "live", len(server.registry))


if __name__ == "__main__":
    main()
