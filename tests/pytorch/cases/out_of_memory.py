# SPDX-License-Identifier: Apache-2.0
"""The device is too small. The last case lets the error end the process."""
import torch

from watch import case, checkpoint, run_cases


@case
def caught():
    held = []
    try:
        while True:
            held.append(torch.empty(64 << 20, device="cuda", dtype=torch.uint8))
    except torch.OutOfMemoryError:
        checkpoint("out of memory")
    held.clear()
    return torch.cuda.memory_stats()["num_ooms"]


@case
def retried():
    """The cached memory is given back to the driver, and then there is room."""
    x = torch.empty(300 << 20, device="cuda", dtype=torch.uint8)
    del x
    y = torch.empty(900 << 20, device="cuda", dtype=torch.uint8)
    return y.nbytes, torch.cuda.memory_stats()["num_alloc_retries"]


@case
def over_the_fraction():
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.1)
    try:
        torch.empty(200 << 20, device="cuda", dtype=torch.uint8)
    except torch.OutOfMemoryError:
        return "refused"
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


@case
def uncaught():
    x = torch.empty(256 << 20, device="cuda", dtype=torch.uint8)
    checkpoint("before the end")
    return x.shape, torch.empty(4 << 30, device="cuda", dtype=torch.uint8)


run_cases()
