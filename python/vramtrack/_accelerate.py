# SPDX-License-Identifier: Apache-2.0
"""Marks for a training loop with an Accelerator of Hugging Face."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, TypeVar

from . import step

T = TypeVar("T")


def accelerate_steps(accelerator: Any, loader: Iterable[T], tokens: Callable[[T], Any] | None = None) -> Iterator[T]:
    """Iterates over `loader` and marks the end of a step after each iteration in which gradients are synchronized, so that a
    step is one update of the weights, whatever `gradient_accumulation_steps` is.

        for batch in accelerate_steps(accelerator, loader):
            with accelerator.accumulate(model):
                ...

    Args:
        accelerator: The `accelerate.Accelerator` of the loop.
        loader: The prepared loader.
        tokens: A function that says of a batch what explains its memory, such as its tokens; a step has the sum. An error in
            it counts as 0.
    """
    total: Any = 0
    for batch in loader:
        yield batch
        try:
            total += 0 if tokens is None else tokens(batch)
        except Exception:  # marks must not change what the program does
            pass
        if accelerator.sync_gradients:
            step(tokens=total)
            total = 0
