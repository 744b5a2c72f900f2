#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: library_symbols_test.sh LIBRARY...
# Each library exports its own functions only, under its soname; the runtime inside cannot be reached, nor is another
# one needed.
set -euo pipefail
for library in "$@"; do
  name=$(basename "$library")
  own=${name#lib}
  own=${own%%.*}
  nm -D --extern-only --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' >"$TEST_TMPDIR/exports"
  if [[ ! -s $TEST_TMPDIR/exports ]] || grep -v "^$own[A-Z]" "$TEST_TMPDIR/exports"; then
    echo "exported by $name, or nothing is"
    exit 1
  fi
  readelf -d "$library" >"$TEST_TMPDIR/dynamic"
  grep -q "SONAME.*\\[$name\\]" "$TEST_TMPDIR/dynamic" || { echo "$name has another soname"; exit 1; }
  if grep 'NEEDED.*\(cudart\|libcuda\|stdc++\)' "$TEST_TMPDIR/dynamic"; then
    echo "needed by $name"
    exit 1
  fi
done
