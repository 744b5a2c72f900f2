# SPDX-License-Identifier: Apache-2.0
# Whether this machine has a GPU that CUDA can use. To be sourced.
# shellcheck shell=bash

# A driver that is installed but has no device, as in a container without the device files, does not count. The second and third
# device file are those of a Jetson, whose older systems have no nvidia-smi.
has_gpu() {
  if command -v nvidia-smi >/dev/null && nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ' >/dev/null; then
    return 0
  fi
  [[ -e /dev/nvidiactl || -e /dev/nvhost-gpu || -e /dev/nvgpu ]] && command -v python3 >/dev/null &&
    python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL("libcuda.so.1").cuInit(0) != 0)' 2>/dev/null
}
