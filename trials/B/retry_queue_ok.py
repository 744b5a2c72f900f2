"""Job runner with a retry queue and a circuit breaker; the collector runs by hand between jobs."""
import collections
import gc
import random
import sys

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120


class Overloaded(RuntimeError):
    pass


class Breaker:
    def __init__(self, limit, cooldown):
        self.limit, self.cooldown, self.failures, self.closed_at = limit, cooldown, 0, 0

    def allow(self, now):
        return now >= self.closed_at

    def record(self, ok, now):
        self.failures = 0 if ok else self.failures + 1
        if self.failures >= self.limit:
            self.closed_at, self.failures = now + self.cooldown, 0


class Job:
    __slots__ = ("jid", "batch", "attempts", "error", "payload")

    def __init__(self, jid, batch):
        self.jid, self.batch, self.attempts, self.error = jid, batch, 0, None
        self.payload = torch.randn(batch, 64, device="cuda")


class Runner:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 64)).cuda().eval()
        self.retries = collections.deque()
        self.last_errors = collections.deque(maxlen=4)
        self.breaker = Breaker(limit=3, cooldown=4)
        self.rng = random.Random(33)
        self.dead = 0

    def forward(self, job):
        hidden = self.model[0](job.payload)
        if self.rng.random() < 0.4:
            raise Overloaded("job %d, attempt %d" % (job.jid, job.attempts))
        return self.model[2](self.model[1](hidden)).mean(0)

    @torch.no_grad()
    def attempt(self, job, now):
        job.attempts += 1
        failure = None
        try:
            out = self.forward(job)
        except Overloaded as exc:
            failure = exc
        self.breaker.record(failure is None, now)
        if failure is None:
            job.error = None
            return out.cpu()
        job.error = failure
        if job.attempts < 3:
            self.retries.append(job)
        else:
            self.dead += 1
            self.last_errors.append((job.jid, failure))
        return None

    def request(self, now, batch):
        self.attempt(Job(now, batch), now)
        for _ in range(min(2, len(self.retries))):
            if not self.breaker.allow(now):
                break
            self.attempt(self.retries.popleft(), now)


def main():
    gc.disable()
    runner = Runner()
    for now in range(STEPS):
        runner.request(now, runner.rng.randint(4, 32))
        if now % 32 == 31:
            gc.collect()
        tick()
    print("dead jobs", runner.dead, "waiting", len(runner.retries))


if __name__ == "__main__":
    main()
