"""Distillation in two alternating phases: the teacher labels a part of the data, then the student learns from it."""
import contextlib
import random
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from truth import tick

rng = random.Random(8)
BATCH, CLASSES, PER_EPOCH = 128, 64, 12


def tower(width, depth):
    layers = [nn.Linear(32, width), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, CLASSES)).to("cuda")


@contextlib.contextmanager
def scratch(owner, mib):
    """Augmentation noise that lives for one student phase."""
    owner.noise = torch.randn(mib * 1024 * 1024 // 4 // 32, 32, device="cuda")
    try:
        yield owner.noise
    finally:
        owner.noise = None


class Distiller:
    def __init__(self):
        self.teacher = tower(256, 3).eval()
        self.student = tower(96, 1)
        self.opt = torch.optim.Adam(self.student.parameters(), lr=1e-3)
        self.bank = {}
        self.noise = None
        data = TensorDataset(torch.randn(BATCH * PER_EPOCH, 32), torch.arange(BATCH * PER_EPOCH))
        self.loader = DataLoader(data, batch_size=BATCH, pin_memory=True)

    def label(self, epoch):
        for i, (x, _) in enumerate(self.loader):
            with torch.no_grad():
                logits = self.teacher(x.to("cuda", non_blocking=True))
                self.bank[epoch, i] = F.softmax(logits / 2.0, dim=1)  # SITE main
            yield "label"

    def learn(self, epoch):
        with scratch(self, 2) as noise:
            for i, (x, _) in enumerate(self.loader):
                x = x.to("cuda", non_blocking=True)
                start = rng.randrange(noise.shape[0] - BATCH)
                x = x + 0.1 * noise[start:start + BATCH]
                h = checkpoint(self.student[:2], x, use_reentrant=False)
                logits = self.student[2:](h)
                loss = F.kl_div(F.log_softmax(logits / 2.0, 1), self.bank[epoch, i], reduction="batchmean")
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                del loss, logits, h, x
                yield "learn"

    def evaluate(self):
        with torch.no_grad():
            return sum(self.student(x.to("cuda")).argmax(1).numel() for x, _ in self.loader)


def schedule(job):
    epoch = 0
    while True:
        yield from job.label(epoch)
        yield from job.learn(epoch)
        if epoch % 4 == 3:
            print(f"epoch {epoch}: evaluated {job.evaluate()}")
        epoch += 1


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    job = Distiller()
    done = {"label": 0, "learn": 0}
    for _, phase in zip(range(steps), schedule(job)):
        done[phase] += 1
        tick()
    print(done)
