# train.py
import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, WIDTH, HEADS, LAYERS, BATCH, CONTEXT = 8192, 512, 8, 6, 4, 256

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))

    def forward(self, tokens):
        logits = self.head(self.blocks(self.embed(tokens[:, :-1])))
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

def batches(count):
    for _ in range(count):
        yield torch.randint(VOCABULARY, (BATCH, CONTEXT + 1), device="cuda")

def train_step(tokens):
    loss = model(tokens)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

def evaluate():
    total = 0.0
    for tokens in batches(2):
        total += model(tokens)
    return total

model = Gpt().cuda()
optimizer = torch.optim.AdamW(model.parameters())
history = []
for step, tokens in enumerate(batches(800)):
    train_step(tokens)
    if step % 4 == 3:
        history.append(evaluate())
