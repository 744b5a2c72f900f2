# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_jobs.py LAYERS WIDTH: starts PyTorch jobs as children of a process that has imported PyTorch already.

Each line of standard input, "KIND STEPS", starts one. It prints "started PID", then "ready" before its first call of CUDA, and
works until it has made that many steps and the line "end" comes. Then it prints "fine STEPS RESULT": what it has computed on the
host. The simulated device does not compute.

KIND is `training` (steps of GPT-2 with LAYERS blocks of WIDTH), `workers` (its data comes from processes that are forked all the
time) or `threads` (two threads train, and others begin and end). The line "expected KIND STEPS" prints the results after each step.
"""
import ctypes
import os
import select
import sys
import threading
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F

PR_SET_PTRACER = 0x59616D61
LAYERS, WIDTH = int(sys.argv[1]), int(sys.argv[2])
HEADS, VOCABULARY, BATCH, LENGTH = 12, 50257, 8, 1024


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (z.view(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2) for z in self.qkv(self.norm1(x)).split(WIDTH, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Training:
    def __init__(self):
        with torch.device("cuda"):
            self.tokens, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.head.weight = self.tokens.weight
        self.optimizer = torch.optim.AdamW([*self.blocks.parameters(), self.head.weight], lr=1e-4)

    def step(self):
        x = torch.randint(0, VOCABULARY, (BATCH, LENGTH), device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(self.head(self.blocks(self.tokens(x))).view(-1, VOCABULARY), x.view(-1))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


class OnHost:
    """What the job computes for real. The same number of steps gives the same result."""

    def __init__(self):
        torch.manual_seed(7)
        self.model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 64))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.random = torch.Generator().manual_seed(11)
        self.loss = 0.0

    def step(self, x=None):
        x = torch.rand(32, 64, generator=self.random) if x is None else x
        loss = (self.model(x) - x).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((64,), index / 64)


def ended():
    return bool(select.select([0], [], [], 0)[0])


def batches():
    while True:
        yield from torch.utils.data.DataLoader(Rows(), batch_size=32, num_workers=2)


def expect(kind, steps):
    host = OnHost()
    rows = [torch.stack([Rows()[i] for i in range(first, first + 32)]) for first in (0, 32)]
    for done in range(steps):
        host.step(rows[done % 2] if kind == "workers" else None)
        print(host.loss.hex())


def work(kind, steps):
    host = OnHost()
    print("ready", flush=True)
    data = batches() if kind == "workers" else None
    stop = threading.Event()
    threads = []
    if kind == "threads":
        def train():
            training = Training()
            while not stop.is_set():
                training.step()

        def begin_and_end():
            while not stop.is_set():
                short = threading.Thread(target=lambda: torch.ones(8, device="cuda").mul_(2))
                short.start()
                short.join()

        threads = [threading.Thread(target=train), threading.Thread(target=begin_and_end)]
        for thread in threads:
            thread.start()
    training = Training()
    done = 0
    while done < steps or not ended():
        training.step()
        host.step(next(data) if data else None)
        done += 1
    stop.set()
    for thread in threads:
        thread.join()
    sys.stdin.buffer.raw.readline()
    print("fine", done, host.loss.hex(), flush=True)


def main():
    torch.set_num_threads(2)
    while line := sys.stdin.buffer.raw.readline():
        *what, kind, steps = line.decode().split()
        pid = os.fork()
        if pid == 0:
            ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
            code = 1
            try:
                (expect if what else work)(kind, int(steps))
                sys.stdout.flush()
                code = 0
            except Exception:  # pylint: disable=broad-except
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                # As at the end of any program: destructors of libraries run, and Python's are left out.
                ctypes.CDLL(None).exit(code)
        print("started", pid, flush=True)
        code = os.waitpid(pid, 0)[1]
        print("ended", code, flush=True)


if __name__ == "__main__":
    main()
