#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: lookup_order_test.sh LIBCUDA INJECTED PROGRAM...
# A runtime of this project asks the driver for its functions as NVIDIA's does: the look-up function first, then all of
# them at once, each with the version that it is known by and again for per-thread default streams, and cuInit after that.
set -euo pipefail
folder=$PWD/$(dirname "$1") injected=$PWD/$2
shift 2
fail() {
  echo "$program: $*"
  head -n 20 "$log"
  exit 1
}
export LD_LIBRARY_PATH=$folder SIMCUDA_LOG=1 CUDA_INJECTION64_PATH=$injected
log=$TEST_TMPDIR/log
for program in "$@"; do
  "./$program" 2>"$log" || fail "exit code $?"
  sed -n 's/^simcuda: entry point //p' "$log" >"$TEST_TMPDIR/asked"
  (($(wc -l <"$TEST_TMPDIR/asked") > 400)) || fail "asks for $(wc -l <"$TEST_TMPDIR/asked") functions"
  first=$(awk '!/^ for version 0/ && ++n <= 2 { sub(/:.*/, ""); print }' "$TEST_TMPDIR/asked" | paste -sd ';')
  [[ $first == 'cuInit for version 2000, flags 0;cuGetProcAddress for version 11030, flags 0' ]] || fail "first asks for $first"
  for line in 'cuMemAlloc for version 3020, flags 0: cuMemAlloc_v2' \
    'cuMemAllocAsync for version 11020, flags 0: cuMemAllocAsync' \
    'cuMemAllocAsync for version 11020, flags 2: cuMemAllocAsync_ptsz' \
    'cuMemcpyHtoD for version 7000, flags 2: cuMemcpyHtoD_v2_ptds' \
    'cuIpcOpenMemHandle for version 11000, flags 0: cuIpcOpenMemHandle_v2' \
    'cuGraphInstantiate for version 10000, flags 0: cuGraphInstantiate'; do
    grep -qxF "$line" "$TEST_TMPDIR/asked" || fail "never asks for $line"
  done
  # The injected library is loaded by cuInit.
  last=$(awk '/entry point/ { line = NR } END { print line }' "$log")
  init=$(awk '/injection: .* answered 1/ { print NR }' "$log")
  used=$(awk '/allocated 4096 bytes/ { print NR; exit }' "$log")
  [[ -n $init && -n $used ]] || fail "cuInit and the allocation are not in the log"
  ((last < init && init < used)) || fail "last look-up in line $last, cuInit in $init, the allocation in $used"

  # The oldest way: no look-up function at all.
  SIMCUDA_LOOKUP=dlsym "./$program" 2>"$log" || fail "exit code $? with dlsym only"
  ! grep -q 'entry point' "$log" || fail "a look-up function is called, and dlsym was asked for"
done
