# SPDX-License-Identifier: Apache-2.0
"""A classification service. One request in eight is too long and raises; the error is kept for a report together with its traceback, whose
frames hold the request's tensors."""
import torch
from transformers import DistilBertConfig, DistilBertModel

from truth import LEAKY, STEPS, describe, step_end

EVERY = 8


class Service:
    def __init__(self):
        config = DistilBertConfig(vocab_size=100, dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=96)
        self.encoder = DistilBertModel(config).cuda().eval()
        self.errors = []

    @torch.inference_mode()
    def handle(self, length):
        tokens = torch.ones(2, length, dtype=torch.long, device="cuda")
        hidden = self.encoder(tokens).last_hidden_state  # LEAK
        if length > 64:
            raise ValueError("too long: %d" % length)
        return hidden.shape

    def serve(self, length):
        try:
            return self.handle(length)
        except ValueError as error:
            self.errors.append(error if LEAKY else str(error))  # LEAK
            return None


describe("request", period=EVERY)
service = Service()
for request in range(STEPS):
    service.serve(80 if request % EVERY == 3 else 24)
    step_end()
