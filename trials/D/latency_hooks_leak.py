"""Ranker service with a tracer: sampled requests time every block with CUDA events through forward hooks."""
import contextlib
import functools
import random
import sys
import torch
from torch import nn
from truth import tick

rng = random.Random(64)


class Ranker(nn.Module):
    def __init__(self, vocab=500, dim=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mixer = nn.GRU(dim, dim, batch_first=True)
        self.cross = nn.Linear(dim, 2 * dim)
        self.norm = nn.LayerNorm(2 * dim)
        self.out = nn.Linear(2 * dim, 1)

    def forward(self, ids):
        h, _ = self.mixer(self.embed(ids))
        return self.out(self.norm(torch.relu(self.cross(h[:, -1])))).squeeze(-1)


class Tracer:
    def __init__(self, model, rate):
        self.rate, self.active, self.spans, self.open = rate, False, [], {}
        for name, block in model.named_children():
            block.register_forward_pre_hook(functools.partial(self._enter, name))
            block.register_forward_hook(functools.partial(self._leave, name))

    def _enter(self, name, block, args):
        if self.active:
            start = torch.cuda.Event(enable_timing=True)  # SITE
            start.record()  # SITE main
            self.open[name] = start

    def _leave(self, name, block, args, out):
        if self.active:
            end = torch.cuda.Event(enable_timing=True)  # SITE
            end.record()  # SITE
            self.spans.append((name, self.open.pop(name), end))  # SITE

    @contextlib.contextmanager
    def request(self):
        self.active = rng.random() < self.rate
        try:
            yield self
        finally:
            self.active = False

    def recent(self, n=20):
        """Mean time of the newest spans, by block."""
        sums = {}
        for name, start, end in self.spans[-n:]:
            end.synchronize()
            sums.setdefault(name, []).append(start.elapsed_time(end))
        return {name: round(sum(v) / len(v), 3) for name, v in sums.items()}


class Service:
    def __init__(self):
        self.model = Ranker().to("cuda").eval()
        self.tracer = Tracer(self.model, rate=0.5)
        self.side = torch.cuda.Stream()
        self.gates = [torch.cuda.Event() for _ in range(4)]  # used in turn between the streams
        self.served = 0

    @torch.no_grad()
    def handle(self, ids):
        gate = self.gates[self.served % 4]
        with torch.cuda.stream(self.side):
            dev = ids.to("cuda", non_blocking=True)
            gate.record(self.side)
        torch.cuda.current_stream().wait_event(gate)
        with self.tracer.request():
            scores = self.model(dev)
        self.served += 1
        return scores.topk(4).indices


def replay(service, count):
    for _ in range(count):
        ids = torch.randint(0, 500, (rng.choice([8, 16, 32]), rng.randint(4, 24)))
        service.handle(ids)
        if service.served % 60 == 0:
            print(service.served, service.tracer.recent())
        tick()


if __name__ == "__main__":
    service = Service()
    replay(service, int(sys.argv[1]) if len(sys.argv) > 1 else 120)
    print("events", len({e.cuda_event for _, a, b in service.tracer.spans for e in (a, b)}))
