# SPDX-License-Identifier: Apache-2.0
"""What a program of the corpus says about itself.

A program is started as `program.py leaky|fixed STEPS`. It marks the lines that a maintainer would name with the comment `# LEAK`, calls
describe() once and step_end() at the end of each true step. In a run without a tracer CORPUS_TRUTH names a file, and what PyTorch's
allocator has in use at each step's end is written there. In a traced run step_end() does nothing."""
import atexit
import gc
import json
import os
import sys

LEAKY = sys.argv[1] == "leaky"
STEPS = int(sys.argv[2])

_file = os.environ.get("CORPUS_TRUTH")
_in_use = []
_description = {}


def describe(unit, period=1, onset=0, until=None, also=None, cycles=False):
    """Declares what the program's steps are.

    unit: the name of a step, such as "train step".
    period: after how many steps the leak repeats itself.
    onset, until: the first step that leaks, and the first one after it that does not.
    cycles: whether the library leaves cycles to the collector, which must not be counted as kept.
    also: other units that are right as well, by name: how many of them the run has."""
    _description.update(unit=unit, period=period, onset=onset, until=until or STEPS, also=also or {}, cycles=cycles)


def step_end():
    if _file:
        import torch

        if _description["cycles"]:
            gc.collect()
        _in_use.append(torch.cuda.memory_allocated())


def _write():
    with open(_file, "w", encoding="utf-8") as file:
        json.dump(dict(_description, in_use=_in_use), file)


if _file:
    atexit.register(_write)
