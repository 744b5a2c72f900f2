# SPDX-License-Identifier: Apache-2.0
"""What a leak script says of itself: whether it is to leak, and how much at the lines that it marks with `# LEAK NAME`."""
import sys

STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 120
LEAKY = len(sys.argv) > 1 and sys.argv[1] == "leaky"


def block_bytes(*shape, item=4):
    """Of a small tensor in PyTorch's allocator, which rounds up to 512 bytes."""
    size = item
    for extent in shape:
        size *= extent
    assert size < 1 << 20, "blocks of a megabyte and more may be larger than this"
    return (size + 511) // 512 * 512


def expect(**bytes_per_step):
    """By name of the marked line."""
    if LEAKY:
        for name, size in bytes_per_step.items():
            print("expect", name, size)


def no_leak(**verdicts):
    """By name of a line that is marked with `# SITE NAME`: its verdict, or several that are right, joined by "|"."""
    for name, verdict in verdicts.items():
        print("verdict", name, verdict)
