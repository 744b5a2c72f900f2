# SPDX-License-Identifier: Apache-2.0
"""Continual learning with PEFT: each task of 8 steps gets a LoRA adapter of its own. Adapters of finished tasks stay on the device."""
import torch
from peft import LoraConfig, get_peft_model
from transformers import OPTConfig, OPTForCausalLM

from truth import LEAKY, STEPS, describe, step_end

TASK = 8


def start_task(model, number):
    """The optimizer of a new adapter."""
    if number:
        model.add_adapter("task%d" % number, LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))  # LEAK
        model.set_adapter("task%d" % number)
        if not LEAKY:
            model.delete_adapter("task%d" % (number - 1))
    return torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad], fused=True)


base = OPTForCausalLM(OPTConfig(vocab_size=64, hidden_size=48, ffn_dim=96, num_hidden_layers=2, num_attention_heads=4,
                                max_position_embeddings=32, word_embed_proj_dim=48)).cuda()
model = get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "v_proj"]), adapter_name="task0")
describe("train step", period=TASK, also={"task": STEPS // TASK})
for step in range(STEPS):
    if step % TASK == 0:
        optimizer = start_task(model, step // TASK)
    tokens = torch.full((2, 16), step % 60, device="cuda")
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del tokens, loss
    step_end()
