# SPDX-License-Identifier: Apache-2.0
"""usage: tiny_model.py FILE: writes a llama model of four layers with random weights, 11 MB."""
import sys

import gguf
import numpy

VOCABULARY, WIDTH, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 512, 256, 4, 4, 512, 65536


def write_vocabulary(to):
    tokens = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % byte for byte in range(256)]
    types = [gguf.TokenType.UNKNOWN] + 2 * [gguf.TokenType.CONTROL] + 256 * [gguf.TokenType.BYTE]
    while len(tokens) < VOCABULARY:
        types.append(gguf.TokenType.NORMAL)
        tokens.append(b"token%d" % len(tokens))
    to.add_tokenizer_model("llama")
    to.add_token_list(tokens)
    to.add_token_scores([0.0] * VOCABULARY)
    to.add_token_types([int(kind) for kind in types])
    to.add_unk_token_id(0)
    to.add_bos_token_id(1)
    to.add_eos_token_id(2)


def main():
    to = gguf.GGUFWriter(sys.argv[1], "llama")
    to.add_name("tiny")
    to.add_file_type(0)
    to.add_vocab_size(VOCABULARY)
    to.add_context_length(CONTEXT)
    to.add_embedding_length(WIDTH)
    to.add_block_count(LAYERS)
    to.add_feed_forward_length(FEED_FORWARD)
    to.add_head_count(HEADS)
    to.add_head_count_kv(HEADS)
    to.add_layer_norm_rms_eps(1e-5)
    to.add_rope_dimension_count(WIDTH // HEADS)
    write_vocabulary(to)
    random = numpy.random.default_rng(0)
    shapes = {"token_embd": (VOCABULARY, WIDTH), "output": (VOCABULARY, WIDTH), "output_norm": (WIDTH,)}
    for layer in range(LAYERS):
        block = "blk.%d." % layer
        shapes.update({block + name: (WIDTH,) for name in ("attn_norm", "ffn_norm")})
        shapes.update({block + name: (WIDTH, WIDTH) for name in ("attn_q", "attn_k", "attn_v", "attn_output")})
        shapes.update({block + name: (FEED_FORWARD, WIDTH) for name in ("ffn_gate", "ffn_up")})
        shapes[block + "ffn_down"] = (WIDTH, FEED_FORWARD)
    for name, shape in shapes.items():
        to.add_tensor(name + ".weight", 0.02 * random.standard_normal(shape, dtype=numpy.float32))
    to.write_header_to_file()
    to.write_kv_data_to_file()
    to.write_tensors_to_file()
    to.close()


if __name__ == "__main__":
    main()
