"""Text generation with beam search: requests of varying prompt and answer length, n-best store of the last answers."""
import random
import sys
from collections import deque
from typing import NamedTuple
import torch
from torch import nn
from truth import tick

rng = random.Random(26)
VOCAB, DIM = 200, 64


class Beam(NamedTuple):
    tokens: torch.Tensor   # beams x length
    score: torch.Tensor    # beams
    keys: torch.Tensor     # beams x length x dim
    values: torch.Tensor


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.q, self.k, self.v = (nn.Linear(DIM, DIM) for _ in range(3))
        self.out = nn.Linear(DIM, VOCAB)

    def encode(self, tokens):
        h = self.embed(tokens)
        return self.k(h), self.v(h)

    def step(self, beam):
        h = self.embed(beam.tokens[:, -1:])
        keys = torch.cat([beam.keys, self.k(h)], dim=1)
        values = torch.cat([beam.values, self.v(h)], dim=1)
        att = torch.softmax(self.q(h) @ keys.transpose(1, 2) / DIM ** 0.5, -1) @ values
        return torch.log_softmax(self.out(h + att)[:, 0], -1), keys, values


def expand(model, beam, width):
    logp, keys, values = model.step(beam)
    flat = (beam.score.unsqueeze(1) + logp).flatten()
    score, pick = torch.topk(flat, width)
    rows = torch.tensor([rng.randrange(beam.tokens.shape[0]) for _ in range(width)], device="cuda")
    tokens = torch.cat([beam.tokens.index_select(0, rows), (pick % VOCAB).unsqueeze(1).clamp(0, VOCAB - 1)], dim=1)
    return Beam(tokens, score, keys.index_select(0, rows), values.index_select(0, rows))


def search(model, beam, width, remaining):
    """Recursive, so that a caller can look at each frontier: yields it, then goes deeper."""
    yield beam
    if remaining:
        yield from search(model, expand(model, beam, width), width, remaining - 1)


class Generator:
    def __init__(self):
        self.model = Decoder().to("cuda").eval()
        self.nbest = deque(maxlen=32)
        self.log = []

    @torch.no_grad()
    def answer(self, prompt, width, length):
        tokens = torch.tensor([prompt] * width, device="cuda")
        keys, values = self.model.encode(tokens)
        beam = Beam(tokens, torch.zeros(width, device="cuda"), keys, values)
        for depth, beam in enumerate(search(self.model, beam, width, length)):
            pass
        final = torch.zeros(4, 64, dtype=torch.long, device="cuda")
        n = min(4, width)
        final[:n, :beam.tokens.shape[1]] = beam.tokens[:n]
        self.nbest.append((final, beam.score[:n].clone()))
        self.log.append(f"{len(prompt)}+{depth}")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    gen = Generator()
    while len(gen.log) < count:
        prompt = [rng.randrange(VOCAB) for _ in range(rng.randint(2, 20))]
        gen.answer(prompt, rng.choice([2, 4, 6]), rng.randint(4, 40))
        tick()
    print("answers", len(gen.log), gen.log[-3:])
