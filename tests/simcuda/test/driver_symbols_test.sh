#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: driver_symbols_test.sh LIBCUDA
# The driver exports the API without versions, under its soname, and takes nothing from the C++ library of the program.
set -euo pipefail
library=$1
fail() {
  echo "$*"
  exit 1
}
nm -D --extern-only --defined-only "$library" | awk '$2 ~ /[TW]/ { print $3 }' >"$TEST_TMPDIR/exports"
(($(wc -l <"$TEST_TMPDIR/exports") > 600)) || fail "only $(wc -l <"$TEST_TMPDIR/exports") functions"
for name in cuInit cuMemAlloc_v2 cuMemAlloc cuMemCreate cuGetProcAddress cuGetProcAddress_v2 cuLaunchKernel_ptsz \
  cuMemcpyHtoD_v2_ptds cuCtxCreate_v2 cuCtxCreate_v4 cuGraphLaunch cuGLInit; do
  grep -qx "$name" "$TEST_TMPDIR/exports" || fail "$name is not exported"
done
! grep -vE '^(cu[A-Z]|simcuda_marker$)' "$TEST_TMPDIR/exports" || fail "exported, and no part of CUDA"
! nm -D "$library" | grep -q '@@' || fail "a driver symbol has a version"
readelf -d "$library" | grep -q 'SONAME.*\[libcuda.so.1\]' || fail "wrong soname"
! readelf -d "$library" | grep -q 'NEEDED.*stdc++' || fail "needs libstdc++"
