# SPDX-License-Identifier: Apache-2.0
"""Steps that a loop marks itself."""

from __future__ import annotations

from typing import Any, Callable, Generic, Iterable, Iterator, TypeVar

from . import step

T = TypeVar("T")


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
            self._open = [self._value(batch)]
            yield batch
            self._end()

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __enter__(self) -> steps[T]:
        return self

    def __exit__(self, type_: Any, error: Any, traceback: Any) -> None:
        if type_ is None:
            self._end()

    def _value(self, batch: T) -> Any:
        try:
            return 0 if self._tokens is None else self._tokens(batch)
        except Exception:  # marks must not change what the program does
            return 0

    def _end(self) -> None:
        if self._open:
            step(tokens=self._open.pop())
