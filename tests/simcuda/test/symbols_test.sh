#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: symbols_test.sh SIMULATED REAL
# Everything that NVIDIA's library of this version exports, the simulated one does, under the same version node.
set -euo pipefail
simulated=$1 real=$2

# Follows symbol versions; the nodes themselves are absolute symbols.
exports() { nm -D --extern-only --defined-only "$1" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort -u; }

exports "$real" >"$TEST_TMPDIR/real"
exports "$simulated" >"$TEST_TMPDIR/simulated"
soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }
count=$(wc -l <"$TEST_TMPDIR/real")
missing=$(LC_ALL=C comm -23 "$TEST_TMPDIR/real" "$TEST_TMPDIR/simulated")
if ((count < 300)); then
  echo "only $count symbols found in $real"
  exit 1
fi
if [[ -n $missing ]]; then
  printf 'not exported by %s:\n%s\n' "$simulated" "$missing"
  exit 1
fi
if [[ $(soname "$real") != "$(soname "$simulated")" ]]; then
  echo "$real is $(soname "$real"), $simulated is $(soname "$simulated")"
  exit 1
fi
# Nothing of the simulation's own is in the way of a program's symbols.
if grep -vE '^(__)?cuda[A-Z]' "$TEST_TMPDIR/simulated"; then
  echo "exported by $simulated, and no part of CUDA"
  exit 1
fi
echo "$count symbols"
