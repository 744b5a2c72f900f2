"""Quantization-aware training with a straight-through rounding function, switched on after a few plain steps."""
import gc
import random
import sys
import torch
import torch.nn.functional as F
from torch import nn
from truth import tick

rng = random.Random(3)


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, bits):
        top = 2 ** (bits - 1) - 1
        scale = weight.abs().amax(dim=1, keepdim=True) / top + 1e-8
        rounded = torch.clamp(torch.round(weight / scale), -top, top) * scale  # SITE main
        ctx.top = top
        ctx.rounded = rounded  # SITE
        return rounded

    @staticmethod
    def backward(ctx, grad):
        limit = ctx.rounded.abs().amax(dim=1, keepdim=True)
        return grad * (ctx.rounded.abs() <= limit), None


class QLinear(nn.Linear):
    bits = None  # full precision until switched on

    def forward(self, x):
        if self.bits is None:
            return super().forward(x)
        return F.linear(x, RoundSTE.apply(self.weight, self.bits), self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(40, 96)
        self.mid = QLinear(96, 128)
        self.back = QLinear(128, 96)
        self.out = nn.Linear(96, 10)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        x = x + torch.relu(self.back(torch.relu(self.mid(x))))
        return self.out(x)


def set_bits(net, bits):
    for m in net.modules():
        if isinstance(m, QLinear):
            m.bits = bits


def evaluate(net, rounds=3):
    net.eval()
    with torch.no_grad():
        n = sum(net(torch.randn(rng.choice([50, 100]), 40, device="cuda")).argmax(1).numel() for _ in range(rounds))
    net.train()
    return n


def offload(t):
    return t.to("cpu") if t.numel() > 20000 else t


def main(steps, delay=20):
    net = Net().to("cuda")
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    gc.disable()  # no pauses in the middle of a step  # SITE
    for step in range(steps):
        if step == delay:
            set_bits(net, 8)
            print("quantization on")
        n = rng.choice([32, 64, 96])
        x, y = torch.randn(n, 40, device="cuda"), torch.randint(0, 10, (n,), device="cuda")
        with torch.autograd.graph.saved_tensors_hooks(offload, lambda t: t.to("cuda")):
            loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 40 == 39:
            print(f"step {step}: evaluated {evaluate(net)}")
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
