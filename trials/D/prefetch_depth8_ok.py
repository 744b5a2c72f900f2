"""Training fed by a thread that prefetches eight batches ahead over a copy stream, with pinned staging buffers."""
import queue
import random
import sys
import threading
import torch
import torch.nn.functional as F
from torch import nn
from truth import tick


class Prefetcher:
    def __init__(self, source, depth=8, rows=96, width=128):
        self.source = source
        self.ready = queue.Queue(maxsize=depth)
        self.stream = torch.cuda.Stream()
        self.ring = [(torch.empty(rows, width).pin_memory(), torch.cuda.Event()) for _ in range(depth + 2)]
        self.thread = threading.Thread(target=self._pump, daemon=True)
        self.thread.start()

    def _pump(self):
        for i, (x, y) in enumerate(self.source):
            host, copied = self.ring[i % len(self.ring)]
            copied.synchronize()
            stage = host[:x.shape[0]]
            stage.copy_(x)
            with torch.cuda.stream(self.stream):
                dx = stage.to("cuda", non_blocking=True)
                dy = y.to("cuda", non_blocking=True)
                copied.record(self.stream)
            self.ready.put((dx, dy, copied))
            del dx, dy
        self.ready.put(None)

    def __iter__(self):
        main = torch.cuda.current_stream()
        while (item := self.ready.get()) is not None:
            x, y, copied = item
            main.wait_event(copied)
            for t in (x, y):
                t.record_stream(main)
            del item, t
            yield x, y
            del x, y


def batches(count, rng):
    for _ in range(count):
        n = rng.choice([32, 64, 96])
        yield torch.randn(n, 128), torch.randint(0, 12, (n,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(128, 256), nn.Linear(256, 256), nn.Linear(256, 12)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.c(self.drop(torch.relu(self.b(torch.relu(self.a(x))))))


def evaluate(net, rng):
    with torch.no_grad():
        return sum(net(x.to("cuda")).argmax(1).numel() for x, _ in batches(4, rng))


def main(steps):
    net = Net().to("cuda")
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    feed = Prefetcher(batches(steps, random.Random(70)))
    eval_rng = random.Random(71)
    for step, (x, y) in enumerate(feed):
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        del x, y
        if step % 50 == 49:
            print(f"step {step}: queue {feed.ready.qsize()} evaluated {evaluate(net, eval_rng)}")
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
