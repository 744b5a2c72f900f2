#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Line tables as the interpreters of this machine write them: large modules, every instruction.
set -eu
test_program=$1 script=$2
tested=0
for name in python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14; do
  file="$TEST_TMPDIR/$name.txt"
  "$name" "$script" typing argparse inspect datetime asyncio.base_events pickle turtle > "$file" 2> "$TEST_TMPDIR/err" || continue
  "$test_program" "$file" > "$TEST_TMPDIR/out" || { cat "$TEST_TMPDIR/out"; exit 1; }
  echo "$("$name" --version): $(wc -l < "$file") code objects"
  tested=$((tested + 1))
done
[ "$tested" -gt 0 ] || { cat "$TEST_TMPDIR/err"; exit 1; }
