"""Multi-label classifier: epochs of training, a validation pass after each, ranking metrics over all scores of an epoch."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

LABELS, EPOCH, VAL_BATCHES = 50, 12, 4


class ConvTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(4, 16, 5, padding=2), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(4),
                                      nn.Conv1d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(4))
        self.classify = nn.Linear(128, LABELS)

    def forward(self, x):
        return self.classify(self.features(x).flatten(1))


class ScoreBook:
    """Collects scores and labels, since ranking metrics do not decompose over batches."""

    def __init__(self, name):
        self.name, self.preds, self.labels = name, [], []

    def reset(self):
        self.preds.clear()
        self.labels.clear()

    def update(self, logits, labels):
        self.preds.append(logits.detach().sigmoid())  # SITE main
        self.labels.append(labels.bool())  # SITE

    def compute(self):
        scores, labels = torch.cat(self.preds), torch.cat(self.labels)
        order = scores.argsort(dim=0, descending=True)
        hits = labels.gather(0, order).cumsum(0)
        ranks = torch.arange(1, len(hits) + 1, device=hits.device)[:, None]
        return (hits / ranks).mean()


class Session:
    def __init__(self, total, rng):
        self.left, self.rng = total, rng
        self.model = ConvTagger().cuda()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.train_book, self.val_book = ScoreBook("train"), ScoreBook("val")
        self.curve = []

    def draw(self, b):
        x = torch.randn(b, 4, 64, device="cuda")
        y = torch.zeros(b, LABELS, device="cuda").bernoulli_(0.1)
        return x, y

    def train_epoch(self):
        self.model.train()
        self.train_book.reset()
        for _ in range(min(EPOCH, self.left)):
            x, y = self.draw(self.rng.choice((16, 24, 32)))
            logits = self.model(x)
            loss = F.binary_cross_entropy_with_logits(logits, y)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            self.train_book.update(logits, y)
            self.left -= 1
            tick()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        for _ in range(VAL_BATCHES):
            x, y = self.draw(64)
            self.val_book.update(self.model(x), y)  # SITE
        return self.val_book.compute()

    def run(self):
        while self.left > 0:
            self.train_epoch()
            self.curve.append((float(self.train_book.compute()), float(self.validate())))


if __name__ == "__main__":
    session = Session(int(sys.argv[1]) if len(sys.argv) > 1 else 120, random.Random(17))
    session.run()
    print(len(session.curve), "epochs")
