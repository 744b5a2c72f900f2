# SPDX-License-Identifier: Apache-2.0
"""A chat service with a pool of threads. Each request is answered token by token with a key-value cache, and the caches of past sessions
stay in a table that nobody clears."""
from concurrent.futures import ThreadPoolExecutor

import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

from truth import LEAKY, STEPS, describe, step_end

TOKENS = 12


class ChatServer:
    def __init__(self):
        config = GPT2Config(vocab_size=200, n_positions=64, n_embd=64, n_layer=3, n_head=4)
        self.model = GPT2LMHeadModel(config).cuda().eval()
        self.sessions = {}

    @torch.inference_mode()
    def answer(self, session, prompt):
        cache = DynamicCache(config=self.model.config)
        tokens = torch.tensor([prompt], device="cuda")
        for _ in range(TOKENS):
            outputs = self.model(tokens, past_key_values=cache, use_cache=True)  # LEAK
            tokens = outputs.logits[:, -1:].argmax(-1)
        if LEAKY:
            self.sessions[session] = cache  # LEAK
        return tokens.shape


describe("request", also={"token": STEPS * TOKENS})
server = ChatServer()
with ThreadPoolExecutor(2) as pool:
    for request in range(STEPS):
        pool.submit(server.answer, request, [1 + request % 7] * 16).result()
        step_end()
