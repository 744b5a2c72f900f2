"""Re-ranker behind a futures API; failures are summed up in a report at the end of the day."""
import collections
import random
import sys
from concurrent.futures import Future

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120


class CandidateError(ValueError):
    pass


class CrossEncoder(nn.Module):
    def __init__(self, vocab=800, width=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 128, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, ids):
        return self.out(self.layer(self.emb(ids)).mean(1)).squeeze(-1)


class FailureReport:
    def __init__(self):
        self.entries = []
        self.kinds = collections.Counter()

    def note(self, rid, exc):
        self.kinds[type(exc).__name__] += 1
        self.entries.append((rid, exc))  # SITE

    def __str__(self):
        return ", ".join("%s x%d" % kv for kv in sorted(self.kinds.items()))


class Reranker:
    def __init__(self, report):
        self.model = CrossEncoder().cuda().eval()
        self.report = report
        self.rng = random.Random(4)

    def _check(self, n_candidates, broken):
        if broken:
            raise CandidateError("candidate list of %d has duplicate documents" % n_candidates)

    def _features(self, n, length, broken):
        ids = torch.randint(0, 800, (n, length), device="cuda")  # SITE
        prior = self.model.emb(ids)  # SITE main
        self._check(n, broken)
        return ids, prior.mean((1, 2))

    @torch.inference_mode()
    def rank(self, n, length, broken):
        ids, prior = self._features(n, length, broken)
        return torch.argsort(self.model(ids) + 0.1 * prior, descending=True).cpu()

    def submit(self, rid):
        fut = Future()
        n, length = self.rng.randint(4, 16), self.rng.choice([16, 24, 32])
        try:
            fut.set_result(self.rank(n, length, self.rng.random() < 1 / 15))
        except CandidateError as exc:
            self.report.note(rid, exc)
            fut.set_result(torch.arange(n))
        return fut


class Gateway:
    def __init__(self, reranker):
        self.reranker, self.latest = reranker, collections.deque(maxlen=16)

    def _done(self, fut):
        self.latest.append(fut.result())

    def serve(self, rids):
        for rid in rids:
            self.reranker.submit(rid).add_done_callback(self._done)
            tick()


if __name__ == "__main__":
    report = FailureReport()
    Gateway(Reranker(report)).serve(range(STEPS))
    print("failures:", report)
