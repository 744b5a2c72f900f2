"""Feature lab: a small notebook kernel that writes candidate features as code, runs each cell and scores it."""
import functools
import random
import sys
import torch
from torch import nn
from truth import tick

rng = random.Random(11)
DEV = "cuda"
WIDTH = 64
FEATURES = {}

TEMPLATES = {
    "fourier": """
_freq = torch.arange(1, {n} + 1, device=DEV).float()
@feature("{name}")
def transform(x, grid=torch.outer(torch.linspace(0, 1, {w}, device=DEV), _freq)):
    return torch.sin(x @ grid)
""",
    "rbf": """
@feature("{name}")
def transform(x, centers=torch.rand({n}, {w}, device=DEV)):
    d = (x.unsqueeze(1) - centers.unsqueeze(0)).pow(2).sum(-1)
    return torch.exp(-d / {w})
""",
    "proj": """
weight = torch.randn({w}, {n}, device=DEV) / {w} ** 0.5
@feature("{name}")
def transform(x):
    return torch.relu(x @ weight)
""",
}


def feature(name, registry=FEATURES):
    def wrap(fn):
        @functools.wraps(fn)
        def checked(x):
            out = fn(x)
            assert out.shape[0] == x.shape[0], name
            return out
        registry[name] = checked  # SITE
        return checked
    return wrap


class Kernel:
    """Runs cells the way a notebook does: compile under a made-up file name, fresh namespace for each."""

    def __init__(self):
        self.count = 0
        self.history = []

    def run_cell(self, source):
        code = compile(source, f"<gen {self.count}>", "exec")
        ns = {"torch": torch, "DEV": DEV, "feature": feature, "__name__": f"cell_{self.count}"}
        exec(code, ns)  # SITE main
        self.history.append(source)
        self.count += 1
        return ns["transform"]


class Scorer:
    def __init__(self, rows=256):
        self.x = torch.rand(rows, WIDTH, device=DEV)
        self.y = torch.rand(rows, 1, device=DEV)

    def score(self, transform, rounds):
        take = rng.choice([64, 128, 192])
        x, y = self.x[:take], self.y[:take]
        z = transform(x)
        head = nn.Linear(z.shape[1], 1).to(DEV)
        opt = torch.optim.SGD(head.parameters(), lr=0.05)
        for _ in range(rounds):
            loss = (head(z) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        return float(loss)


def propose(i):
    kind = rng.choice(list(TEMPLATES))
    return TEMPLATES[kind].format(name=f"{kind}_{i:04d}", n=rng.choice([64, 128, 192]), w=WIDTH)


def session(cells):
    kernel, scorer, board = Kernel(), Scorer(), []
    for i in range(cells):
        fn = kernel.run_cell(propose(i))
        board.append((scorer.score(fn, rounds=3), i))
        if i % 25 == 24:  # a look at the ensemble of the newest ones
            newest = list(FEATURES)[-8:]
            stack = torch.cat([FEATURES[n](scorer.x) for n in newest], dim=1)
            print(f"cell {i}: ensemble {tuple(stack.shape)} of {len(board)} scored")
        tick()
    return board


if __name__ == "__main__":
    board = session(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
    print("cells", len(board))
