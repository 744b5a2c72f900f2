# SPDX-License-Identifier: Apache-2.0
"""Times a block of PyTorch's allocators and its free as JSON, ns a pair: on the device and of pinned host memory, and on the
device with the first caches full of other code and data before each call, as in a training step."""
import ctypes
import json
import mmap
import time

import torch

PAIRS, ROUNDS = 20000, 9
LINE = 64
# Between two calls of GPT-2's step PyTorch reads 720 lines of code and 220 of data that are not in caches of 32 KiB.
CODE_LINES, DATA_BYTES = 1024, 16 << 10


def other_work():
    """A function that runs through lines of code and reads data; None where there is no machine code for it."""
    try:
        code = mmap.mmap(-1, CODE_LINES * LINE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    jump = b"\xeb" + bytes([LINE - 2]) + b"\x90" * (LINE - 2)  # to the next line
    code.write(jump * (CODE_LINES - 1) + b"\xc3")
    through = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    through.memory = code  # which must stay
    data = bytearray(DATA_BYTES)

    def work():
        through()
        data.find(b"\x01")
    return work


def best_of(pairs):
    pairs()
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        pairs()
        best = min(best, time.process_time_ns() - start)
    return best / PAIRS


def ns_of_a_pair(**where):
    def pairs():
        for _ in range(PAIRS):
            torch.empty(4096, **where)
    return best_of(pairs)


def ns_of_a_cold_pair(work):
    def pairs():
        for _ in range(PAIRS):
            block = torch.empty(4096, device="cuda")
            work()
            del block
            work()
    return best_of(pairs)


if __name__ == "__main__":
    torch.cuda.init()
    result = {"device": ns_of_a_pair(device="cuda"), "pinned": ns_of_a_pair(pin_memory=True)}
    if work := other_work():
        result["cold"] = ns_of_a_cold_pair(work)
    print(json.dumps(result), flush=True)
