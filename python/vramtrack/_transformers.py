# SPDX-License-Identifier: Apache-2.0
"""A callback for the Trainer of transformers, and for trainers that are built on it, such as those of TRL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import step

if TYPE_CHECKING:
    TrainerCallback = object
else:
    from transformers import TrainerCallback


class TransformersCallback(TrainerCallback):
    """Marks the end of each optimizer step, with the trainer's own number.

        Trainer(model, args, callbacks=[TransformersCallback()], ...)

    With `TrainingArguments(include_num_input_tokens_seen=...)` a mark has the tokens of its step, too. Evaluation marks no
    steps: its allocations belong to the training step after it.
    """

    def __init__(self) -> None:
        self._tokens_before = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._tokens_before = getattr(state, "num_input_tokens_seen", 0)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        tokens = getattr(state, "num_input_tokens_seen", 0)
        step(state.global_step, tokens=tokens - self._tokens_before)
        self._tokens_before = tokens
