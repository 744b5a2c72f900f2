"""Completion sessions over a fixed KV workspace: several clients, each with its own session object."""
import functools
import random
import sys

import torch
import torch.nn.functional as F
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
MAX_LEN, WIDTH = 128, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, keys, values, start, mask):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        stop = start + x.shape[0]
        keys[start:stop].copy_(k)
        values[start:stop].copy_(v)
        y = F.scaled_dot_product_attention(q[None], keys[None, :stop], values[None, :stop], attn_mask=mask)
        return x + self.out(y[0])


class DecodeSession:
    def __init__(self, sid, block, emb):
        self.sid, self.block, self.emb = sid, block, emb
        self.keys = torch.zeros(MAX_LEN, WIDTH, device="cuda")  # SITE main
        self.values = torch.zeros(MAX_LEN, WIDTH, device="cuda")  # SITE main
        self.length = 0

    @functools.lru_cache(maxsize=None)  # SITE
    def causal_mask(self, new, total):
        return torch.ones(new, total, dtype=torch.bool, device="cuda").tril(total - new)  # SITE

    def feed(self, n):
        x = self.emb(torch.zeros(n, dtype=torch.long, device="cuda"))
        y = self.block(x, self.keys, self.values, self.length, self.causal_mask(n, self.length + n))
        self.length += n
        return y[-1]


class SessionManager:
    def __init__(self, limit=4):
        self.block, self.emb = Block().cuda().eval(), nn.Embedding(200, WIDTH).cuda()
        self.limit, self.open = limit, {}

    def start(self, sid):
        self.open[sid] = DecodeSession(sid, self.block, self.emb)

    def finish(self, sid):
        session = self.open.pop(sid)
        return session.length

    @torch.no_grad()
    def request(self, sid, n):
        if sid not in self.open:
            self.start(sid)
        return self.open[sid].feed(n).cpu()


class Client:
    def __init__(self, manager, name, rng):
        self.manager, self.name, self.rng, self.serial = manager, name, rng, 0

    def conversation(self):
        """One generator step is one request; a conversation has 4 to 8 turns."""
        while True:
            sid = "%s/%d" % (self.name, self.serial)
            self.serial += 1
            for _ in range(self.rng.randint(4, 8)):
                yield self.manager.request(sid, self.rng.randint(4, 12))
            self.manager.finish(sid)


def main():
    rng = random.Random(3)
    manager = SessionManager()
    talks = [Client(manager, name, random.Random(name)).conversation() for name in ("ann", "bo", "cy", "di")]
    for _ in range(STEPS):
        next(rng.choice(talks))
        tick()
    print("open sessions:", len(manager.open))


if __name__ == "__main__":
    main()
