# SPDX-License-Identifier: Apache-2.0
"""Supervised fine-tuning with TRL's trainer. A callback-like override keeps each batch's loss and entropy inputs: the logits of the last
token, a view that holds the whole batch's logits."""
import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback
from trl import SFTConfig, SFTTrainer

from truth import LEAKY, STEPS, describe, step_end


class Keeper(SFTTrainer):
    last_tokens = []

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, **kwargs)  # LEAK
        last = outputs.logits.detach()[:, -1]
        self.last_tokens.append(last if LEAKY else last.cpu())  # LEAK
        return (loss, outputs) if return_outputs else loss


class Marker(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        step_end()


words = Tokenizer(WordLevel({"<pad>": 0, "<eos>": 1, "word": 2}, unk_token="<pad>"))
words.pre_tokenizer = Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
model = LlamaForCausalLM(LlamaConfig(vocab_size=120, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                                     max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=1))
texts = Dataset.from_dict({"input_ids": [[2] * 20] * (STEPS * 4)})
options = SFTConfig("/tmp/corpus-sft", per_device_train_batch_size=4, max_steps=STEPS, report_to=[], save_strategy="no", logging_steps=1000,
                    disable_tqdm=True, bf16=False, fp16=False, gradient_checkpointing=False, dataloader_pin_memory=False)
describe("train step")
Keeper(model, options, train_dataset=texts, processing_class=tokenizer, callbacks=[Marker()]).train()
