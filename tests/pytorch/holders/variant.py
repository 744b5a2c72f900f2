# SPDX-License-Identifier: Apache-2.0
"""The command line of the scripts: `--fixed` runs the variant without the leak."""
import sys

FIXED = "--fixed" in sys.argv[1:]
STEPS = 100
BATCH, WIDTH = 256, 1024  # a tensor of this shape takes 1 MiB
