# SPDX-License-Identifier: Apache-2.0
"""A script that trains a small GPT-2, evaluates it and lets it write, in three loops one after the other. The evaluation keeps each
batch's hidden states."""
import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

from truth import LEAKY, STEPS, describe, step_end

TOKENS = 8


def train(model, optimizer, steps):
    model.train()
    for step in range(steps):
        tokens = torch.full((4, 24), step % 90, device="cuda")
        loss = model(tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        step_end()


@torch.no_grad()
def evaluate(model, steps, kept):
    model.eval()
    for step in range(steps):
        tokens = torch.full((4, 24), step % 90, device="cuda")
        outputs = model(tokens, output_hidden_states=True)  # LEAK
        if LEAKY:
            kept.append(outputs.hidden_states[-1])  # LEAK
        step_end()


@torch.no_grad()
def write(model, texts):
    for text in range(texts):
        cache, token = DynamicCache(config=model.config), torch.full((1, 6), text % 90, device="cuda")
        for _ in range(TOKENS):
            token = model(token, past_key_values=cache).logits[:, -1:].argmax(-1)
        step_end()


model = GPT2LMHeadModel(GPT2Config(vocab_size=96, n_positions=48, n_embd=48, n_layer=2, n_head=4)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
third = STEPS // 4
describe("step", onset=STEPS - 2 * third, until=STEPS - third)
kept = []
train(model, optimizer, STEPS - 2 * third)
evaluate(model, third, kept)
write(model, third)
