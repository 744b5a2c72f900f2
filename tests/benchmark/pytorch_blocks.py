# SPDX-License-Identifier: Apache-2.0
"""Times a block of PyTorch's allocators and its free, on the device and of pinned host memory, as JSON: ns a pair."""
import json
import time

import torch

PAIRS, ROUNDS = 20000, 9


def ns_of_a_pair(**where):
    def pairs(count):
        for _ in range(count):
            torch.empty(4096, **where)

    pairs(PAIRS)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        pairs(PAIRS)
        best = min(best, time.process_time_ns() - start)
    return best / PAIRS


if __name__ == "__main__":
    torch.cuda.init()
    print(json.dumps({"device": ns_of_a_pair(device="cuda"), "pinned": ns_of_a_pair(pin_memory=True)}), flush=True)
