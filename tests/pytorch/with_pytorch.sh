#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: with_pytorch.sh newest|older PROGRAM [ARGUMENT...]
# Runs a test on the simulated device with the PyTorch of this checkout, which tools/setup --pytorch installs, or with
# each of the older ones. pytorch_test.bzl says what PROGRAM finds.
set -uo pipefail

# The checkout that Bazel linked this file from.
self=$(readlink -f "${BASH_SOURCE[0]}")
root=${self%/tests/pytorch/*}
case $1 in
  newest) environments=("$root/.venv/pytorch") ;;
  older) environments=("$root"/.venv/pytorch-*) ;;
esac
program=$PWD/$2
shift 2
export SIMCUDA_LIBRARIES=$PWD/tests/simcuda

runs=0 failed=0
for environment in "${environments[@]}"; do
  export PYTORCH_PYTHON=$environment/bin/python
  [[ -x $PYTORCH_PYTHON ]] || continue
  runs=$((runs + 1))
  echo "with ${environment#"$root"/}"
  command=("$program")
  [[ $program != *.py ]] || command=("$PYTORCH_PYTHON" "$program")
  SIMCUDA_PYTORCH=$environment tools/simulated-cuda -- "${command[@]}" "$@" || failed=$((failed + 1))
done
((runs > 0)) || echo "skipped: there is no ${environments[0]#"$root"/}; tools/setup --pytorch installs it"
exit $((failed > 0))
