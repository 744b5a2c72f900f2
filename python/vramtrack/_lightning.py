# SPDX-License-Identifier: Apache-2.0
"""A callback for the Trainer of Lightning."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable

from . import step
from ._steps import value_of

if TYPE_CHECKING:
    Callback = object
elif "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:  # the package that the job uses
    from pytorch_lightning import Callback
else:
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback


class LightningCallback(Callback):
    """Marks the end of each training batch. Steps are counted from 0.

        Trainer(callbacks=[LightningCallback(tokens=lambda batch: batch["input_ids"].numel())], ...)

    Validation marks no steps: its allocations belong to the training step after it.

    Args:
        tokens: A function that says of a batch what explains its memory, such as its tokens. An error in it counts as 0.
    """

    def __init__(self, tokens: Callable[[Any], Any] | None = None) -> None:
        super().__init__()
        self._tokens = tokens

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, *rest: Any) -> None:
        step(tokens=value_of(self._tokens, batch))
