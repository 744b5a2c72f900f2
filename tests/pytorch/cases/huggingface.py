# SPDX-License-Identifier: Apache-2.0
"""Models of the transformers library, made from a configuration: nothing is downloaded."""
import os
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM,
                          PrinterCallback, Trainer, TrainingArguments)

from watch import case, checkpoint, run_cases, settle

SMALL = {"vocab_size": 500, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 64}


def gpt2():
    return GPT2LMHeadModel(GPT2Config(vocab_size=500, n_embd=64, n_layer=2, n_head=4, n_positions=64,
                                      bos_token_id=0, eos_token_id=0))


def train(model):
    model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for i in range(3):
        x = torch.randint(0, 500, (4, 32), device="cuda")
        loss = model(input_ids=x, labels=x).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del loss
        settle()
        checkpoint("%s step %d" % (type(model).__name__, i))


@case
def gpt2_trains():
    train(gpt2())


@case
def bert_trains():
    train(BertForMaskedLM(BertConfig(**SMALL)))


@case
def llama_trains():
    model = LlamaForCausalLM(LlamaConfig(**SMALL))
    model.gradient_checkpointing_enable()
    train(model)


@case
def llama_generates():
    model = LlamaForCausalLM(LlamaConfig(**SMALL)).cuda().eval()
    with torch.no_grad():
        cache = None
        for i in range(6):
            out = model(torch.randint(0, 500, (2, 1 if cache else 8), device="cuda"), past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            checkpoint("token %d" % i)
    return cache.get_seq_length()


class Tokens(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        row = torch.full((32,), index % 500)
        return {"input_ids": row, "labels": row}


@case
def trainer_empties_the_cache():
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, max_steps=6, per_device_train_batch_size=4, torch_empty_cache_steps=2,
                                      save_strategy="no", report_to=[], logging_strategy="no", disable_tqdm=True)
        trainer = Trainer(gpt2(), arguments, train_dataset=Tokens())
        trainer.remove_callback(PrinterCallback)  # it prints how long the steps took
        trainer.train()


run_cases()
