# SPDX-License-Identifier: Apache-2.0
"""A Trainer whose loss function remembers the logits of every batch, for a plot at the end."""
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

from truth import LEAKY, STEPS, describe, step_end


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS * 8

    def __getitem__(self, index):
        return {"input_ids": torch.full((32,), index % 90), "labels": torch.tensor(index % 3)}


class RememberingTrainer(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.logits = []

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, **kwargs)  # LEAK
        if LEAKY:
            self.logits.append(outputs.logits)  # LEAK
        else:
            self.logits.append(outputs.logits.detach().cpu())
        return (loss, outputs) if return_outputs else loss


class Marker(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        step_end()


describe("train step")
config = BertConfig(vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                    max_position_embeddings=64, num_labels=3)
arguments = TrainingArguments("/tmp/corpus-trainer", per_device_train_batch_size=8, max_steps=STEPS, report_to=[],
                              save_strategy="no", logging_steps=10, disable_tqdm=True, dataloader_pin_memory=False)
RememberingTrainer(BertForSequenceClassification(config), arguments, train_dataset=Batches(), callbacks=[Marker()]).train()
