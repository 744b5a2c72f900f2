"""Image tagging server: four worker threads on one queue, a flight recorder for post-mortems."""
import logging
import queue
import random
import sys
import threading

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
log = logging.getLogger("tagger")


class FlightRecorder(logging.Handler):
    """Formats nothing on the hot path: keeps the records, and writes them out at a CRITICAL one."""

    def __init__(self, stream):
        super().__init__(logging.DEBUG)
        self.stream, self.records = stream, []

    def emit(self, record):
        self.records.append(record)  # SITE
        if record.levelno >= logging.CRITICAL:
            for r in self.records:
                self.stream.write(self.format(r) + "\n")
            self.records.clear()


class Tagger(nn.Module):
    def __init__(self, tags=600):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(32, tags)

    def forward(self, images):
        return self.head(self.body(images))


class Worker(threading.Thread):
    def __init__(self, number, model, inbox, answers):
        super().__init__(name="worker-%d" % number)
        self.model, self.inbox, self.answers = model, inbox, answers

    def tag(self, rid, size, side):
        images = torch.rand(size, 3, side, side, device="cuda")
        logits = self.model(images)
        scores = torch.sigmoid(logits)  # SITE main
        log.debug("request %d: batch %d scores %s", rid, size, scores)
        return scores.topk(5).indices.cpu()

    def run(self):
        torch.set_grad_enabled(False)
        while True:
            job = self.inbox.get()
            if job is None:
                return
            rid, size, side = job
            best = self.tag(rid, size, side)
            self.answers.put((rid, best))
            tick()
            self.inbox.task_done()


def serve(n):
    rng = random.Random(6)
    inbox, answers = queue.Queue(16), queue.Queue()
    model = Tagger().cuda().eval()
    workers = [Worker(i, model, inbox, answers) for i in range(4)]
    for w in workers:
        w.start()
    for rid in range(n):
        inbox.put((rid, rng.randint(1, 8), rng.choice([32, 48, 64])))
        while not answers.empty():
            answers.get()
    for _ in workers:
        inbox.put(None)
    for w in workers:
        w.join()


if __name__ == "__main__":
    log.setLevel(logging.DEBUG)
    log.propagate = False
    log.addHandler(FlightRecorder(sys.stderr))
    serve(STEPS)
    print("stopped")
