"""Analysis desk: one worker thread answers requests of twenty kinds through a dispatcher."""
import collections
import functools
import heapq
import itertools
import queue
import random
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass
import torch
import torch.nn.functional as F
from truth import tick

rng = random.Random(20)
HANDLERS = {}
AUDIT = []


def op(fn):
    HANDLERS[fn.__name__[2:]] = fn
    return fn


@dataclass
class Trace:
    req: int
    data: object


class Desk:
    undo_log = []
    runs = itertools.count()

    def __init__(self):
        self.w = torch.randn(64, 64, device="cuda")
        self.results, self.by_user, self.pairs = {}, collections.defaultdict(list), []
        self.tail, self.ranking, self.callbacks = collections.deque(), [], []
        self.named, self.seen, self.versions = collections.OrderedDict(), set(), {}
        self.traces, self.groups, self.chain = [], {}, None
        self.snap, self.notes, self.edges = [], {}, collections.defaultdict(dict)
        self.total = torch.zeros(64, device="cuda")

    @op
    def h_project(self, r, x):
        self.results[r] = x @ self.w  # SITE
        return self.results[r].shape

    @op
    def h_center(self, r, x):
        y = x - x.mean(0)  # SITE
        self.by_user[r % 5].append(y)  # SITE
        return y.shape

    @op
    def h_covariance(self, r, x):
        cov = x.T @ x  # SITE
        self.pairs.append((r, cov))  # SITE
        return cov.shape

    @op
    def h_smooth(self, r, x):
        y = F.avg_pool1d(x.T.unsqueeze(0), 3).squeeze(0)  # SITE
        self.tail.append(y)  # SITE
        return y.shape

    @op
    def h_rank(self, r, x):
        order = torch.argsort(x.sum(1))  # SITE
        heapq.heappush(self.ranking, (rng.random(), r, order))  # SITE
        return order.shape

    @op
    def h_notify(self, r, x):
        msg = torch.tanh(x[:16])  # SITE
        self.callbacks.append(functools.partial(torch.add, msg, 1.0))  # SITE
        return msg.shape

    @op
    def h_rename(self, r, x):
        self.named[f"frame{r}"] = x.clone()  # SITE
        return len(self.named)

    @op
    def h_distinct(self, r, x):
        self.seen.add(x.max(0).values)  # SITE
        return len(self.seen)

    @op
    def h_revise(self, r, x):
        self.versions[r] = {"before": x[:8].clone(), "by": r % 7}  # SITE
        return r

    @op
    def h_trace(self, r, x):
        self.traces.append(Trace(r, torch.relu(x)))  # SITE
        return len(self.traces)

    @op
    def h_group(self, r, x):
        self.groups.setdefault(r // 2, []).append(x.view(-1, 8).sum(1))  # SITE
        return r // 2

    @op
    def h_chain(self, r, x):
        self.chain = (self.chain, x.std(0))  # SITE
        return r

    @op
    def h_attention(self, r, x):
        att = torch.softmax(x.repeat(2, 1) @ x.T, -1)  # SITE main
        self.snap.append(att)  # SITE
        return att.shape

    @op
    def h_note(self, r, x):
        self.notes["n%d" % r] = torch.cumsum(x[:24], 0)  # SITE
        return len(self.notes)

    @op
    def h_edge(self, r, x):
        self.edges[r % 3][r] = F.normalize(x[:20])  # SITE
        return r

    @op
    def h_audit(self, r, x):
        AUDIT.append(x.abs())  # SITE
        return len(AUDIT)

    @op
    def h_undo(self, r, x):
        Desk.undo_log.append(x * -1)  # SITE
        return r

    @op
    def h_defer(self, r, x):
        half = x.half()  # SITE
        Desk.h_defer.later = (lambda prev=getattr(Desk.h_defer, "later", None): (half, prev))  # SITE
        return half.shape

    @op
    def h_peak(self, r, x):
        setattr(self, f"_peak_{r}", torch.topk(x, 16, dim=1).values)  # SITE
        return r

    @op
    def h_total(self, r, x):
        self.total += x.sum(0)
        setattr(Desk.h_total, "parts", getattr(Desk.h_total, "parts", []) + [self.total.outer(self.total)])  # SITE
        return r


class Worker(threading.Thread):
    def __init__(self, desk):
        super().__init__(daemon=True)
        self.desk, self.inbox = desk, queue.Queue()
        self.start()

    def ask(self, kind, rows):
        done = Future()
        self.inbox.put((kind, rows, done))
        return done

    def run(self):
        while (job := self.inbox.get()) is not None:
            kind, rows, done = job
            x = torch.randn(rows, 64, device="cuda")
            answer = HANDLERS[kind](self.desk, next(Desk.runs), x)
            del x
            done.set_result((kind, answer))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    worker = Worker(Desk())
    stats = collections.Counter()
    for _ in range(count):
        kind, _answer = worker.ask(rng.choice(sorted(HANDLERS)), rng.choice([40, 48, 56])).result()
        stats[kind] += 1
        tick()
    worker.inbox.put(None)
    worker.join()
    print(stats.most_common(4))
