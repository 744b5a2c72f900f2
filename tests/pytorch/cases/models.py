# SPDX-License-Identifier: Apache-2.0
"""Small models that the cases share."""
import torch
import torch._dynamo  # what the first optimizer would import, after watch.py has set aside what is imported
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, WIDTH, HEADS, BATCH, LENGTH = 1000, 128, 4, 4, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, cache=None):
        batch, length, _ = x.shape
        q, k, v = (z.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
                   for z in self.qkv(self.norm1(x)).split(WIDTH, 2))
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache[:] = [k, v]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not cache)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, caches=None, around=lambda block, x: block(x)):
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = around(block, x) if caches is None else block(x, caches[i])
        return self.head(x)


def tokens(batch=BATCH, length=LENGTH, device="cuda"):
    return torch.randint(0, VOCABULARY, (batch, length), device=device)


def loss_of(model, x, **how):
    return F.cross_entropy(model(x, **how).view(-1, VOCABULARY), x.view(-1))


def step(model, optimizer, **how):
    loss = loss_of(model, tokens(), **how)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def model_and_optimizer(**options):
    model = Transformer(**options).cuda()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)
