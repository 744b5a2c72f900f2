# SPDX-License-Identifier: Apache-2.0
"""usage: on_simulated_device.py PROGRAM

Runs a program with JAX, which looks for NVIDIA's device files before it loads its plugin for CUDA.
"""
import runpy
import sys

from jax._src import hardware_utils

hardware_utils._NVIDIA_GPU_DEVICES = ["/dev/null"]  # pylint: disable=protected-access
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
