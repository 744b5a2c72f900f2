# SPDX-License-Identifier: Apache-2.0
"""An index of sentence embeddings on the device: each batch of documents is encoded and joined to the index by torch.cat. The fixed variant
writes into an index of a fixed size."""
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer, WordEmbeddings
from sentence_transformers.models.tokenizer import WhitespaceTokenizer

from truth import LEAKY, STEPS, describe, step_end

words = ["word%d" % number for number in range(50)]
embeddings = WordEmbeddings(WhitespaceTokenizer(words), torch.rand(50, 64))
encoder = SentenceTransformer(modules=[embeddings, Pooling(64)], device="cuda")
index = torch.zeros(0 if LEAKY else 256, 64, device="cuda")
describe("batch")
for step in range(STEPS):
    documents = [" ".join(words[(step + place) % 50] for place in range(6)) for _ in range(8)]
    encoded = encoder.encode(documents, convert_to_tensor=True, show_progress_bar=False)
    if LEAKY:
        index = torch.cat([index, encoded])  # LEAK
    else:
        start = step * 8 % 256
        index[start:start + 8] = encoded
    del encoded
    step_end()
