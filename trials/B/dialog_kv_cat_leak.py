"""Live captioning of one endless broadcast: each request adds a few tokens to a rolling context."""
import queue
import random
import sys
import threading

import torch
import torch.nn.functional as F
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
CONTEXT = 128


class RollingAttention(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.k = self.v = None

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        if self.k is None:
            self.k, self.v = k.contiguous(), v.contiguous()
        else:
            self.k = torch.cat([self.k, k], dim=2)  # SITE main
            self.v = torch.cat([self.v, v], dim=2)  # SITE main
        keys, values = self.k[:, :, -CONTEXT:], self.v[:, :, -CONTEXT:]
        y = F.scaled_dot_product_attention(q, keys, values)
        return self.proj(y.transpose(1, 2).reshape(b, t, w))


class Captioner(nn.Module):
    def __init__(self, vocab=300, width=64, depth=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.attn = nn.ModuleList(RollingAttention(width) for _ in range(depth))
        self.ff = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(),
                                              nn.Linear(2 * width, width)) for _ in range(depth))
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        x = self.emb(ids)
        for attn, ff in zip(self.attn, self.ff):
            x = x + attn(x)
            x = x + ff(x)
        return self.head(x[:, -1])


class CaptionWorker(threading.Thread):
    def __init__(self, inbox):
        super().__init__(name="captions", daemon=True)
        self.inbox = inbox
        self.model = Captioner().cuda().eval()
        self.captions = []

    def run(self):
        with torch.inference_mode():
            while (chunk := self.inbox.get()) is not None:
                logits = self.model(chunk.cuda())
                self.captions.append(logits.argmax(-1).cpu().shape[0])
                del logits
                tick()


def main():
    rng = random.Random(8)
    inbox = queue.Queue(maxsize=4)
    worker = CaptionWorker(inbox)
    worker.start()
    for _ in range(STEPS):
        inbox.put(torch.randint(0, 300, (1, rng.randint(4, 12))))
    inbox.put(None)
    worker.join()
    print("captions", len(worker.captions))


if __name__ == "__main__":
    main()
