# SPDX-License-Identifier: Apache-2.0
"""Batches through an encoder with results collected per document; a thread takes them from a queue. The leaky consumer keeps them all."""
import queue
import threading

import torch
from transformers import T5Config, T5EncoderModel

from truth import LEAKY, STEPS, describe, step_end

work, done = queue.Queue(2), queue.Queue()
kept = []


def encode_documents():
    model = T5EncoderModel(T5Config(vocab_size=80, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)).cuda().eval()
    with torch.inference_mode():
        while (batch := work.get()) is not None:
            states = model(batch.to("cuda")).last_hidden_state  # LEAK
            pooled = states.mean(1)  # LEAK
            if LEAKY:
                kept.append(pooled)  # LEAK
            del states, pooled
            done.put(1)


describe("batch")
worker = threading.Thread(target=encode_documents)
worker.start()
for step in range(STEPS):
    work.put(torch.full((8, 12 + step % 3), step % 70))
    done.get()
    step_end()
work.put(None)
worker.join()
