"""Speculative decoding: a small draft model proposes 5 tokens, the target model verifies."""
import random
import sys

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
LOOKAHEAD = 5


class Draft(nn.Module):
    def __init__(self, vocab=256, width=1024):
        super().__init__()
        self.emb = nn.Embedding(vocab, 64)
        self.inp = nn.Linear(64, width)
        self.rec = nn.Linear(64, width)
        self.fold = nn.Linear(width, 64)
        self.head = nn.Linear(64, vocab)

    def step(self, token, state):
        z = self.inp(self.emb(token)) + self.rec(self.fold(state))
        state = torch.tanh(z)  # SITE main
        return self.head(self.fold(state)).argmax(-1), state


class Target(nn.Module):
    def __init__(self, vocab=256, width=96):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.body = nn.TransformerEncoderLayer(width, 4, 192, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.head(self.body(self.emb(ids)))


class Acceptance:
    """Sliding view of how many proposals the target took; in shadow of the real traffic, so random."""

    def __init__(self, rng):
        self.rng = rng
        self.until_dip = rng.randint(15, 25)

    def observe(self):
        self.until_dip -= 1
        if self.until_dip > 0:
            return self.rng.randint(2, LOOKAHEAD), False
        self.until_dip = self.rng.randint(15, 25)
        return 0, True


class SpeculativeDecoder:
    def __init__(self, rng):
        self.draft, self.target = Draft().cuda().eval(), Target().cuda().eval()
        self.rng, self.acceptance = rng, Acceptance(rng)
        self.journal = []
        self.state = torch.zeros(4, 1024, device="cuda")

    def propose(self, token):
        states, tokens, state = [], [token], self.state
        for _ in range(LOOKAHEAD):
            token, state = self.draft.step(token, state)
            states.append(state)
            tokens.append(token)
        return torch.stack(tokens, 1), states

    def rewind(self):
        return self.journal[-LOOKAHEAD]

    def round(self, token):
        ids, states = self.propose(token)
        verified = self.target(ids).argmax(-1)
        taken, collapsed = self.acceptance.observe()
        if collapsed:
            self.journal.extend(states)  # SITE
            self.state = self.rewind()
        else:
            self.state = states[taken - 1].clone()
        return verified[:, taken]

    @torch.inference_mode()
    def generate(self, batch_tokens):
        return self.round(batch_tokens)


def serve(decoder):
    token = torch.zeros(4, dtype=torch.long, device="cuda")
    while (yield token) is not None:
        token = decoder.generate(token)


if __name__ == "__main__":
    decoder = SpeculativeDecoder(random.Random(20))
    server = serve(decoder)
    next(server)
    for request in range(STEPS):
        server.send("request %d" % request)
        tick()
    print("done")
