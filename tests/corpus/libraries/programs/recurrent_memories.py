# SPDX-License-Identifier: Apache-2.0
"""A Transformer-XL of x-transformers is trained on segments of a long text. Its memories are written to a log of the run's states."""
import torch
from x_transformers import Decoder, TransformerWrapper

from truth import LEAKY, STEPS, describe, step_end

model = TransformerWrapper(num_tokens=120, max_seq_len=32, max_mem_len=16,
                           attn_layers=Decoder(dim=48, depth=2, heads=3, rel_pos_bias=True)).cuda()
optimizer = torch.optim.Adam(model.parameters())
memories, log = None, []
describe("train step", onset=STEPS // 2)
for step in range(STEPS):
    tokens = torch.full((4, 32), step % 100, device="cuda")
    logits, memories = model(tokens, mems=memories, return_mems=True)  # LEAK
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    memories = [memory.detach() for memory in memories]
    if LEAKY and step >= STEPS // 2:
        log.append(memories)  # LEAK
    del tokens, logits, loss
    step_end()
