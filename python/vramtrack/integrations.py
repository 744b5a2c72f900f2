# SPDX-License-Identifier: Apache-2.0
"""Marks of steps for trainers that have the loop to themselves.

    from vramtrack.integrations import TransformersCallback    # the Trainer of transformers, and those of TRL
    from vramtrack.integrations import LightningCallback       # the Trainer of Lightning
    from vramtrack.integrations import accelerate_steps        # a loop with an Accelerator

A library is imported when its name is asked for. Steps of these trainers are usually found without marks, from the
optimizer's calls; marks add the numbers of the trainer, and its tokens.
"""

from __future__ import annotations

from . import _imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._lightning import LightningCallback
    from ._steps import accelerate_steps
    from ._transformers import TransformersCallback

_PLACES = {"LightningCallback": "_lightning", "TransformersCallback": "_transformers", "accelerate_steps": "_steps"}

__all__ = ["LightningCallback", "TransformersCallback", "accelerate_steps"]


def __getattr__(name: str) -> Any:
    return _imported(globals(), _PLACES, name)


def __dir__() -> list[str]:
    return __all__
