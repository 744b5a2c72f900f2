# SPDX-License-Identifier: Apache-2.0
# The checks of tools/test-gpu that run the machine's own PyTorch; to be sourced by it.
# shellcheck shell=bash disable=SC2154  # its variables

# The first Python whose PyTorch finds the GPU: the one of the variable, or one that is installed.
find_pytorch() {
  for python in ${VRAMTRACK_PYTHON:+"$VRAMTRACK_PYTHON"} python3 "$root/.venv/pytorch/bin/python"; do
    "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null && return 0
  done
  echo "no Python here has a PyTorch that finds the GPU; VRAMTRACK_PYTHON names one"
  return 77
}

# pytorch_test SCRIPT [ARGUMENT...]: a test of tests/pytorch, which is told where the programs under test are.
pytorch_test() {
  local script=$1
  shift
  find_pytorch || return
  printf '#!/bin/sh\nexec %s "$@"\n' "${analyzer[*]@Q}" >"$work/vramtrack"
  chmod +x "$work/vramtrack"
  (cd "$pytorch_folder" && VRAMTRACK_OWN_PYTORCH=1 VRAMTRACK_LIBRARY=$library VRAMTRACK_PROGRAM=$work/vramtrack \
    "$python" "$root/tests/pytorch/$script" "$@")
}

check_pytorch_cases_untraced_and_traced() { pytorch_test cases_test.py; }

check_pytorch_leaks_are_at_their_lines() { pytorch_test leaks_test.py; }

check_pytorch_holders_are_named() { pytorch_test holders_test.py; }

# In turn, so that a change of the GPU's clock counts for both; the best of each.
check_pytorch_training_is_not_slowed_down() {
  find_pytorch || return
  local turn mode
  for turn in 1 2 3; do
    for mode in untraced traced; do
      rm -f "$work/steps.vtrace"
      if [[ $mode == traced ]]; then
        LD_PRELOAD=$library VRAMTRACK_OUTPUT=$work/steps.vtrace "$python" "$root/tests/benchmark/pytorch_steps.py" 200
      else
        "$python" "$root/tests/benchmark/pytorch_steps.py" 200
      fi >"$work/steps.$mode.$turn" || return
    done
  done
  for mode in python all; do
    "$python" "$root/tests/benchmark/pytorch_steps.py" --history "$mode" 200 >"$work/steps.history-$mode.1" || return
  done
  "$python" "$root/tools/lib/compare_steps.py" "$work"/steps.*.[123]
}
