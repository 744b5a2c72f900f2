# SPDX-License-Identifier: Apache-2.0
"""Loops that mark their steps."""

from __future__ import annotations

from typing import Any, Callable, Generic, Iterable, Iterator, TypeVar

from . import step

T = TypeVar("T")


def value_of(tokens: Callable[[T], Any] | None, batch: T) -> Any:
    """What a user's function says of a batch. An error in it counts as 0: marks must not change what the program does."""
    try:
        return 0 if tokens is None else tokens(batch)
    except Exception:
        return 0


class steps(Generic[T]):
    """Iterates over `loader` and marks the end of a step after the body of each iteration. Does nothing else in a program that
    is not traced.

        for batch in vramtrack.steps(loader):
            train(batch)

        with vramtrack.steps(loader, tokens=lambda batch: batch.numel()) as batches:
            for batch in batches:
                train(batch)

    The step ends when the next batch is asked for, before it is fetched. A `break` leaves its step unmarked; in the `with` form
    it ends the step. An iteration that raises is not marked. Steps are counted from 0 in the whole process, as by `step()`.

    Args:
        loader: Whatever is iterated over. `len()` works where it works for the loader.
        tokens: A function that says of a batch what explains its memory, such as its tokens. An error in it counts as 0.
    """

    def __init__(self, loader: Iterable[T], tokens: Callable[[T], Any] | None = None) -> None:
        self._loader = loader
        self._tokens = tokens
        self._open: list[Any] = []  # the value of the step that has begun

    def __iter__(self) -> Iterator[T]:
        for batch in self._loader:
            self._open = [value_of(self._tokens, batch)]
            yield batch
            self._end()

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __enter__(self) -> steps[T]:
        return self

    def __exit__(self, type_: Any, error: Any, traceback: Any) -> None:
        if type_ is None:
            self._end()

    def _end(self) -> None:
        if self._open:
            step(tokens=self._open.pop())


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
    values: list[Any] = []
    for batch in loader:
        yield batch
        values.append(value_of(tokens, batch))
        if accelerator.sync_gradients:
            step(tokens=value_of(sum, values))
            values.clear()
