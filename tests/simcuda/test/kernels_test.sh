#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: kernels_test.sh PROGRAM LIBCUDA
# Runs a program that nvcc compiled on the simulated device, and finds its launches in the log.
set -euo pipefail
LD_LIBRARY_PATH=$(dirname "$(readlink -f "$2")") SIMCUDA_LOG_KERNELS=1 "$1" 2>"$TEST_TMPDIR/log" || {
  cat "$TEST_TMPDIR/log"
  exit 1
}
# One plain launch, two through the API, three captured; the refused ones are not there.
launches=$(grep -c 'launch .*Fill.*<<<' "$TEST_TMPDIR/log")
if ((launches != 6)); then
  cat "$TEST_TMPDIR/log"
  exit 1
fi
